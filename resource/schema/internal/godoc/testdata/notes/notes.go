// Package notes has a type for each rule of the generator.
package notes

import "time"

//go:generate go run ../../../../describe

// Note is a short text.
//
// # Limits
//
// A note has:
//
//   - a title of at most 80 characters, which is shown
//     in lists,
//   - a [Note.Body], and
//   - a state, such as [Draft] or [Published].
//
// Its times are of the type [time.Time]:
//
//	{"created": "2026-11-25T12:00:00Z"}
//
// See [RFC 3339] for the format, and [Tag] for `labels`.
//
// [RFC 3339]: https://www.rfc-editor.org/rfc/rfc3339
//
//go:notinheap
type Note struct {
	Base
	Times `json:"times"`

	// Title is the title of the note. It must not
	// contain <script> or *stars*; snake_case, 2 * 3 and _emphasis_ may occur.
	Title string `json:"title" required:"true"`
	Body  string `json:"body"` // in CommonMark
	// A State is the state of the note.
	State State `json:"state" enum:"draft,published,archived"`
	// Pinned reports whether the note is first in lists.
	Pinned bool `json:"pinned"`
	// Rank decides the order of pinned notes.
	//
	// Deprecated: Use `position`.
	Rank int `json:"rank"`
	// Color is not shown, because the tag has precedence.
	//
	// Deprecated: This reason is shown.
	Color string `json:"color" doc:"The color of the tag."`
	// Old is in the comment.
	//
	// Deprecated: This reason is not shown.
	Old string `json:"old" deprecated:"by the tag"`

	// X and Y are a position.
	X, Y float64

	// Lines are the parts of the note.
	Lines []struct {
		// Text is the text of a part.
		Text string `json:"text"`
		// At is where the part is.
		At *struct {
			Page int `json:"page"` // page is the number from 1
		} `json:"at"`
	} `json:"lines"`
	// Tags are the labels.
	Tags []Tag `json:"tags"`
	// Pages are the notes that follow.
	Pages Page[Linked] `json:"pages"`
	// Priority: 1 is the most urgent.
	Priority Priority `json:"priority" enum:"1,2,3"`

	// Hidden is never part of the JSON.
	Hidden string `json:"-"`
	// owner is not exported.
	owner string
	// Plain has no description in its type.
	Plain Plain `json:"plain"`
}

// Base has the members of all items. Note does not inherit this comment.
type Base struct {
	// ID is the id.
	ID string `json:"id"`
}

// Times is embedded with a name, so it is a member.
type Times struct {
	// Created is the time of creation.
	Created time.Time `json:"created"`
}

// Only embeds, and has a comment of its own that ends with code:
//
//	{}
type Only struct {
	Base `json:",embed"`
	//nolint:all
	Silent string `json:"silent"`
}

// no description
type (
	// Tag is a label.
	Tag struct {
		Name string `json:"name"` /* the name of the label */
	}

	// Plain has neither tags nor comments of fields, and is not selected by itself.
	Plain struct{ A string }

	Bare struct {
		B string `json:"b"`
	}
)

// Page is a list.
type Page[T any] struct {
	// Items are the elements.
	Items []T `json:"items"`
	// Next is the cursor of the next page.
	Next string `json:"next"`
}

// Pair has a blank type parameter.
type Pair[_ any, V comparable] struct {
	// Value is the value.
	Value V `json:"value"`
}

// Linked is defined by another type of the package.
type Linked Tag

// Rows is a list of unnamed structs.
type Rows []struct {
	// Cell is a value.
	Cell string `json:"cell"`
}

// Table refers to Rows.
type Table struct {
	Rows Rows `json:"rows"`
}

// Alias is an alias, so it has no method of its own.
type Alias = Note

// Loose has no struct tags, and is described only if -types names it.
type Loose struct {
	// A is a member.
	A string
}

func local() {
	// inner is not at the top level.
	type inner struct {
		A string `json:"a"`
	}
	_ = inner{}
	_ = Note{}.owner
}

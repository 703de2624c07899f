package notes

import "github.com/stoa-go/stoa/resource/schema"

// State is the state of a note.
//
// Deprecated: Use `visibility`.
type State string

// The states. This comment describes the group, and not a constant.
const (
	// Draft means that only the author sees the note.
	Draft State = "draft"
	// Published: everyone can read it.
	Published       = State("published")
	Archived  State = "archived" // read-only
	// Default is not shown, because Draft has the same value.
	Default = Draft
	// Other is of another type.
	Other = "other"
)

// Priority is the urgency of a note.
type Priority int

const (
	_ Priority = iota
	// High is for today.
	High
	Medium // for this week
	Low
	// Unknown is a value that another package decides, so it is left out.
	Unknown = Priority(schema.Boolean)
)

// Handmade has a method that was written by hand.
type Handmade struct {
	A string `json:"a"`
}

// SchemaDescription returns another text than the comment.
func (*Handmade) SchemaDescription() schema.Description {
	return schema.Description{Doc: "By hand."}
}

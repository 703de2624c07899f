package resourcetest

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
)

// Options adjust [Run] and [RunOps]. The zero value tests with values made up from the schema of T, and claims nothing
// to filter or sort by.
type Options[T any] struct {
	// New returns a valid value with an id of zero, another one for each n >= 0, made anew at each call. Nil makes values
	// up from the schema of T and its struct tags, among them extreme ones; give New where the store knows rules that
	// the tags do not state.
	New func(n int) T
	// Change returns a valid value other than v, with the same id, to be put in its place. Nil takes a new value.
	Change func(v T) T
	// ID returns the nth id for Insert. Nil makes ids up from the id field.
	ID func(n int) string
	// IDField is the JSON name of the id field; empty means id.
	IDField string
	// Support is what the collection claims to answer. Only that is asked of it.
	Support query.Support
	// Equal reports whether got is what a store should return that was given sent. Nil compares all fields that JSON
	// can see, except those tagged readOnly.
	Equal func(sent, got T) bool
	// Recreates says that Insert gives deleted ids a second life even though the collection remembers them.
	Recreates bool
	// Require names capabilities that must be there, such as "Replacer".
	Require []string
	// Writers is how many goroutines race for one item; 0 means 16.
	Writers int
	// Items is how many items the larger cases work with; 0 means 200.
	Items int
	// Seed determines all random choices; 0 takes a new one each time. It is printed with every failure.
	Seed uint64
}

// Run tests a collection. newCollection is called for each case and returns a collection without items, or one that is
// read-only. opts may be nil.
func Run[T any](t *testing.T, newCollection func(t *testing.T) resource.Collection[T], opts *Options[T]) {
	t.Helper()
	RunOps(t, func(t *testing.T) resource.Ops[T] { return resource.OpsOf(newCollection(t)) }, opts)
}

// RunOps is [Run] for a collection that is given as its functions: one that has been decorated, or a client of one that
// is somewhere else.
func RunOps[T any](t *testing.T, newOps func(t *testing.T) resource.Ops[T], opts *Options[T]) {
	t.Helper()
	s, err := newSetup(opts)
	if err != nil {
		t.Fatalf("resourcetest: %v", err)
	}
	var able capability
	ok := t.Run("capabilities", func(t *testing.T) {
		able = capabilitiesOf(newOps(t), s.Support)
		t.Log(able.describe())
		for _, failure := range able.require(s.Require) {
			t.Error(failure)
		}
	})
	if !ok {
		return
	}
	for _, c := range cases[T]() {
		if !able.has(c.needs) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			rec := c.try(t.Context(), s, newOps(t))
			for _, note := range rec.notes {
				t.Log(note)
			}
			if len(rec.failures) > 0 {
				t.Error(explain(rec, c.contract, s.Seed, t.Name()))
			}
		})
	}
}

// explain makes one message of what happened, what was promised and how to see it again.
func explain(rec *record, contract string, seed uint64, test string) string {
	const most = 4 // further failures of one case are mostly echoes
	lines := rec.failures
	if len(lines) > most {
		lines = append(lines[:most:most], fmt.Sprintf("... and %d more", len(rec.failures)-most))
	}
	return fmt.Sprintf("%s\n%s\n%s", strings.Join(lines, "\n"), indent(contract), indent(replay(seed, test)))
}

// replay returns the command that runs one case again.
func replay(seed uint64, test string) string {
	dir, err := os.Getwd()
	if err != nil {
		dir = "."
	}
	parts := strings.Split(test, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	return fmt.Sprintf("Seed %d. Replay: %s=%d go test -C %s -count=1 -run '%s' .",
		seed, seedVariable, seed, dir, strings.Join(parts, "/"))
}

// indent sets text off from what happened.
func indent(text string) string {
	return "    " + strings.ReplaceAll(text, "\n", "\n    ")
}

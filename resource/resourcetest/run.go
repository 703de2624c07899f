package resourcetest

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
)

// Options configure [Run] and [RunOps]. The zero value tests with values generated from the schema
// of T, without filters and sort keys.
type Options[T any] struct {
	// New returns the nth valid value, with a zero id. Values for different n differ, and share no
	// memory. If nil, values are generated from the schema of T and its struct tags, including
	// extreme ones. Set New if the store has rules that the tags do not express.
	New func(n int) T
	// Change returns a valid value other than v, with the same id, to replace it. If nil, a new
	// value is used.
	Change func(v T) T
	// ID returns the nth id for Insert. If nil, ids are generated from the id field.
	ID func(n int) string
	// IDField is the JSON name of the id field. Default that of Resource, or "id".
	IDField string
	// Support is the queries that the collection supports. Only these are tested. Default that of
	// Resource.
	Support query.Support
	// Resource is the resource under test: the one that serves such a collection in the program, as
	// resource.New or View returns it. The kit does not call it. It is the default of Support and
	// IDField; a Support that differs fails the test, because clients could make queries that no case
	// has tested. Nil leaves it unchecked.
	Resource *resource.Resource
	// Equal reports whether a store that was sent the first value may return the second. If nil,
	// all fields in the JSON are compared, except those tagged readOnly that the store may set.
	Equal func(sent, got T) bool
	// TimePrecision is the unit of the times that the store keeps, such as time.Second: generated times are
	// multiples of it. Default time.Microsecond. Times must be stored and returned unchanged otherwise.
	TimePrecision time.Duration
	// CompareText is the order of texts in lists, if the store sorts them by a collation. It must be
	// total. Default: by code point, as [query.Compare]. Filters are always tested by code point.
	CompareText func(a, b string) int
	// Recreates reports that Insert accepts the id of a deleted item, although the collection is a
	// Tombstoner.
	Recreates bool
	// UniqueDeleted reports that the value of a unique field remains taken when its item is deleted. By
	// default it may be used again.
	UniqueDeleted bool
	// Stems reports that a search has a language and also finds other forms of words. Its matches are
	// then not compared with the reference, only pages, ranks and counts.
	Stems bool
	// Require lists capabilities that the collection must have, such as "Replacer".
	Require []string
	// Writers is the number of goroutines that write one item concurrently. Default 16.
	Writers int
	// Items is the number of items of the larger cases. Default 200.
	Items int
	// Seed determines all random choices. Default: random. It is part of each failure message.
	Seed uint64
}

// Run tests a collection. newCollection is called for each case and returns a collection that is
// empty or read-only. opts may be nil.
func Run[T any](t *testing.T, newCollection func(t *testing.T) resource.Collection[T], opts *Options[T]) {
	t.Helper()
	RunOps(t, func(t *testing.T) resource.Ops[T] { return resource.OpsOf(newCollection(t)) }, opts)
}

// RunOps is [Run] for a collection in the form of its functions, such as a decorated collection or
// the client of a remote one.
func RunOps[T any](t *testing.T, newOps func(t *testing.T) resource.Ops[T], opts *Options[T]) {
	t.Helper()
	s, err := newSetup(opts)
	if err != nil {
		t.Fatalf("resourcetest: %v", err)
	}
	s.runCases(t, func(t *testing.T) operations { return erase(newOps(t)) })
}

// runCases runs each case with new operations.
func (s *setup) runCases(t *testing.T, newOps func(t *testing.T) operations) {
	t.Helper()
	// Not in the subtest, which -run may exclude when a case is replayed.
	able := capabilitiesOf(s.usable(newOps(t)), s.Support)
	ok := t.Run("capabilities", func(t *testing.T) {
		t.Log(able.describe())
		for _, failure := range able.require(s.Require) {
			t.Error(failure)
		}
	})
	if !ok {
		return
	}
	failed := map[string]bool{}
	for _, c := range cases() {
		if !able.has(c.needs) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			if first := c.missing(failed); first != "" {
				t.Skipf("skipped: the case builds on %s, which failed", first)
			}
			rec := c.try(t.Context(), s, s.usable(newOps(t)))
			for _, note := range rec.notes {
				t.Log(note)
			}
			if failed[c.name] = len(rec.failures) > 0; failed[c.name] {
				t.Error(explain(rec, c.contract, s.Seed, t.Name()))
			}
		})
	}
}

// explain returns a message of the failures, the contract and the command to replay the case.
func explain(rec *record, contract string, seed uint64, test string) string {
	const most = 4 // the first failure of a case causes most of the others
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

// indent indents all lines.
func indent(text string) string {
	return "    " + strings.ReplaceAll(text, "\n", "\n    ")
}

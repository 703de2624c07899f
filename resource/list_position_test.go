package resource_test

import (
	"errors"
	"testing"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/problem"
)

// TestPositionAtEnd: the last page can be requested without a cursor, and leads to all others.
func TestPositionAtEnd(t *testing.T) {
	t.Parallel()
	books := resource.New("books", stocked(t, book{Title: "a"}, book{Title: "b"}, book{Title: "c"}, book{Title: "d"}),
		&resource.Options[book]{Query: bookSupport()})
	tests := []struct {
		name  string
		q     query.Query
		pages [][]string
	}{
		{"by id", query.Query{Limit: 3}, [][]string{{"2", "3", "4"}, {"1"}}},
		{"sorted", query.Query{Limit: 2, Sort: []query.Order{{Field: "title", Desc: true}}}, [][]string{{"2", "1"}, {"4", "3"}}},
		{"all", query.Query{Limit: 4}, [][]string{{"1", "2", "3", "4"}}},
		{"none", query.Query{Limit: 2, Filter: query.Where("title", query.Eq, "z")}, [][]string{nil}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var pages [][]string
			for at := (resource.Position{AtEnd: true}); at != (resource.Position{}); {
				p, err := books.List(t.Context(), tt.q, at)
				if err != nil {
					t.Fatal(err)
				}
				var ids []string
				for _, e := range p.Entries {
					ids = append(ids, e.ID)
				}
				if next := p.Next; (next == "") != (len(pages) == 0) {
					t.Errorf("page %d from the end: what follows is %q", len(pages), next)
				}
				pages = append(pages, ids)
				at = resource.Position{Before: p.Prev}
				p.Release()
			}
			same(t, "pages", tt.pages, pages)
		})
	}
}

func TestPositionAtEndOfNaturalOrder(t *testing.T) {
	t.Parallel()
	books := resource.New("books", readOnly[book]{},
		&resource.Options[book]{Query: query.Support{Natural: true}})
	_, err := books.List(t.Context(), query.Query{}, resource.Position{AtEnd: true})
	same(t, "kind", problem.InvalidCursor, resource.Problem(err).Kind)
}

// TestPutExisting: the call creates no item, neither under a new id nor under a deleted one.
func TestPutExisting(t *testing.T) {
	t.Parallel()
	type note struct {
		ID   string `json:"id"`
		Text string `json:"text"`
	}
	store := memory.New(&memory.Options[note]{})
	notes := resource.New("notes", store, &resource.Options[note]{AllowRecreate: true})
	existing := &resource.WriteOptions{Existing: true}
	put := func(id string, opts *resource.WriteOptions) error {
		_, _, err := notes.Put(t.Context(), id, []byte(`{"text":"x"}`), opts)
		return err
	}
	if err := put("a", existing); !errors.Is(err, resource.ErrNotFound) {
		t.Errorf("where nothing is: %v", err)
	}
	if err := put("a", nil); err != nil {
		t.Fatal(err)
	}
	if err := put("a", existing); err != nil {
		t.Errorf("where something is: %v", err)
	}
	if _, err := notes.Delete(t.Context(), "a", nil); err != nil {
		t.Fatal(err)
	}
	if err := put("a", existing); !errors.Is(err, resource.ErrGone) {
		t.Errorf("where something was: %v", err)
	}
	page, err := notes.List(t.Context(), query.Query{}, resource.Position{})
	if err != nil {
		t.Fatal(err)
	}
	defer page.Release()
	same(t, "how many there are", 0, len(page.Entries))
}

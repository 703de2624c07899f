package resource_test

import (
	"context"
	"testing"

	"github.com/stoa-go/stoa/resource"
)

// TestLookupFinds: a lookup returns the item with the id that its function has found.
func TestLookupFinds(t *testing.T) {
	t.Parallel()
	type in struct {
		Title string `json:"title"`
	}
	books := resource.New("books", stocked(t, book{Title: "a"}), nil)
	lookup := resource.NewLookup("byTitle", "books", func(_ context.Context, in in) (string, error) {
		switch in.Title {
		case "a":
			return "1", nil
		case "down":
			return "", resource.ErrUnavailable
		}
		return "", nil
	})
	c := newCatalog(t, books, lookup)
	same(t, "target", []any{"books", true}, []any{lookup.Target(), c.Target(lookup) == c.Resource("books")})
	for title, status := range map[string]int{"a": 200, "down": 503, "none": 404} {
		e, err := lookup.Find(t.Context(), &in{title}, c.Target(lookup))
		wantStatus(t, &answer{line: title, entry: e, err: err}, status)
		if err == nil {
			same(t, "id", "1", e.ID)
		}
	}
}

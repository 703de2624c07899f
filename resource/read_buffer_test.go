package resource_test

import (
	"context"
	"fmt"
	"iter"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
)

// named is an item with an id that is a string.
type named struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// listed returns a resource with a store that lists these items.
func listed(list func(yield func(resource.Item[named], error) bool)) *resource.Resource {
	return resource.Ops[named]{
		Get: func(context.Context, string) (resource.Item[named], error) {
			return resource.Item[named]{}, resource.ErrNotFound
		},
		List: func(context.Context, query.Query) iter.Seq2[resource.Item[named], error] { return list },
	}.Resource("named", &resource.Options[named]{Public: true, MaxPageSize: 50_000})
}

// TestIDsOfPages checks the ids of pages with buffers that are reused, grow, and become too large for the
// pool.
func TestIDsOfPages(t *testing.T) {
	t.Parallel()
	size := 0
	r := listed(func(yield func(resource.Item[named], error) bool) {
		for i := range size {
			id := fmt.Sprint("n", i)
			item := resource.Item[named]{ID: id, Value: named{ID: id}}
			switch i % 3 { // one of the two may be empty
			case 1:
				item.ID = ""
			case 2:
				item.Value.ID = ""
			}
			if !yield(item, nil) {
				return
			}
		}
	})
	for _, size = range []int{1, 3, 100, 2, 2000, 20_000, 40_000, 7} {
		page, err := r.List(t.Context(), query.Query{Limit: 50_000}, resource.Position{})
		if err != nil {
			t.Fatal(err)
		}
		if len(page.Entries) != size {
			t.Fatalf("%d entries, want %d", len(page.Entries), size)
		}
		for i := range page.Entries {
			want, e := fmt.Sprint("n", i), &page.Entries[i]
			if diff := cmp.Diff([]string{want, want}, []string{e.ID, e.Value.(*named).ID}); diff != "" {
				t.Fatalf("ids of %d in %d (-want +got):\n%s", i, size, diff)
			}
		}
		page.Release()
	}
}

// TestDifferentIDs checks that an item with two ids is a fault of the store.
func TestDifferentIDs(t *testing.T) {
	t.Parallel()
	r := listed(func(yield func(resource.Item[named], error) bool) {
		yield(resource.Item[named]{ID: "a", Value: named{ID: "b"}}, nil)
	})
	if _, err := r.List(t.Context(), query.Query{}, resource.Position{}); err == nil {
		t.Error("no error for an item with the id b that the store returned as a")
	}
}

// TestIteratorContinues checks that items after the end of a page are not added: a store must stop when
// yield returns false.
func TestIteratorContinues(t *testing.T) {
	t.Parallel()
	r := listed(func(yield func(resource.Item[named], error) bool) {
		for i := range 10 {
			yield(resource.Item[named]{Value: named{ID: fmt.Sprint(i)}}, nil)
		}
	})
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	page, err := r.List(t.Context(), query.Query{Limit: 3}, resource.Position{})
	t.Errorf("a page of %d, %v", len(page.Entries), err)
}

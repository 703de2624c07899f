package model_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/memory"
)

// watched returns a catalog with a feed.
func watched(t testing.TB, parts ...resource.Part) *resource.Catalog {
	t.Helper()
	return resource.NewCatalog(&resource.CatalogOptions{Feed: newFeed(t)}, parts...)
}

func newFeed(t testing.TB) *feed.Feed {
	f := feed.New(feed.NewMemory(nil), nil)
	t.Cleanup(func() { f.Close() })
	return f
}

// TestWatched compares the types that a feed adds to a schema: for a resource with a filter, a view
// of it, and a resource without.
func TestWatched(t *testing.T) {
	t.Parallel()
	orders := assigned[Order]().Resource("orders",
		&resource.Options[Order]{Query: everything[Order]()})
	jobs := readOnly[Job]().Resource("jobs", nil)
	opts := &resource.CatalogOptions{Feed: newFeed(t)}
	for name, c := range map[string]*resource.Catalog{
		"watched-2.0.0.txt": resource.NewCatalog(opts, orders, jobs),
		"watched-1.1.0.txt": resource.NewCatalog(opts,
			resource.View(orders, down[Order, Order11], up[Order11, Order], nil)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := reflected(t, c, nil)
			sound(t, s)
			s.Types = slices.DeleteFunc(s.Types, func(typ *model.Type) bool {
				return typ != s.Subscription && typ.Name != "ChangeKind" &&
					!strings.HasSuffix(typ.Name, "Change") && !strings.HasSuffix(typ.Name, "Connection")
			})
			golden(t, name, dump(s, true))
		})
	}
}

// TestWatchedAddsTypes checks that a feed does not change other types.
func TestWatchedAddsTypes(t *testing.T) {
	t.Parallel()
	orders := assigned[Order]().Resource("orders",
		&resource.Options[Order]{Query: everything[Order]()})
	plain := dump(reflected(t, resource.NewCatalog(nil, orders), nil), true)
	again := assigned[Order]().Resource("orders",
		&resource.Options[Order]{Query: everything[Order]()})
	s := reflected(t, watched(t, again), nil)
	s.Types = slices.DeleteFunc(s.Types, func(typ *model.Type) bool {
		typ.Fields = slices.DeleteFunc(typ.Fields,
			func(f *model.Field) bool { return f.Source == model.EventCursor })
		return typ == s.Subscription || typ.Name == "OrderChange" || typ.Name == "ChangeKind"
	})
	if diff := cmp.Diff(plain, dump(s, true)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

type named struct {
	ID string `json:"id"`
}

// TestChangesCollide checks the errors for names that collide with those of changes.
func TestChangesCollide(t *testing.T) {
	t.Parallel()
	thing := func(name string) resource.Part { return resource.New(name, memory.New[named](nil), nil) }
	tests := []struct {
		name  string
		parts []resource.Part
		names map[string]string
		want  string
	}{
		{"the item is called like another field of its change", []resource.Part{thing("marks")},
			map[string]string{"marks": "Cursor"},
			"the changes of the resource marks and the changes of the resource marks would both be the " +
				"field cursor of CursorChange; " +
				"give the resource marks another name in Options.Names"},
		{"another item is called like the change", []resource.Part{thing("rates"), thing("changes")},
			map[string]string{"rates": "Rate", "changes": "RateChange"},
			"the items of the resource changes and the changes of the resource rates would both be the " +
				"type RateChange; " +
				"give the resource changes another name in Options.Names, or give the resource rates " +
				"another name in Options.Names"},
		{"an item is called like the kinds", []resource.Part{thing("kinds")},
			map[string]string{"kinds": "ChangeKind"},
			"its items cannot have the type ChangeKind, which is a type that every schema may have"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := model.Reflect(watched(t, tt.parts...), &model.Options{Names: tt.names})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("the error is %v, want %s", err, tt.want)
			}
		})
	}
}

package resource_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
)

// TestLinkHidesRevision: Resource.Link of a view that hides fields returns no revision of the store.
func TestLinkHidesRevision(t *testing.T) {
	t.Parallel()
	type person struct {
		ID string `json:"id"`
	}
	type shownSeat struct {
		ID     string `json:"id" id:"room,person" readOnly:"true"`
		Room   string `json:"room"`
		Person string `json:"person"`
	}
	type seat struct {
		ID     string `json:"id" id:"room,person" readOnly:"true"`
		Room   string `json:"room"`
		Person string `json:"person"`
		Price  int64  `json:"price"`
	}
	rooms, people := memory.New[person](nil), memory.New[person](nil)
	seats := memory.New(&memory.Options[seat]{Recreate: true})
	for _, store := range []*memory.Store[person]{rooms, people} {
		if _, err := store.Insert(t.Context(), "a", person{"a"}); err != nil {
			t.Fatal(err)
		}
	}
	r := resource.New("rooms", rooms, &resource.Options[person]{Public: true, Relations: []resource.Relation[person]{
		{Name: "people", Target: "people", Through: "seats", By: "room", To: "person"}}})
	shown := resource.View(resource.New("seats", seats, &resource.Options[seat]{Public: true, AllowRecreate: true,
		Query: query.Support{Filter: map[string][]query.Op{"room": {query.Eq, query.In}}}}),
		func(s seat) (shownSeat, error) { return shownSeat{s.ID, s.Room, s.Person}, nil },
		func(s shownSeat, base seat) (seat, error) { return seat{s.ID, s.Room, s.Person, base.Price}, nil }, nil)
	c := resource.NewCatalog(nil, r, resource.New("people", people, &resource.Options[person]{Public: true}), shown)
	ctx, r := t.Context(), c.Resource("rooms")
	linked, _, err := r.Link(ctx, "people", "a", "a", nil)
	if err != nil {
		t.Fatal(err)
	}
	stored, err := seats.Get(ctx, linked.ID)
	if err == nil {
		stored.Value.Price = 5
		_, err = seats.Replace(ctx, linked.ID, stored.Rev, stored.Value)
	}
	if err != nil {
		t.Fatal(err)
	}
	again, made, err := r.Link(ctx, "people", "a", "a", nil)
	if err != nil || made {
		t.Fatalf("made %v, %v", made, err)
	}
	if diff := cmp.Diff(linked.Rev, again.Rev); diff != "" || again.Rev == stored.Rev || !again.Modified.IsZero() {
		t.Errorf("the revision of the link is %q, modified at %v", again.Rev, again.Modified)
	}
}

// TestUnlink: a link is removed once, and an item that does not exist has no links.
func TestUnlink(t *testing.T) {
	t.Parallel()
	type person struct {
		ID string `json:"id"`
	}
	type seat struct {
		ID     string `json:"id" id:"table,person" readOnly:"true"`
		Table  string `json:"table"`
		Person string `json:"person"`
	}
	tables, people := memory.New[person](nil), memory.New[person](nil)
	for _, store := range []*memory.Store[person]{tables, people} {
		if _, err := store.Insert(t.Context(), "a", person{"a"}); err != nil {
			t.Fatal(err)
		}
	}
	seats := resource.New("seats", memory.New(&memory.Options[seat]{Recreate: true}), &resource.Options[seat]{AllowRecreate: true,
		Query: query.Support{Filter: map[string][]query.Op{"table": {query.Eq}}}})
	r := resource.New("tables", tables, &resource.Options[person]{Relations: []resource.Relation[person]{
		{Name: "people", Target: "people", Through: "seats", By: "table", To: "person"}}})
	c := newCatalog(t, r, resource.New("people", people, nil), seats)
	r = c.Resource("tables")
	join, by := r.LinkedBy("people")
	same(t, "linked by", []any{true, "table"}, []any{join == c.Resource("seats"), by})
	if _, made, err := r.Link(t.Context(), "people", "a", "a", nil); err != nil || !made {
		t.Fatal(made, err)
	}
	for _, tt := range []struct {
		id, target string
		opts       *resource.WriteOptions
		status     int
	}{
		{"a", "a", ifMatch(t, `"x"`), 412},
		{"a", "a", nil, 204},
		{"a", "a", nil, 204}, // nothing is left to remove
		{"a", "a", ifMatch(t, "*"), 410},
		{"none", "a", nil, 404},
	} {
		err := r.Unlink(t.Context(), "people", tt.id, tt.target, tt.opts)
		wantStatus(t, &answer{line: "unlink " + tt.id + " " + tt.target, err: err}, tt.status)
	}
	same(t, "seats", 0, len(listAll(t, seats).Entries))
}

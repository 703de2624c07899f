package resource_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
)

type zeroOwner struct {
	ID int64 `json:"id"`
}

// zeroPart is an item of an owner, or a link from an owner to a part.
type zeroPart struct {
	ID    string `json:"id"`
	Owner int64  `json:"owner,omitzero"`
	Part  string `json:"part"`
}

// TestFollowZeroKey checks that an item with the id 0 is not related to items that have an absent zero in
// Relation.By, whether the collections join or not.
func TestFollowZeroKey(t *testing.T) {
	t.Parallel()
	for _, authorize := range []bool{false, true} { // collections with Authorize are not joined
		owners, parts, links := memory.New[zeroOwner](nil), memory.New[zeroPart](nil), memory.New[zeroPart](nil)
		for i := range int64(2) {
			id := fmt.Sprint("p", i)
			_, err := owners.Insert(t.Context(), fmt.Sprint(i), zeroOwner{i})
			_, part := parts.Insert(t.Context(), id, zeroPart{id, i, id})
			_, link := links.Insert(t.Context(), id, zeroPart{id, i, id})
			if err = errors.Join(err, part, link); err != nil {
				t.Fatal(err)
			}
		}
		support := query.Support{Filter: map[string][]query.Op{"id": {query.In}, "owner": {query.Eq}, "part": {query.In}}}
		opts := &resource.Options[zeroPart]{Query: support, Public: !authorize}
		if authorize {
			opts.Authorize = func(context.Context, resource.Op, *zeroPart, *zeroPart) error { return nil }
		}
		r := resource.New("owners", owners, &resource.Options[zeroOwner]{Public: true,
			Query: query.Support{Relations: []string{"own", "linked"}, Filter: map[string][]query.Op{"id": {query.In}}},
			Relations: []resource.Relation[zeroOwner]{
				{Name: "own", Target: "parts", By: "owner"},
				{Name: "both", Target: "parts", By: "owner", Keys: func(o *zeroOwner) []string { return []string{"0", fmt.Sprint(o.ID)} }},
				{Name: "linked", Target: "parts", Through: "links", By: "owner", To: "part"}}})
		c := resource.NewCatalog(nil, r, resource.New("parts", parts, opts), resource.New("links", links, opts))
		r = c.Resource("owners")
		from, err := r.List(t.Context(), query.Query{}, resource.Position{})
		if err != nil {
			t.Fatal(err)
		}
		for _, relation := range []string{"own", "both", "linked"} {
			got := map[string][]string{}
			add := func(name string, n int, read func() (resource.Page, error)) {
				t.Helper()
				p, err := read()
				if err != nil {
					t.Fatal(err)
				}
				defer p.Release()
				for i := range n {
					ids := ""
					for _, end := range p.Ends(i) {
						ids += p.Entries[end].ID
					}
					got[name] = append(got[name], fmt.Sprint(ids, p.TotalOf(i)))
				}
			}
			add("follow", 2, func() (resource.Page, error) { return r.Follow(t.Context(), relation, from.Entries, nil) })
			for _, n := range []int{1, 2} {
				for _, noItems := range []bool{false, true} {
					q := resource.RelatedQuery{Total: true, NoItems: noItems}
					add(fmt.Sprint("pages ", n, noItems), n, func() (resource.Page, error) {
						return r.FollowPages(t.Context(), relation, from.Entries[:n], q)
					})
				}
			}
			want := map[string][]string{"follow": {"0", "p10"}, "pages 1 false": {"0"}, "pages 1 true": {"0"},
				"pages 2 false": {"0", "p11"}, "pages 2 true": {"0", "1"}}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, authorize %t (-want +got):\n%s", relation, authorize, diff)
			}
			if relation == "both" {
				continue // a function returns the keys, so lists cannot be filtered
			}
			p, err := r.List(t.Context(), query.Query{Filter: query.Some(relation, query.Filter{})}, resource.Position{})
			if err != nil {
				t.Fatal(err)
			}
			if len(p.Entries) != 1 || p.Entries[0].ID != "1" {
				t.Errorf("%s, authorize %t: the filter selects %v, want the item 1", relation, authorize, p.Entries)
			}
			p.Release()
		}
		from.Release()
	}
}

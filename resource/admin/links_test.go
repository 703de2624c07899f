package admin_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/admin"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/memory"
)

type shelf struct {
	ID   int64  `json:"id" readOnly:"true"`
	Name string `json:"name"`
}

// placement is the link between a shelf and a book.
type placement struct {
	ID    string `json:"id" readOnly:"true" id:"shelf,isbn"`
	Shelf int64  `json:"shelf"`
	ISBN  string `json:"isbn"`
}

// order is a placement that a client cannot make by its ids alone.
type order struct {
	ID    int64  `json:"id" readOnly:"true"`
	Shelf int64  `json:"shelf"`
	ISBN  string `json:"isbn"`
}

// shelves returns a catalog in which shelves have books through placements.
func shelves(opts *resource.CatalogOptions, placements *resource.Resource) *resource.Catalog {
	return resource.NewCatalog(opts, placements,
		resource.New("books", memory.New(&memory.Options[book]{ID: "isbn"}), &resource.Options[book]{ID: "isbn", Public: true}),
		resource.New("shelves", memory.New[shelf](nil), &resource.Options[shelf]{Public: true, Relations: []resource.Relation[shelf]{
			{Name: "books", Target: "books", Through: "placements", By: "shelf", To: "isbn"}}}))
}

// TestDescriptionLinks checks what the description has about the links of a relation.
func TestDescriptionLinks(t *testing.T) {
	t.Parallel()
	by := query.Support{Filter: map[string][]query.Op{"shelf": {query.Eq}}}
	placements := func(change func(*resource.Ops[placement])) *resource.Resource {
		ops := resource.OpsOf(memory.New(&memory.Options[placement]{Recreate: true}))
		change(&ops)
		return ops.Resource("placements", &resource.Options[placement]{Public: true, AllowRecreate: true, Query: by})
	}
	renamed := func() *resource.Resource {
		type shown struct {
			ID    string `json:"id" readOnly:"true" id:"shelfId,isbn"`
			Shelf int64  `json:"shelfId"`
			ISBN  string `json:"isbn"`
		}
		return resource.View(placements(func(*resource.Ops[placement]) {}),
			func(p placement) (shown, error) { return shown(p), nil },
			func(s shown, _ placement) (placement, error) { return placement(s), nil },
			&resource.ViewOptions{Fields: map[string]string{"shelfId": "shelf"}})
	}
	all := func() *resource.Resource { return placements(func(*resource.Ops[placement]) {}) }
	followed := func() *resource.CatalogOptions {
		return &resource.CatalogOptions{Feed: feed.New(feed.NewMemory(nil), nil)}
	}
	tests := []struct {
		name       string
		opts       *resource.CatalogOptions
		placements *resource.Resource
		operations []string
		changes    string
	}{
		{"all", followed(), all(), []string{"link", "unlink"}, "placements?shelf="},
		{"without a feed", nil, all(), []string{"link", "unlink"}, ""},
		{"view", followed(), renamed(), []string{"link", "unlink"}, "placements?shelfId="},
		{"without Insert", nil, placements(func(o *resource.Ops[placement]) { o.Insert, o.InsertMany = nil, nil }),
			[]string{"unlink"}, ""},
		{"without Delete", nil, placements(func(o *resource.Ops[placement]) { o.Delete = nil }), []string{"link"}, ""},
		{"id of its own", followed(), resource.New("placements", memory.New[order](nil),
			&resource.Options[order]{Public: true, Query: by}), nil, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, body := send(t, admin.New(shelves(tt.opts, tt.placements), nil), "GET", "/admin/description.json")
			var d struct {
				Resources []struct {
					Relations []struct {
						Operations []string
						Changes    string
					}
				}
			}
			if err := json.Unmarshal([]byte(body), &d); err != nil {
				t.Fatal(err)
			}
			got := d.Resources[2].Relations[0]
			if diff := cmp.Diff(tt.operations, got.Operations); diff != "" {
				t.Errorf("operations (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.changes, got.Changes); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
		})
	}
}

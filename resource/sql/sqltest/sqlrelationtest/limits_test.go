package sqlrelationtest

import (
	"fmt"
	"testing"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

type shelf struct {
	ID   string `json:"id"`
	Room string `json:"room"`
}

type volume struct {
	ID    string `json:"id"`
	Shelf string `json:"shelfId"`
	Title string `json:"title"`
}

// openVolumes returns the volumes of two tables. The collation is that of the shelves.
func openVolumes(t *testing.T, db *sqltx.DB, collation string) *resource.Resource {
	t.Helper()
	shelves := openTable[shelf](t, db, "shelves", &sqltable.Options{Collation: collation, Index: []string{"room"}})
	volumes := openTable[volume](t, db, "volumes", &sqltable.Options{Index: []string{"shelfId", "title"}})
	for id, room := range map[string]string{"a": "north", "b": "south"} {
		if _, err := shelves.Insert(t.Context(), id, shelf{ID: id, Room: room}); err != nil {
			t.Fatal(err)
		}
		v := volume{ID: "of-" + id, Shelf: id, Title: "title " + id}
		if _, err := volumes.Insert(t.Context(), v.ID, v); err != nil {
			t.Fatal(err)
		}
	}
	equal := map[string][]query.Op{"room": {query.Eq}, "title": {query.Eq}}
	support := func(field string, relations ...string) query.Support {
		return query.Support{Filter: map[string][]query.Op{field: equal[field]}, Relations: relations}
	}
	r := volumes.Resource("volumes", &resource.Options[volume]{Public: true, Query: support("title", "shelf"),
		Relations: []resource.Relation[volume]{{Name: "shelf", Target: "shelves", Field: "shelfId"}}})
	r = resource.NewCatalog(nil, r, shelves.Resource("shelves", &resource.Options[shelf]{Public: true, Query: support("room")})).Resource(r.Name())
	return r
}

func listIDs(t *testing.T, r *resource.Resource, f query.Filter) (ids []string) {
	t.Helper()
	page, err := r.List(t.Context(), query.Query{Filter: f}, resource.Position{})
	if err != nil {
		t.Fatal(err)
	}
	defer page.Release()
	for _, e := range page.Entries {
		ids = append(ids, e.ID)
	}
	return ids
}

// TestCollationsOfJoinedKeys joins two tables with different collations, which PostgreSQL does not compare by itself.
func TestCollationsOfJoinedKeys(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		collation := ""
		if e.Dialect == sqltx.PostgreSQL {
			collation = "und-x-icu"
		}
		r := openVolumes(t, e.Open(t, nil), collation)
		for _, want := range []bool{true, false} {
			f := query.Some("shelf", query.Where("room", query.Eq, "north"))
			id := "of-a"
			if !want {
				f, id = query.Not(f), "of-b"
			}
			if got := listIDs(t, r, f); len(got) != 1 || got[0] != id {
				t.Errorf("the volumes of the north, %v, are %v, want %s", want, got, id)
			}
		}
	})
}

// TestLongFilters connects 2,500 conditions, which in one expression of SQLite would be too deep.
func TestLongFilters(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		r := openVolumes(t, e.Open(t, nil), "")
		titles := make([]query.Filter, 2500)
		for i := range titles {
			titles[i] = query.Where("title", query.Eq, fmt.Sprint("title ", i))
		}
		titles[2400] = query.Where("title", query.Eq, "title b")
		if got := listIDs(t, r, query.Or(titles...)); len(got) != 1 || got[0] != "of-b" {
			t.Errorf("one of many titles has %v, want of-b", got)
		}
		if got := listIDs(t, r, query.Not(query.Or(titles...))); len(got) != 1 || got[0] != "of-a" {
			t.Errorf("none of many titles has %v, want of-a", got)
		}
	})
}

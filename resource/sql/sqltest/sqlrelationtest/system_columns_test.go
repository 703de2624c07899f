package sqlrelationtest

import (
	"errors"
	"testing"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// TestSystemColumns sorts by a field of a related row, and searches, in a table of which the revision is xmin.
// In a statement with JOIN the column needs the name of its table.
func TestSystemColumns(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		if e.Dialect != sqltx.PostgreSQL {
			return
		}
		db := e.Open(t, nil)
		shelves := openTable[shelf](t, db, "shelves", nil)
		volumes := openTable[volume](t, db, "volumes", &sqltable.Options{Rev: sqltable.XMin, Search: []string{"title"}})
		_, err := shelves.Insert(t.Context(), "a", shelf{ID: "a", Room: "north"})
		_, inserted := volumes.Insert(t.Context(), "1", volume{ID: "1", Shelf: "a", Title: "title"})
		if err := errors.Join(err, inserted); err != nil {
			t.Fatal(err)
		}
		r := volumes.Resource("volumes", &resource.Options[volume]{Public: true,
			Query:     query.Support{Sort: []string{"shelf.room"}, Search: []string{"title"}},
			Relations: []resource.Relation[volume]{{Name: "shelf", Target: "shelves", Field: "shelfId"}}})
		r = resource.NewCatalog(nil, r, shelves.Resource("shelves", &resource.Options[shelf]{Public: true,
			Query: query.Support{Sort: []string{"room"}}})).Resource(r.Name())
		search, err := query.ParseSearch("title")
		if err != nil {
			t.Fatal(err)
		}
		for name, q := range map[string]query.Query{
			"sort":   {Sort: []query.Order{{Field: "shelf.room"}}},
			"search": {Search: search},
		} {
			page, err := r.List(t.Context(), q, resource.Position{})
			if err != nil || len(page.Entries) != 1 {
				t.Errorf("%s: %d items, %v", name, len(page.Entries), err)
			}
			page.Release()
		}
	})
}

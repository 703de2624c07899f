package sqltabletest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// unset has a field of each kind that reads NULL as its zero value.
type unset struct {
	ID    string    `json:"id"`
	Title string    `json:"title" sql:",null"`
	Count int64     `json:"count" sql:",null"`
	Size  float64   `json:"size" sql:",null"`
	Open  bool      `json:"open" sql:",null"`
	Day   string    `json:"day,omitzero" format:"date" sql:"date,null"`
	At    time.Time `json:"at" sql:",null"`
}

// newUnset creates a table with the rows a and b without values, c with zero values and d with others. A
// zero date or time is NULL in c as well.
func newUnset(t *testing.T, e *enginetest.Engine) (*sqltx.DB, *sqltable.Table[unset]) {
	db := e.OpenSchema(t)
	table := sqltable.New[unset](db, "unset", nil)
	if err := table.CreateTable(t.Context()); err != nil {
		t.Fatal(err)
	}
	enginetest.MustExec(t, db, "INSERT INTO unset (id, rev) VALUES ('a', '1'), ('b', '1')")
	for _, v := range []unset{{ID: "c"}, {"d", "x", 1, 1, true, "2026-01-02", time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)}} {
		if _, err := table.Ops().Insert(t.Context(), v.ID, v); err != nil {
			t.Fatal(err)
		}
	}
	return db, table
}

// storeZero makes b store the zero time.
const storeZero = "UPDATE unset SET at = '0001-01-01T00:00:00.000000000Z' WHERE id = 'b'"

// TestNullOrder: pages of one item have each item once, although the cursor of NULL is that of zero.
func TestNullOrder(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		db, table := newUnset(t, e)
		enginetest.MustExec(t, db, storeZero) // as programs do that write the zero time
		r := table.Ops().Resource("unset", &resource.Options[unset]{Query: table.Support(), Public: true})
		for _, field := range []string{"title", "count", "size", "open", "day", "at"} {
			for _, desc := range []bool{false, true} {
				q := query.Query{Sort: []query.Order{{Field: field, Desc: desc}}, Limit: 1}
				var got []string
				for at := (resource.Position{}); len(got) < 8; {
					page, err := r.List(t.Context(), q, at)
					if err != nil {
						t.Fatal(err)
					}
					for _, entry := range page.Entries {
						got = append(got, entry.ID)
					}
					if at.After = page.Next; at.After == "" {
						break
					}
				}
				want := []string{"a", "b", "c", "d"}
				if desc {
					want = []string{"d", "a", "b", "c"}
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("by %s, descending %v (-want +got):\n%s", field, desc, diff)
				}
			}
		}
	})
}

// TestNullTime: a write stores NULL for the zero time, and filters find it as that time.
func TestNullTime(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		db, table := newUnset(t, e)
		ops := table.Ops()
		it, err := ops.Get(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		it.Value.Title = "changed"
		if it, err = ops.Replace(t.Context(), "a", it.Rev, it.Value); err != nil || !it.Value.At.IsZero() {
			t.Fatalf("the time is %v, %v", it.Value.At, err)
		}
		result, err := db.Writer(t.Context()).ExecContext(t.Context(), "UPDATE unset SET size = 2 WHERE at IS NULL")
		if err != nil {
			t.Fatal(err)
		}
		if n, err := result.RowsAffected(); err != nil || n != 3 {
			t.Errorf("%d rows have no time, %v; want 3", n, err)
		}
		enginetest.MustExec(t, db, storeZero)
		early, late := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
		zero, day := time.Time{}, time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
		filters := []query.Filter{query.Where("at", query.IsNull, true), query.Where("at", query.IsNull, false),
			query.Where("at", query.In, []any{zero, day}), query.Where("at", query.In, []any{}), query.Where("at", query.Eq, "no time")}
		for _, op := range []query.Op{query.Eq, query.Ne, query.Lt, query.Lte, query.Gt, query.Gte} {
			for _, value := range []time.Time{zero, early, day, late} {
				filters = append(filters, query.Where("at", op, value))
			}
		}
		for _, f := range filters {
			for _, f := range []query.Filter{f, query.Not(f)} {
				var got, want []string
				for it, err := range ops.List(t.Context(), query.Query{Filter: f}) {
					if err != nil {
						t.Fatal(err)
					}
					got = append(got, it.ID)
				}
				for it, err := range ops.List(t.Context(), query.Query{}) {
					if err != nil {
						t.Fatal(err)
					}
					if query.Match(f, func(string) any { return it.Value.At }) {
						want = append(want, it.ID)
					}
				}
				slices.Sort(got)
				slices.Sort(want)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%v (-want +got):\n%s", f, diff)
				}
			}
		}
	})
}

// TestNullOfNotNull: a column that is NOT NULL does not store the zero time as NULL.
func TestNullOfNotNull(t *testing.T) {
	type event struct {
		ID string    `json:"id"`
		At time.Time `json:"at" sql:",null"`
	}
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		db := e.OpenSchema(t)
		typ := map[sqltx.Dialect]string{sqltx.SQLite: "TEXT", sqltx.PostgreSQL: "timestamptz"}[e.Dialect]
		enginetest.MustExec(t, db, "CREATE TABLE events (id TEXT PRIMARY KEY, at "+typ+" NOT NULL, rev TEXT NOT NULL)")
		err := sqltable.New[event](db, "events", &sqltable.Options{Forget: true}).Check(t.Context())
		const want = "column at is NOT NULL, but field At stores NULL for the zero time"
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Check: %v; want %s", err, want)
		}
	})
}

// TestNullOfRelated: a sort by a field of a related item has NULL as zero, as a sort of the items has.
func TestNullOfRelated(t *testing.T) {
	type owned struct {
		ID    string `json:"id"`
		Owner string `json:"ownerId"`
	}
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		db, owners := newUnset(t, e)
		enginetest.MustExec(t, db, "UPDATE unset SET count = -5 WHERE id = 'b'")
		things := sqltable.New[owned](db, "owned", &sqltable.Options{Forget: true})
		if err := things.CreateTable(t.Context()); err != nil {
			t.Fatal(err)
		}
		for i, owner := range []string{"d", "a", "b", "none", "c"} {
			id := string(rune('1' + i))
			if _, err := things.Ops().Insert(t.Context(), id, owned{id, owner}); err != nil {
				t.Fatal(err)
			}
		}
		r := things.Ops().Resource("things", &resource.Options[owned]{Public: true,
			Query: query.Support{Sort: []string{"owner.count"}},
			Relations: []resource.Relation[owned]{
				{Name: "owner", Target: "owners", Field: "ownerId"}}})
		r = resource.NewCatalog(nil, r, owners.Ops().Resource("owners", &resource.Options[unset]{Query: owners.Support(), Public: true})).Resource(r.Name())
		var got []string
		for at := (resource.Position{}); len(got) < 8; {
			page, err := r.List(t.Context(), query.Query{Sort: []query.Order{{Field: "owner.count"}}, Limit: 1}, at)
			if err != nil {
				t.Fatal(err)
			}
			for _, entry := range page.Entries {
				got = append(got, entry.ID)
			}
			if at.After = page.Next; at.After == "" {
				break
			}
		}
		if diff := cmp.Diff([]string{"4", "3", "2", "5", "1"}, got); diff != "" { // without an owner, -5, NULL, 0, 1
			t.Errorf("order (-want +got):\n%s", diff)
		}
	})
}

package sqltabletest

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// locked is stored in a table with the counter of an object-relational mapper.
type locked struct {
	ID    string `json:"id" maxLength:"20"`
	Title string `json:"title"`
}

// newLocked creates the table with a counter of this type.
func newLocked(t *testing.T, e *enginetest.Engine, typ string) (*sqltx.DB, func(opts sqltable.Options) *sqltable.Table[locked]) {
	t.Helper()
	db := e.OpenSchema(t)
	enginetest.MustExec(t, db, "CREATE TABLE locked (id varchar(20) PRIMARY KEY, title text NOT NULL, lock_version "+typ+" NOT NULL DEFAULT 0)",
		"CREATE TABLE locked_deleted (id varchar(20) PRIMARY KEY, deleted_at "+
			map[sqltx.Dialect]string{sqltx.SQLite: "TEXT", sqltx.PostgreSQL: "timestamptz"}[e.Dialect]+" NOT NULL)")
	return db, func(opts sqltable.Options) *sqltable.Table[locked] {
		opts.Rev, opts.CountRev = "lock_version", true
		return sqltable.New[locked](db, "locked", &opts)
	}
}

// TestCountRevAfterRestore: a database that was set back does not number its next writes like those that were
// lost. A cache or a client may have their values.
func TestCountRevAfterRestore(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		db, open := newLocked(t, e, "bigint")
		ops := open(sqltable.Options{}).Ops()
		it, err := ops.Insert(t.Context(), "a", locked{ID: "a", Title: "first"})
		if err != nil {
			t.Fatal(err)
		}
		lost, err := ops.Replace(t.Context(), "a", it.Rev, locked{ID: "a", Title: "lost"})
		if err != nil {
			t.Fatal(err)
		}
		enginetest.MustExec(t, db, "UPDATE locked SET title = 'first', lock_version = "+string(it.Rev))
		other, err := ops.Replace(t.Context(), "a", it.Rev, locked{ID: "a", Title: "other"})
		if err != nil {
			t.Fatal(err)
		}
		if other.Rev == lost.Rev {
			t.Errorf("both writes have the revision %s", other.Rev)
		}
		// A counter that is ahead of the clock counts on.
		const ahead = 1 << 60
		enginetest.MustExec(t, db, "UPDATE locked SET lock_version = "+strconv.Itoa(ahead))
		next, err := ops.Replace(t.Context(), "a", resource.Rev(strconv.Itoa(ahead)), locked{ID: "a", Title: "next"})
		if want := resource.Rev(strconv.Itoa(ahead + 1)); err != nil || next.Rev != want {
			t.Errorf("the revision is %s, %v; want %s", next.Rev, err, want)
		}
	})
}

// TestCountRevOfSmallColumn: columns of four and two bytes count from 0. Check is not called before the first
// writes, so the store finds the type by itself.
func TestCountRevOfSmallColumn(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		if e.Dialect != sqltx.PostgreSQL {
			return // integers of SQLite have eight bytes, whatever their type is
		}
		db, open := newLocked(t, e, "integer")
		enginetest.MustExec(t, db, "CREATE DOMAIN counter AS smallint")
		for _, typ := range []string{"integer", "smallint", "counter"} {
			enginetest.MustExec(t, db, "DELETE FROM locked", "ALTER TABLE locked ALTER lock_version DROP DEFAULT, ALTER lock_version TYPE "+typ)
			ops := open(sqltable.Options{}).Ops()
			id := func(n string) string { return typ + " " + n }
			it, err := ops.Insert(t.Context(), id("1"), locked{Title: "one"})
			if err == nil {
				err = ops.InsertMany(t.Context(), []resource.Item[locked]{{ID: id("2")}, {ID: id("3")}})
			}
			if err != nil {
				t.Fatal(err)
			}
			got := []resource.Rev{it.Rev}
			for range 2 {
				it.Value.Title += "+"
				if it, err = ops.Replace(t.Context(), id("1"), it.Rev, it.Value); err != nil {
					t.Fatal(err)
				}
				got = append(got, it.Rev)
			}
			third, err := ops.Get(t.Context(), id("3"))
			if diff := cmp.Diff([]resource.Rev{"0", "1", "2", "0"}, append(got, third.Rev)); diff != "" || err != nil {
				t.Errorf("%s: %v, revisions (-want +got):\n%s", typ, err, diff)
			}
		}
	})
}

// TestCheckCountRev: Check warns of small counters if an id can be inserted again.
func TestCheckCountRev(t *testing.T) {
	const warning = "column lock_version is smallint, so revisions start at 0: an id that is inserted again repeats " +
		"them, and an entity tag of the deleted item matches the new one; make the column bigint"
	tests := []struct {
		name, typ string
		opts      sqltable.Options
		want      string
	}{
		{"tombstones", "smallint", sqltable.Options{}, ""},
		{"no deletion", "smallint", sqltable.Options{NoDelete: true}, ""},
		{"recreated", "smallint", sqltable.Options{Recreate: true}, warning},
		{"forgotten", "smallint", sqltable.Options{Forget: true}, warning},
		{"large", "bigint", sqltable.Options{Forget: true}, ""},
	}
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		if e.Dialect != sqltx.PostgreSQL {
			return
		}
		for _, tt := range tests {
			_, open := newLocked(t, e, tt.typ)
			var got []string
			err := open(tt.opts).CheckWith(t.Context(), &sqltable.CheckOptions{
				Warn: func(d sqltable.Difference) { got = append(got, d.String()) }})
			if diff := cmp.Diff(tt.want, strings.Join(got, "\n")); diff != "" || err != nil {
				t.Errorf("%s: %v (-want +got):\n%s", tt.name, err, diff)
			}
			if err := open(tt.opts).Check(t.Context()); err != nil {
				t.Errorf("%s: Check: %v", tt.name, err)
			}
		}
	})
}

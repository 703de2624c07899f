package sqltabletest_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/sql/sqlquery"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltest"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// TestFastReads checks revisions without items in a table that has only its key, with columns in
// another order than the key.
func TestFastReads(t *testing.T) {
	type reversedKey struct {
		ID   string `json:"id" id:"team,user" readOnly:"true"`
		User string `json:"user"`
		Team int    `json:"team"`
	}
	enginetest.Each(t, func(t *testing.T, e sqltest.Engine) {
		ctx := t.Context()
		table := sqltable.New[reversedKey](e.Open(t, nil), "reversed_keys", nil)
		if err := table.CreateTable(ctx); err != nil {
			t.Fatal(err)
		}
		ops := table.Ops()
		fast := ops.FastReads()
		var want []resource.Revision
		for _, v := range []reversedKey{{User: "a", Team: 7}, {User: "b", Team: 7}} {
			id := "7," + v.User
			it, err := ops.Insert(ctx, id, v)
			if err != nil {
				t.Fatal(err)
			}
			// The pooled row of all columns exists before the revision is read.
			if _, err := ops.Get(ctx, id); err != nil {
				t.Fatal(err)
			}
			want = append(want, resource.Revision{ID: id, Rev: it.Rev})
			got, err := fast.GetRevision(ctx, id)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want[len(want)-1], got); diff != "" {
				t.Errorf("GetRevision (-want +got):\n%s", diff)
			}
		}
		var got []resource.Revision
		q := query.Query{Sort: []query.Order{{Field: "team"}, {Field: "user"}}, Limit: 9}
		for it, err := range fast.ListRevisions(ctx, q) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, it)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("ListRevisions (-want +got):\n%s", diff)
		}
		if err := ops.Delete(ctx, "7,a", want[0].Rev); err != nil {
			t.Fatal(err)
		}
		for id, want := range map[string]error{"7,a": resource.ErrGone, "7,c": resource.ErrNotFound, "x": resource.ErrNotFound} {
			if _, err := fast.GetRevision(ctx, id); !errors.Is(err, want) {
				t.Errorf("GetRevision of %s: %v, want %v", id, err, want)
			}
		}
	})
}

// TestRevisionsThatDetermineNothing checks that a table does not declare that its revisions determine its
// items if the database computes a column, or if rows depend on the session.
func TestRevisionsThatDetermineNothing(t *testing.T) {
	type counted struct {
		ID    string `json:"id"`
		Lines int    `json:"lines" readOnly:"true"`
	}
	enginetest.Each(t, func(t *testing.T, e sqltest.Engine) {
		tests := []struct {
			name string
			db   sqltx.Options
			opts sqltable.Options
			want bool
		}{
			{"a table", sqltx.Options{}, sqltable.Options{}, true},
			{"a computed column", sqltx.Options{}, sqltable.Options{Columns: map[string]sqlquery.Column{
				"lines": {Expr: "(SELECT count(*) FROM lines)"}}}, false},
			{"read only", sqltx.Options{}, sqltable.Options{ReadOnly: true, Rev: "rev"}, false},
			// PostgreSQL computes the hash of the content.
			{"content", sqltx.Options{}, sqltable.Options{Rev: sqltable.Content}, e.Dialect == sqltx.PostgreSQL},
			{"a session", sqltx.Options{Session: func(context.Context) (map[string]string, error) {
				return nil, nil
			}}, sqltable.Options{}, false},
		}
		for _, tt := range tests {
			if tt.db.Session != nil && e.Dialect != sqltx.PostgreSQL {
				continue
			}
			db := e.Open(t, &tt.db)
			ops := sqltable.New[counted](db, "counted", &tt.opts).Ops()
			fast := ops.FastReads()
			if got := fast.GetRevision != nil; got != tt.want {
				t.Errorf("%s: the table has GetRevision: %t, want %t", tt.name, got, tt.want)
			}
			if (fast.GetRevision != nil) != (fast.ListRevisions != nil) || fast.ListJSON == nil {
				t.Errorf("%s: fast reads are %+v", tt.name, fast)
			}
		}
	})
}

package sqltabletest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// TestAssignedIDs checks which declarations of an integer id SQLite assigns ids for, and whether one is
// assigned again after its deletion. Check must agree with the database.
func TestAssignedIDs(t *testing.T) {
	type numbered struct {
		ID    int64  `json:"id" readOnly:"true"`
		Title string `json:"title"`
	}
	const (
		reused = "column id lacks AUTOINCREMENT, so SQLite assigns the id of a deleted item again, and a client " +
			"that kept the id changes another item: set Options.SoftDelete, NoDelete, NewID or ClientIDs, or create the table again"
		notAssigned = "column id is not declared INTEGER PRIMARY KEY, so SQLite assigns no ids: " +
			"set Options.NewID or ClientIDs, or create the table again"
	)
	soft := sqltable.Options{SoftDelete: "gone"}
	tests := []struct {
		name, id, end string
		opts          sqltable.Options
		want          string
	}{
		{"AUTOINCREMENT", "INTEGER PRIMARY KEY AUTOINCREMENT", "", sqltable.Options{Forget: true}, ""},
		{"rowid", "INTEGER PRIMARY KEY", "", sqltable.Options{Forget: true}, reused},
		{"a comment", "INTEGER /* no AUTOINCREMENT */ PRIMARY KEY -- AUTOINCREMENT\n", "", sqltable.Options{Forget: true}, reused},
		{"a literal", "INTEGER PRIMARY KEY CHECK (id <> 'AUTOINCREMENT')", "", sqltable.Options{Forget: true}, reused},
		{"AUTOINCREMENT after a comment", "INTEGER PRIMARY KEY /* it's */ autoincrement", "", sqltable.Options{Forget: true}, ""},
		{"rowid, no deletion", "INTEGER PRIMARY KEY", "", sqltable.Options{NoDelete: true}, ""},
		{"rowid, soft deletion", "integer primary key", "", soft, ""},
		{"constraint of the table", "INTEGER", ", PRIMARY KEY (id))", soft, ""},
		{"INT, soft deletion", "INT PRIMARY KEY", "", soft, notAssigned},
		{"DESC", "INTEGER PRIMARY KEY DESC", "", soft, notAssigned},
		{"UNIQUE", "INTEGER NOT NULL UNIQUE", "", soft, notAssigned},
		{"WITHOUT ROWID", "INTEGER PRIMARY KEY", ") WITHOUT ROWID", soft, notAssigned},
	}
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		if e.Dialect != sqltx.SQLite {
			return
		}
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				db := e.OpenSchema(t)
				if tt.end == "" {
					tt.end = ")"
				}
				enginetest.MustExec(t, db,
					"CREATE TABLE numbered (id "+tt.id+", title TEXT NOT NULL, gone TEXT, rev TEXT NOT NULL"+tt.end)
				table := sqltable.New[numbered](db, "numbered", &tt.opts)
				err := table.Check(t.Context())
				_, got, _ := strings.Cut(fmt.Sprint(err), "\n\t")
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("Check (-want +got):\n%s\n%v", diff, err)
				}
				ops := table.Ops()
				if (ops.Delete == nil) != tt.opts.NoDelete {
					t.Errorf("Delete is nil: %v", ops.Delete == nil)
				}
				first, err := ops.Create(t.Context(), numbered{})
				if tt.opts.NoDelete {
					return
				}
				if err == nil {
					err = ops.Delete(t.Context(), first.ID, first.Rev)
				}
				if (err != nil) != (tt.want == notAssigned) {
					t.Fatalf("the first id: %v", err)
				}
				if err != nil {
					return
				}
				second, err := ops.Create(t.Context(), numbered{})
				if err != nil || (second.ID == first.ID) != (tt.want == reused) {
					t.Errorf("after the deletion of %s the id is %s, %v", first.ID, second.ID, err)
				}
			})
		}
	})
}

package sqltxtest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/sql/sqltest"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
	"github.com/stoa-go/stoa/resource/tx"
)

// TestNested: a nested function that fails leaves nothing, and the transaction continues, also after a
// statement that PostgreSQL refuses.
func TestNested(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e sqltest.Engine) {
		db := e.Open(t, nil)
		exec(t, t.Context(), db, "CREATE TABLE notes (id text PRIMARY KEY)")
		var calls []string
		write := func(ctx context.Context, id string, err error) error {
			_, failed := db.Writer(ctx).ExecContext(ctx, "INSERT INTO notes VALUES ('"+id+"')")
			tx.AfterCommit(ctx, func() { calls = append(calls, "commit "+id) })
			tx.AfterRollback(ctx, func() { calls = append(calls, "rollback "+id) })
			return errors.Join(err, failed)
		}
		nested := func(ctx context.Context, id string, err error) error {
			return db.Nested(ctx, func(ctx context.Context) error { return write(ctx, id, err) })
		}
		err := db.InTx(t.Context(), func(ctx context.Context) error {
			got := []error{write(ctx, "a", nil), nested(ctx, "b", errRefused), nested(ctx, "a", nil),
				nested(ctx, "c", nil)}
			for i, want := range []bool{false, true, true, false} {
				if (got[i] != nil) != want {
					t.Errorf("the error of write %d is %v", i, got[i])
				}
			}
			return db.Nested(ctx, func(ctx context.Context) error {
				return errors.Join(write(ctx, "d", nil), nested(ctx, "e", nil))
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := nested(t.Context(), "f", nil); err != nil { // a transaction of its own
			t.Error(err)
		}
		err = db.InTx(t.Context(), func(ctx context.Context) error {
			return errors.Join(nested(ctx, "g", nil), errRefused)
		})
		if !errors.Is(err, errRefused) {
			t.Error(err)
		}
		want := []string{"rollback b", "rollback a", "commit a", "commit c", "commit d", "commit e", "commit f",
			"rollback g"}
		if diff := cmp.Diff(want, calls); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"a", "c", "d", "e", "f"}, ids(t, db)); diff != "" {
			t.Errorf("rows (-want +got):\n%s", diff)
		}
	})
}

// ids returns the ids of the notes.
func ids(t *testing.T, db *sqltx.DB) (all []string) {
	t.Helper()
	rows, err := db.Reader(t.Context()).QueryContext(t.Context(), "SELECT id FROM notes ORDER BY id")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			t.Fatal(err)
		}
		all = append(all, id)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// shelf is a CommitClassifier that recognizes a table.
type shelf struct{ table string }

func (s shelf) CommitError(err error) error {
	if f := sqltx.PostgreSQL.Fault(err); f.Table != s.table {
		return nil
	}
	return fmt.Errorf("%w: %w", errRefused, err)
}

// TestClassifyCommit: the stores that have written classify a violation at the commit, in order, and CheckNow
// makes it one of the statement.
func TestClassifyCommit(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e sqltest.Engine) {
		if e.Dialect != sqltx.PostgreSQL {
			t.Skip("SQLite does not report the table")
		}
		db := e.Open(t, nil)
		exec(t, t.Context(), db, family)
		dangling := func(ctx context.Context) error {
			_, err := db.Writer(ctx).ExecContext(ctx, "INSERT INTO children VALUES (2, 1, 8, 9)")
			return err
		}
		for _, tt := range []struct {
			name        string
			classifiers []shelf
			want        bool
		}{
			{"of the table", []shelf{{"parents"}, {"children"}, {"children"}}, true},
			{"of another table", []shelf{{"parents"}}, false},
			{"none", nil, false},
		} {
			err := db.InTx(t.Context(), func(ctx context.Context) error {
				for _, c := range tt.classifiers {
					db.ClassifyCommit(ctx, c)
				}
				return dangling(ctx)
			})
			if errors.Is(err, errRefused) != tt.want || db.Dialect().Fault(err).Kind != sqltx.ForeignKey {
				t.Errorf("%s: %v", tt.name, err)
			}
		}
		err := db.InTx(t.Context(), func(ctx context.Context) error {
			if err := db.CheckNow(ctx); err != nil {
				t.Error(err)
			}
			if err := dangling(ctx); db.Dialect().Fault(err).Kind != sqltx.ForeignKey {
				t.Errorf("the error of the statement is %v", err)
			}
			return errRefused
		})
		if err != errRefused {
			t.Error(err)
		}
	})
}

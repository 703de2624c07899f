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

// TestIgnoredErrors: a transaction continues if the error of a statement is ignored. PostgreSQL aborts it, so there
// the function runs again, unless it rolls back to a savepoint of its own.
func TestIgnoredErrors(t *testing.T) {
	insert := func(id string) string { return "INSERT INTO notes VALUES ('" + id + "')" }
	const reserved, unknown = "INSERT INTO notes VALUES ('a')", "SELECT nothing FROM notes"
	tests := []struct {
		name       string
		statements []string
		nested     bool // all of them
		err        error
		runs       int // on PostgreSQL
		want       []string
	}{
		{"none", []string{insert("b"), insert("c")}, false, nil, 1, []string{"a", "b", "c"}},
		{"a write", []string{insert("b"), reserved, insert("c")}, false, nil, 2, []string{"a", "b", "c"}},
		{"the first one", []string{reserved, insert("b")}, false, nil, 2, []string{"a", "b"}},
		{"the last one", []string{insert("b"), reserved}, false, nil, 2, []string{"a", "b"}},
		{"all", []string{reserved, reserved, unknown}, false, nil, 2, []string{"a"}},
		{"a query", []string{insert("b"), unknown, insert("c")}, false, nil, 2, []string{"a", "b", "c"}},
		{"in a nested function", []string{insert("b"), reserved, insert("c")}, true, nil, 2, []string{"a", "b", "c"}},
		{"at the end of a nested function", []string{insert("b"), reserved}, true, nil, 2, []string{"a", "b"}},
		{"and another error returned", []string{insert("b"), reserved, insert("c")}, false, errRefused, 2, []string{"a"}},
		{"with a savepoint", []string{insert("b"), "SAVEPOINT own", reserved, "ROLLBACK TO SAVEPOINT own", insert("c")},
			false, nil, 1, []string{"a", "b", "c"}},
		{"before and in a savepoint", []string{reserved, "SAVEPOINT own", insert("b"), reserved, insert("c"),
			"ROLLBACK TO SAVEPOINT own", insert("d"), reserved, "RELEASE SAVEPOINT own", insert("e")},
			false, nil, 2, []string{"a", "d", "e"}},
	}
	enginetest.Each(t, func(t *testing.T, e sqltest.Engine) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				t.Parallel()
				db := e.Open(t, nil)
				exec(t, t.Context(), db, "CREATE TABLE notes (id text PRIMARY KEY)", insert("a"))
				type counts struct{ Runs, Commits int }
				var got counts
				run := func(ctx context.Context) error {
					for _, s := range tt.statements {
						if rows, err := db.Writer(ctx).QueryContext(ctx, s); err == nil {
							rows.Next()
							rows.Close()
						}
					}
					return tt.err
				}
				err := db.InTx(t.Context(), func(ctx context.Context) error {
					got.Runs++
					tx.AfterCommit(ctx, func() { got.Commits++ })
					if tt.nested {
						return db.Nested(ctx, run)
					}
					return run(ctx)
				})
				if !errors.Is(err, tt.err) {
					t.Errorf("the error is %v, want %v", err, tt.err)
				}
				want := counts{1, 1}
				if e.Dialect == sqltx.PostgreSQL {
					want.Runs = tt.runs
				}
				if tt.err != nil {
					want.Commits = 0
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("calls (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(tt.want, ids(t, db)); diff != "" {
					t.Errorf("rows (-want +got):\n%s", diff)
				}
			})
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

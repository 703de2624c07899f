package sqltx_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/sql/sqltx"
	"github.com/stoa-go/stoa/resource/sql/sqltx/internal/fakesqlite"
)

// TestRepeatedStatements: repeated statements are prepared once, only in SQLite and outside
// transactions.
func TestRepeatedStatements(t *testing.T) {
	t.Parallel()
	again := func(ctx context.Context, t *testing.T, c sqltx.Conn) {
		t.Helper()
		for range 3 {
			if _, err := c.ExecContext(ctx, "DELETE"); err != nil {
				t.Fatal(err)
			}
			rows, err := c.QueryContext(ctx, "SELECT")
			if err != nil {
				t.Fatal(err)
			}
			rows.Close()
		}
	}
	plain := []string{"OPEN", "DELETE", "SELECT", "DELETE", "SELECT", "DELETE", "SELECT"}
	tests := []struct {
		name    string
		dialect sqltx.Dialect
		do      func(ctx context.Context, t *testing.T, db *sqltx.DB)
		want    []string
	}{
		{
			"SQLite",
			sqltx.SQLite,
			func(ctx context.Context, t *testing.T, db *sqltx.DB) { again(ctx, t, db.Writer(ctx)) },
			[]string{
				"OPEN",
				"DELETE",
				"SELECT",
				"prepare DELETE",
				"run DELETE",
				"prepare SELECT",
				"run SELECT",
				"run DELETE",
				"run SELECT",
			},
		},
		{
			"PostgreSQL",
			sqltx.PostgreSQL,
			func(ctx context.Context, t *testing.T, db *sqltx.DB) { again(ctx, t, db.Writer(ctx)) },
			plain,
		},
		{"a transaction", sqltx.SQLite, func(ctx context.Context, t *testing.T, db *sqltx.DB) {
			err := db.InTx(ctx, func(ctx context.Context) error {
				again(ctx, t, db.Writer(ctx))
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}, slices.Concat([]string{"OPEN", "BEGIN IMMEDIATE"}, plain[1:], []string{"COMMIT"})},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			driver := &fakesqlite.Driver{}
			db := sqltx.New(tt.dialect, sql.OpenDB(driver), nil)
			tt.do(t.Context(), t, db)
			if diff := cmp.Diff(tt.want, driver.Log()); diff != "" {
				t.Errorf("the operations (-want +got):\n%s", diff)
			}
		})
	}
}

// TestStatementsThatCannotBePrepared: such a statement runs, so the caller gets its error.
func TestStatementsThatCannotBePrepared(t *testing.T) {
	t.Parallel()
	refused := errors.New("refused")
	driver := &fakesqlite.Driver{Fail: func(what string, _ int) error {
		if strings.HasPrefix(what, "prepare") {
			return refused
		}
		return nil
	}}
	db := sqltx.New(sqltx.SQLite, sql.OpenDB(driver), nil)
	for range 3 {
		if _, err := db.Writer(t.Context()).ExecContext(t.Context(), "DELETE"); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"OPEN", "DELETE", "prepare DELETE", "DELETE", "prepare DELETE", "DELETE"}
	if diff := cmp.Diff(want, driver.Log()); diff != "" {
		t.Errorf("the operations (-want +got):\n%s", diff)
	}
}

// TestStatementsAreEvicted: only the latest hundred statements stay prepared, and none is closed
// while it runs.
func TestStatementsAreEvicted(t *testing.T) {
	t.Parallel()
	driver := &fakesqlite.Driver{}
	pool := sql.OpenDB(driver)
	pool.SetMaxOpenConns(1)
	db := sqltx.New(sqltx.SQLite, pool, nil)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for i := range 600 {
				text := fmt.Sprint("DELETE ", i/2%150)
				if _, err := db.Writer(t.Context()).ExecContext(t.Context(), text); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	open := 0
	for _, did := range driver.Log() {
		switch {
		case strings.HasPrefix(did, "prepare "):
			open++
		case strings.HasPrefix(did, "close "):
			open--
		}
	}
	if open == 0 || open > 100 {
		t.Errorf("%d statements are open in the end, want 100 at most, and some", open)
	}
}

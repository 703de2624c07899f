package sqltx_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/resource/sql/sqltx"
	"github.com/stoa-go/stoa/resource/sql/sqltx/internal/fakesqlite"
)

// TestPoolerIsExplained: errors of prepared statements name the mode of pgx to use, others do not.
func TestPoolerIsExplained(t *testing.T) {
	t.Parallel()
	for state, want := range map[string]bool{"42P05": true, "26000": true, "42P01": false} {
		cause := &fakesqlite.Postgres{State: state}
		db, _ := open(t, sqltx.PostgreSQL, failing("q", cause, 1<<30), nil)
		query := func(ctx context.Context) error {
			_, err := db.Reader(ctx).QueryContext(ctx, "q")
			return err
		}
		for _, err := range []error{query(t.Context()), db.InTx(t.Context(), query)} {
			if !errors.Is(err, cause) || strings.Contains(err.Error(), "default_query_exec_mode=exec") != want {
				t.Errorf("%s: %v, want the mode named: %v", state, err, want)
			}
		}
	}
}

// TestStalePlan: a statement with a stale plan runs again, up to Options.Attempts.
func TestStalePlan(t *testing.T) {
	t.Parallel()
	stale := &fakesqlite.Postgres{State: "0A000", Routine: "RevalidateCachedQuery"}
	for _, tt := range []struct {
		failures, runs int
		err            error
	}{{0, 1, nil}, {2, 3, nil}, {3, 3, stale}} {
		runs := 0
		db, _ := open(t, sqltx.PostgreSQL, func(what string, n int) error {
			if what == "w" {
				runs = n
			}
			return failing("w", stale, tt.failures)(what, n)
		}, &sqltx.Options{Attempts: 3})
		if _, err := db.Writer(t.Context()).ExecContext(t.Context(), "w"); !errors.Is(err, tt.err) {
			t.Errorf("after %d failures: %v, want %v", tt.failures, err, tt.err)
		}
		if runs != tt.runs {
			t.Errorf("after %d failures it ran %d times, want %d", tt.failures, runs, tt.runs)
		}
	}
}

package sqltxtest

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/resource/sql/sqltest"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// TestStrays makes the mistakes that Debug and Guard are there to find, inside of a transaction, and what looks like
// them but is none.
func TestStrays(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e sqltest.Engine) {
		pool := sql.OpenDB(sqltx.Guard(e.Connector(t)))
		defer pool.Close()
		debug := sqltx.New(e.Dialect, pool, &sqltx.Options{Debug: true})
		exec(t, t.Context(), debug, "CREATE TABLE counters (name varchar(20) PRIMARY KEY, n integer NOT NULL)",
			"INSERT INTO counters VALUES ('a', 0)")
		prepared, err := pool.PrepareContext(t.Context(), "SELECT n FROM counters")
		if err != nil {
			t.Fatal(err)
		}
		defer prepared.Close()
		outside := t.Context()
		const select1 = "SELECT n FROM counters"
		tests := []struct {
			name string
			do   func(ctx context.Context) error
			want string // a part of the error
		}{
			{"a write that lost the context", func(context.Context) error {
				_, err := debug.Writer(outside).ExecContext(outside, "UPDATE counters SET n = 1")
				return err
			}, "pass the context"},
			{"a read that lost the context", func(context.Context) error {
				_, err := column[int](outside, debug.Reader(outside), select1)
				return err
			}, "pass the context"},
			{"the pool", func(ctx context.Context) error {
				_, err := column[int](ctx, pool, select1)
				return err
			}, "instead of the pool"},
			{"the pool without the context", func(context.Context) error {
				_, err := pool.ExecContext(outside, "UPDATE counters SET n = 1")
				return err
			}, "instead of the pool"},
			{"a transaction of the pool", func(ctx context.Context) error {
				_, err := pool.BeginTx(ctx, nil)
				return err
			}, "instead of the pool"},
			{"a prepared statement", func(ctx context.Context) error {
				rows, err := prepared.QueryContext(ctx)
				if err == nil {
					rows.Close()
				}
				return err
			}, "instead of the pool"},
			{"no mistake", func(ctx context.Context) error {
				_, errRead := column[int](ctx, debug.Reader(ctx), select1)
				_, errWrite := debug.Writer(ctx).ExecContext(ctx, "UPDATE counters SET n = 1")
				return errors.Join(errRead, errWrite)
			}, ""},
			{"another goroutine", func(context.Context) error {
				ended := make(chan error)
				go func() {
					_, err := column[int](outside, debug.Reader(outside), select1)
					ended <- err
				}()
				return <-ended
			}, ""},
		}
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				err := debug.InTx(t.Context(), func(ctx context.Context) error {
					err := tt.do(ctx)
					if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
						t.Errorf("the error is %v, want one with %q", err, tt.want)
					}
					return errRefused
				})
				if err != errRefused {
					t.Error(err)
				}
				if _, err := column[int](t.Context(), debug.Reader(t.Context()), select1); err != nil {
					t.Errorf("after the transaction: %v", err)
				}
				if _, err := column[int](t.Context(), pool, select1); err != nil {
					t.Errorf("the pool after the transaction: %v", err)
				}
			})
		}
	})
}

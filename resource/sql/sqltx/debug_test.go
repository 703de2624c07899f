package sqltx_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/resource/sql/sqltx"
	"github.com/stoa-go/stoa/resource/sql/sqltx/internal/fakesqlite"
)

// TestDebug makes mistakes inside a transaction. The module sqltest makes more of them on real
// engines.
func TestDebug(t *testing.T) {
	t.Parallel()
	pool := sql.OpenDB(sqltx.Guard(&fakesqlite.Driver{}))
	defer pool.Close()
	db := sqltx.New(sqltx.SQLite, pool, &sqltx.Options{Debug: true})
	outside := t.Context()
	// query closes its rows, to release the connection.
	query := func(ctx context.Context, c sqltx.Conn) error {
		rows, err := c.QueryContext(ctx, "r")
		if err == nil {
			err = rows.Close()
		}
		return err
	}
	tests := []struct {
		name string
		do   func(ctx context.Context) error
		want string // a part of the error
	}{
		{"a write that lost the context", func(context.Context) error {
			_, err := db.Writer(outside).ExecContext(outside, "w")
			return err
		}, "pass the context"},
		{
			"a read that lost the context",
			func(context.Context) error { return query(outside, db.Reader(outside)) },
			"pass the context",
		},
		{"a read of the pool", func(ctx context.Context) error { return query(ctx, pool) }, "instead of the pool"},
		{
			"a read of the pool without the context",
			func(context.Context) error { return query(outside, pool) },
			"instead of the pool",
		},
		{"a transaction of the pool", func(ctx context.Context) error {
			_, err := pool.BeginTx(ctx, nil)
			return err
		}, "instead of the pool"},
		{"a statement of the pool", func(ctx context.Context) error {
			_, err := pool.PrepareContext(ctx, "r")
			return err
		}, "instead of the pool"},
		{"no mistake", func(ctx context.Context) error { return query(ctx, db.Reader(ctx)) }, ""},
		{"a joined transaction", func(ctx context.Context) error {
			return db.InTx(ctx, func(ctx context.Context) error { return query(ctx, db.Writer(ctx)) })
		}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := db.InTx(t.Context(), func(ctx context.Context) error {
				err := tt.do(ctx)
				if tt.want == "" && err != nil ||
					tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
					t.Errorf("the error is %v, want one with %q", err, tt.want)
				}
				return errRefused
			})
			if !errors.Is(err, errRefused) {
				t.Error(err)
			}
			if err := errors.Join(query(outside, db.Reader(outside)), query(outside, pool),
				pool.Ping()); err != nil {
				t.Errorf("after the transaction: %v", err)
			}
		})
	}
}

// TestOver: a context of an ended transaction is rejected, because its statements could not be
// rolled back.
func TestOver(t *testing.T) {
	t.Parallel()
	db, fake := open(t, sqltx.SQLite, nil, nil)
	var kept context.Context
	db.InTx(t.Context(), func(ctx context.Context) error {
		kept = ctx
		return nil
	})
	_, errWrite := db.Writer(kept).ExecContext(kept, "w")
	_, errRead := db.Reader(kept).QueryContext(kept, "r")
	errTx := db.InTx(kept, func(context.Context) error { return nil })
	for _, err := range []error{errWrite, errRead, errTx} {
		if err == nil || !strings.Contains(err.Error(), "has ended") {
			t.Errorf("the error is %v", err)
		}
	}
	if got := strings.Join(fake.Log(), " "); got != "OPEN BEGIN IMMEDIATE COMMIT" {
		t.Errorf("what was done is %s", got)
	}
}

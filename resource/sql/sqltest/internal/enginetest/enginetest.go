// Package enginetest runs tests on each of the engines of sqltest, and records the statements that
// they run.
package enginetest

import (
	"context"
	"database/sql"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/stoa-go/stoa/resource/sql/sqltest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// Each runs a test on each of the engines, in parallel. Each test gets databases of its own, so
// tests can run at the same time.
func Each(t *testing.T, test func(t *testing.T, e sqltest.Engine)) {
	t.Parallel()
	for _, e := range sqltest.Engines() {
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			test(t, e)
		})
	}
}

// EachEngine is Each for tests that open many databases.
func EachEngine(t *testing.T, test func(t *testing.T, e *Engine)) {
	Each(t, func(t *testing.T, e sqltest.Engine) {
		own := &Engine{Engine: e}
		if e.Dialect == sqltx.PostgreSQL {
			// One database for the whole test: OpenSchema creates schemas in it.
			own.url = sqltest.PostgreSQL(t)
		}
		test(t, own)
	})
}

// Engine opens many databases for one test. In PostgreSQL they are schemas of one database, because
// creating a database takes longer than most cases of a conformance kit. The zero value is not
// usable; EachEngine makes it.
type Engine struct {
	sqltest.Engine
	url  string // of PostgreSQL
	last atomic.Int64
}

// OpenSchema returns a new, empty database with all checks enabled. A transaction of PostgreSQL may
// be idle for any time, because a busy machine delays tests, and is retried without limit. The
// schema is dropped with the database at the end of the test.
func (e *Engine) OpenSchema(tb testing.TB) *sqltx.DB {
	tb.Helper()
	if e.Dialect == sqltx.SQLite {
		return e.Open(tb, nil)
	}
	config, err := pgx.ParseConfig(e.url)
	if err != nil {
		tb.Fatal(err)
	}
	name := fmt.Sprintf("schema%d", e.last.Add(1))
	// A parameter of each connection, so that unqualified names in all statements of the pool refer
	// to the schema. The schema is created over such a connection, which may name one that does not
	// exist yet.
	config.RuntimeParams["search_path"] = name
	pool := sql.OpenDB(sqltx.Guard(stdlib.GetConnector(*config)))
	tb.Cleanup(func() { pool.Close() })
	// Tests run in parallel and share the connections of the server.
	pool.SetMaxOpenConns(16)
	pool.SetMaxIdleConns(16)
	if _, err := pool.ExecContext(tb.Context(), "CREATE SCHEMA "+name); err != nil {
		tb.Fatal(err)
	}
	return sqltx.New(sqltx.PostgreSQL, pool, &sqltx.Options{Debug: true, Idle: -1, Attempts: 1 << 30})
}

// Exec runs statements until one fails. It uses the transaction of ctx, if there is one. The error
// begins with the statement.
func Exec(ctx context.Context, db *sqltx.DB, statements ...string) error {
	for _, s := range statements {
		if _, err := db.Writer(ctx).ExecContext(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
	}
	return nil
}

// MustExec runs statements that must not fail. Use it for the tables of a test.
func MustExec(tb testing.TB, db *sqltx.DB, statements ...string) {
	tb.Helper()
	if err := Exec(tb.Context(), db, statements...); err != nil {
		tb.Fatal(err)
	}
}

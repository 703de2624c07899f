// Package database starts, opens, copies and crashes the databases of the scenarios.
package database

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"strings"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // registers pgx
	_ "modernc.org/sqlite"             // registers sqlite

	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// IsPostgres reports whether a source is a URL of PostgreSQL. Otherwise it is a file of SQLite.
func IsPostgres(source string) bool { return strings.HasPrefix(source, "postgres:") }

// Open opens a database for a server: a file of SQLite that syncs each commit to the disk, or postgres:///... opts are for
// PostgreSQL; nil selects the defaults.
func Open(source string, opts *sqltx.Options) (*sqltx.DB, error) {
	if IsPostgres(source) {
		pool, err := Pool(source, 16)
		return sqltx.New(sqltx.PostgreSQL, pool, opts), err
	}
	writer, err := sqlite(source, "&_pragma=journal_mode(wal)&_pragma=synchronous(full)", 1)
	if err != nil {
		return nil, err
	}
	readers, err := sqlite(source, "&_pragma=journal_mode(wal)&_pragma=synchronous(full)", 4)
	return sqltx.New(sqltx.SQLite, writer, &sqltx.Options{Readers: readers}), err
}

// Pool opens a pool of at most n connections. Idle connections are closed after 10 seconds, because one that a network fault
// has cut off is otherwise found by the request that uses it next.
func Pool(source string, n int) (*sql.DB, error) {
	if !IsPostgres(source) {
		return sqlite(source, "", n)
	}
	pool, err := sql.Open("pgx", source)
	return limit(pool, n), err
}

// sqlite opens a file of SQLite. A connection waits five minutes for a lock, because a busy machine may
// hold one for long.
func sqlite(file, pragmas string, n int) (*sql.DB, error) {
	source := "file:" + (&url.URL{Path: file}).EscapedPath() + "?_pragma=busy_timeout(300000)" + pragmas
	pool, err := sql.Open("sqlite", source)
	return limit(pool, n), err
}

func limit(pool *sql.DB, n int) *sql.DB {
	if pool != nil {
		pool.SetMaxOpenConns(n)
		pool.SetMaxIdleConns(n)
		pool.SetConnMaxIdleTime(10 * time.Second)
	}
	return pool
}

// Retry calls do until it succeeds, up to 50 times: several nodes start at once, and the database may be in recovery.
func Retry(ctx context.Context, do func(context.Context) error) error {
	var err error
	for range 50 {
		if err = do(ctx); err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(err, ctx.Err())
		case <-time.After(100 * time.Millisecond):
		}
	}
	return err
}

// Ask runs a statement over a connection of its own, and scans the first row if into is not empty.
func Ask(ctx context.Context, source, statement string, into ...any) error {
	pool, err := Pool(source, 1)
	if err != nil {
		return err
	}
	defer pool.Close()
	if into == nil {
		_, err = pool.ExecContext(ctx, statement)
		return err
	}
	return pool.QueryRowContext(ctx, statement).Scan(into...)
}

// Package database opens databases for servers that are going to be killed.
package database

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// Open opens a database: a file of SQLite, where what is committed is on the disk, or postgres:///... The program imports
// the drivers "sqlite" and "pgx". idle is how long a transaction of PostgreSQL may stand still, as in sqltx.Options.
func Open(source string, idle time.Duration) (*sqltx.DB, error) {
	if strings.HasPrefix(source, "postgres:") {
		pool, err := Pool("pgx", source, 16)
		return sqltx.New(sqltx.PostgreSQL, pool, &sqltx.Options{Idle: idle}), err
	}
	file := FileURL(source) + "?_pragma=busy_timeout(10000)&_pragma=journal_mode(wal)&_pragma=synchronous(full)"
	writer, err := Pool("sqlite", file, 1)
	if err != nil {
		return nil, err
	}
	readers, err := Pool("sqlite", file, 4)
	return sqltx.New(sqltx.SQLite, writer, &sqltx.Options{Readers: readers}), err
}

// FileURL is how SQLite is told of a file, whatever its path is made of.
func FileURL(path string) string { return "file:" + (&url.URL{Path: path}).EscapedPath() }

// Pool opens n connections at most, and keeps those that are used. One that leads nowhere is found out by who uses it, who has
// to wait for that; the others are closed unasked.
func Pool(driver, source string, n int) (*sql.DB, error) {
	pool, err := sql.Open(driver, source)
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(n)
	pool.SetMaxIdleConns(n)
	pool.SetConnMaxIdleTime(10 * time.Second)
	return pool, nil
}

// Patiently tries again: several processes start at once, and a database may be recovering.
func Patiently(ctx context.Context, do func(context.Context) error) error {
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

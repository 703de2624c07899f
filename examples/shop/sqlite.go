package main

// How SQLite is opened: the settings of a connection, and waiting while another process holds it.

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// sqliteSettings apply to each connection of the pools. Without busy_timeout, a concurrent write
// fails immediately. With a write-ahead log, reads continue during a write. With synchronous(full),
// a commit is on disk before it returns; normal is faster and may lose the last commits in a power
// failure. Foreign keys are off by default in SQLite.
const sqliteSettings = "?_pragma=busy_timeout(10000)&_pragma=journal_mode(wal)" +
	"&_pragma=synchronous(full)&_pragma=foreign_keys(on)"

// isBusy reports whether another connection had locked the file. The first connection to a new file
// changes its journal mode. During that change SQLite returns SQLITE_BUSY without waiting for
// busy_timeout, because two connections could wait for each other.
func isBusy(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_BUSY
}

// openingTime limits how long a shop waits for other processes that open the same file. On a busy
// machine, seeding can hold the lock for longer than busy_timeout.
const openingTime = 5 * time.Minute

// retryBusy calls do, and retries while another process has locked the file.
func retryBusy(ctx context.Context, do func() error) error {
	for began := time.Now(); ; {
		err := do()
		if !isBusy(err) || time.Since(began) > openingTime {
			return err
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return err
		}
	}
}

// openSQLite opens a file, and creates it if it does not exist.
func openSQLite(ctx context.Context, path string) (*database, error) {
	db := &database{files: strings.TrimSuffix(path, filepath.Ext(path)) + ".files"}
	source := "file:" + (&url.URL{Path: path}).EscapedPath() + sqliteSettings
	// Writers wait for this connection, which is cheaper than waiting for the lock of the file.
	writer, err := db.open("sqlite", source, 1)
	if err != nil {
		return nil, err
	}
	// More connections allow more concurrent reads, each with its own page cache.
	readers, err := db.open("sqlite", source, 8)
	if err != nil {
		return nil, err
	}
	var mode string
	err = retryBusy(ctx, func() (err error) {
		mode, err = setting(ctx, writer, "PRAGMA journal_mode")
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", path, err)
	}
	db.sql = sqltx.New(sqltx.SQLite, writer, &sqltx.Options{Readers: readers})
	// SQLite keeps its old mode without an error, for example on a network file system.
	if mode != "wal" {
		db.weak = append(db.weak,
			"the file system does not support a write-ahead log: reads and writes block each other")
	}
	if db.ready, err = db.sql.NewCheck(ctx); err != nil {
		return nil, fmt.Errorf("opening %s: %w", path, err)
	}
	db.title = "SQLite, " + path + ", commits are on disk (synchronous=FULL)"
	return db, nil
}

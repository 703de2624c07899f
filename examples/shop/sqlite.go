package main

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

// sqliteSettings make a file a database for many: with a write-ahead log readers go on beside the writer, and a commit is
// on the disk before it is acknowledged. SQLite looks at foreign keys only if it is told to.
const sqliteSettings = "?_pragma=busy_timeout(10000)&_pragma=journal_mode(wal)&_pragma=synchronous(full)&_pragma=foreign_keys(on)"

// isBusy reports whether somebody else had the file. The first connection to a new file changes its journal, and while others
// do that, too, SQLite does not wait, whatever busy_timeout says: each might be waiting for the other.
func isBusy(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code()&0xff == sqlite3.SQLITE_BUSY
}

// openingTime is how long a shop waits for others that are opened on the same file. One that fills it may hold it for longer
// than busy_timeout, where the machine has much else to do.
const openingTime = 5 * time.Minute

// whenFree does a part of what opens a shop, again and again as long as somebody else has the file.
func whenFree(ctx context.Context, do func() error) error {
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

// openSQLite opens a file, which may be a new one.
func openSQLite(ctx context.Context, path string) (*database, error) {
	db := &database{files: strings.TrimSuffix(path, filepath.Ext(path)) + ".files"}
	source := "file:" + (&url.URL{Path: path}).EscapedPath() + sqliteSettings
	writer, err := db.open("sqlite", source, 1) // one waits for the other here, rather than for the lock of the file
	if err != nil {
		return nil, err
	}
	readers, err := db.open("sqlite", source, 8)
	if err != nil {
		return nil, err
	}
	var mode string
	err = whenFree(ctx, func() (err error) {
		mode, err = setting(ctx, writer, "PRAGMA journal_mode")
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", path, err)
	}
	db.sql = sqltx.New(sqltx.SQLite, writer, &sqltx.Options{Readers: readers})
	if mode != "wal" {
		db.weak = append(db.weak, "the file system does not support a write-ahead log: reads and writes block each other")
	}
	db.title = "SQLite, " + path + ", commits are on disk (synchronous=FULL)"
	return db, nil
}

package main

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	_ "modernc.org/sqlite" // which registers sqlite

	"github.com/stoa-go/stoa/resource/sqltx"
)

// sqliteSettings make a file a database for many: with a write-ahead log readers go on beside the writer, and a commit is
// on the disk before it is acknowledged. SQLite looks at foreign keys only if it is told to.
const sqliteSettings = "?_pragma=busy_timeout(10000)&_pragma=journal_mode(wal)&_pragma=synchronous(full)&_pragma=foreign_keys(on)"

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
	mode, err := setting(ctx, writer, "PRAGMA journal_mode")
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", path, err)
	}
	db.sql = sqltx.New(sqltx.SQLite, writer, &sqltx.Options{Readers: readers})
	var weak []string
	if mode != "wal" {
		weak = append(weak, "the file system of the file has no write-ahead log, so writers and readers wait for each other")
	}
	db.report = describe("SQLite, "+path, "what has been acknowledged is on the disk (synchronous=FULL)", weak...)
	return db, nil
}

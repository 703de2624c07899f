package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// files are the migrations, in the format of goose, which a service uses in place of migrate.
//
//go:embed sqlite/*.sql postgres/*.sql
var files embed.FS

// migrate runs the first n files, except those that it has run before. The table migrations has their
// numbers. A migration tool also locks the database, and runs each file in a transaction.
func migrate(ctx context.Context, db *sqltx.DB, n int) error {
	if n == 0 {
		return nil
	}
	folder := "postgres"
	if db.Dialect() == sqltx.SQLite {
		folder = "sqlite"
	}
	names, err := fs.Glob(files, folder+"/*.sql")
	if err != nil {
		return err
	}
	if n > len(names) {
		return fmt.Errorf("%s has %d migrations, not %d", folder, len(names), n)
	}
	conn := db.Writer(ctx)
	const table = "CREATE TABLE IF NOT EXISTS migrations (n INTEGER PRIMARY KEY)"
	if _, err := conn.ExecContext(ctx, table); err != nil {
		return err
	}
	rows, err := conn.QueryContext(ctx, "SELECT n FROM migrations")
	if err != nil {
		return err
	}
	done := 0
	for rows.Next() {
		done++
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return err
	}
	for i := done; i < n; i++ {
		text, err := files.ReadFile(names[i])
		if err != nil {
			return err
		}
		_, up, _ := strings.Cut(string(text), "-- +goose Up\n")
		up, _, _ = strings.Cut(up, "-- +goose Down")
		if _, err := conn.ExecContext(ctx, up); err != nil {
			return fmt.Errorf("%s: %w", names[i], err)
		}
		if _, err := conn.ExecContext(ctx, "INSERT INTO migrations VALUES ($1)", i+1); err != nil {
			return err
		}
	}
	return nil
}

package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strings"
	"time"
)

// Backup copies a database, and Restore replaces the database by that copy. PostgreSQL ends the connections of the nodes that
// use it; a file of SQLite must not be in use.
func Backup(ctx context.Context, source string) error {
	if IsPostgres(source) {
		return copyDatabase(ctx, source, func(name string) (to, from string) { return name + "_old", name })
	}
	return copyFiles(source+".old", source)
}

// Restore undoes all changes after the last [Backup].
func Restore(ctx context.Context, source string) error {
	if IsPostgres(source) {
		return copyDatabase(ctx, source, func(name string) (to, from string) { return name, name + "_old" })
	}
	return copyFiles(source, source+".old")
}

// copyFiles copies a file of SQLite and its write-ahead log.
func copyFiles(to, from string) error {
	for _, suffix := range []string{"", "-wal"} {
		content, err := os.ReadFile(from + suffix)
		if err != nil && (suffix == "" || !errors.Is(err, fs.ErrNotExist)) {
			return err
		}
		if err := os.WriteFile(to+suffix, content, 0o600); err != nil {
			return err
		}
	}
	if err := os.Remove(to + "-shm"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// copyDatabase replaces a database of PostgreSQL by a copy of another.
func copyDatabase(ctx context.Context, source string, names func(name string) (to, from string)) error {
	u, err := url.Parse(source)
	if err != nil {
		return err
	}
	to, from := names(strings.TrimPrefix(u.Path, "/"))
	u.Path = "/postgres"
	db, err := Pool(u.String(), 1)
	if err != nil {
		return err
	}
	defer db.Close()
	for _, name := range []string{from, to} {
		if err := disconnect(ctx, db, name); err != nil {
			return err
		}
	}
	for _, text := range []string{
		fmt.Sprintf(`DROP DATABASE IF EXISTS "%s" WITH (FORCE)`, to),
		fmt.Sprintf(`CREATE DATABASE "%s" TEMPLATE "%s"`, to, from),
		fmt.Sprintf(`ALTER DATABASE "%s" ALLOW_CONNECTIONS true`, from),
	} {
		if _, err := db.ExecContext(ctx, text); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}
	return nil
}

// disconnect ends all connections to a database and waits for their end. Without that, CREATE DATABASE waits five seconds for
// them, and then fails.
func disconnect(ctx context.Context, db *sql.DB, name string) error {
	if _, err := db.ExecContext(ctx, `UPDATE pg_database SET datallowconn = false WHERE datname = $1`, name); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	for left := -1; left != 0; time.Sleep(10 * time.Millisecond) {
		err := db.QueryRowContext(ctx, `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = $1`, name).Scan(&left)
		if err != nil {
			return fmt.Errorf("%d connections to %s: %w", left, name, err)
		}
	}
	return nil
}

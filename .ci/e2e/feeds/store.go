package main

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

	"github.com/stoa-go/stoa/ci/e2e/database"
)

// store is a database that can be put back to how it was.
type store interface {
	source() string
	// backup copies it, and restore puts the copy in its place. Nobody serves it meanwhile, unless it is alone.
	backup(ctx context.Context) error
	restore(ctx context.Context) error
	// alone reports whether it can be replaced below those who use it.
	alone() bool
}

func storeOf(source string) (store, error) {
	if !strings.HasPrefix(source, "postgres:") {
		return fileStore(source), nil
	}
	u, err := url.Parse(source)
	if err != nil {
		return nil, err
	}
	admin := *u
	admin.Path = "/postgres"
	return &serverStore{source, admin.String(), strings.TrimPrefix(u.Path, "/")}, nil
}

// fileStore is a file of SQLite, with what stands beside it.
type fileStore string

func (s fileStore) source() string { return string(s) }
func (s fileStore) alone() bool    { return false }

func (s fileStore) backup(context.Context) error  { return copyFiles(string(s)+".old", string(s)) }
func (s fileStore) restore(context.Context) error { return copyFiles(string(s), string(s)+".old") }

// copyFiles copies a database of which nobody has anything in memory.
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

// serverStore is a database of PostgreSQL.
type serverStore struct{ url, admin, name string }

func (s *serverStore) source() string { return s.url }
func (s *serverStore) alone() bool    { return true }

func (s *serverStore) backup(ctx context.Context) error  { return s.copy(ctx, s.name+"_old", s.name) }
func (s *serverStore) restore(ctx context.Context) error { return s.copy(ctx, s.name, s.name+"_old") }

// copy puts a copy of a database in the place of another, and cuts off whoever uses that.
func (s *serverStore) copy(ctx context.Context, to, from string) error {
	db, err := database.Pool(s.admin, 1)
	if err != nil {
		return err
	}
	defer db.Close()
	for _, name := range []string{from, to} {
		if err := s.vacate(ctx, db, name); err != nil {
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

// vacate cuts off whoever uses a database, and waits until they are gone: PostgreSQL itself waits five seconds for them to end, and
// then copies and drops nothing.
func (s *serverStore) vacate(ctx context.Context, db *sql.DB, name string) error {
	if _, err := db.ExecContext(ctx, `UPDATE pg_database SET datallowconn = false WHERE datname = $1`, name); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	for left := -1; left != 0; pauseFor(ctx, 10*time.Millisecond) {
		err := db.QueryRowContext(ctx, `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = $1`, name).Scan(&left)
		if err != nil {
			return fmt.Errorf("%d still use %s: %w", left, name, err)
		}
	}
	return nil
}

package main

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"path/filepath"
	"strconv"

	_ "github.com/jackc/pgx/v5/stdlib" // registers the driver "pgx"
	_ "modernc.org/sqlite"             // registers the driver "sqlite"

	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// target creates databases, one per round and side of the comparison.
type target struct {
	name    string // of the database, for the table
	dialect sqltx.Dialect
	dir     string   // of SQLite files
	server  *url.URL // of PostgreSQL; nil for SQLite
	admin   *sql.DB  // creates and drops databases of PostgreSQL
	made    []string // names of the databases created so far
}

// newTarget returns SQLite files in dir if server is empty, and otherwise databases of this
// PostgreSQL server.
func newTarget(ctx context.Context, server, dir string) (*target, error) {
	if server == "" {
		return &target{name: "SQLite", dialect: sqltx.SQLite, dir: dir}, nil
	}
	address, err := url.Parse(server)
	if err != nil {
		return nil, err
	}
	admin, err := sql.Open("pgx", server)
	if err != nil {
		return nil, err
	}
	return &target{
		name:    "PostgreSQL",
		dialect: sqltx.PostgreSQL,
		server:  address,
		admin:   admin,
	}, admin.PingContext(ctx)
}

// next creates an empty database and returns the value for the shop's flag -db.
func (t *target) next(ctx context.Context) (string, error) {
	name := "bulk" + strconv.Itoa(len(t.made))
	t.made = append(t.made, name)
	if t.server == nil {
		return filepath.Join(t.dir, name+".db"), nil
	}
	if _, err := t.admin.ExecContext(ctx, "CREATE DATABASE "+name); err != nil {
		return "", err
	}
	// Copying the URL keeps user, host and parameters.
	made := *t.server
	made.Path = "/" + name
	return made.String(), nil
}

// open connects with the settings of the shop: a commit is on disk before it returns.
func (t *target) open(database string) (*sql.DB, error) {
	if t.server != nil {
		return sql.Open("pgx", database)
	}
	// synchronous(full) waits for the disk at each commit, as the shop does. Without it SQLite
	// would win by skipping the work.
	return sql.Open("sqlite", "file:"+database+
		"?_pragma=busy_timeout(10000)&_pragma=journal_mode(wal)&"+
		"_pragma=synchronous(full)&_pragma=foreign_keys(on)")
}

// close drops the databases that next has created. SQLite files are removed with their folder.
func (t *target) close() error {
	if t.server == nil {
		return nil
	}
	for _, name := range t.made {
		if _, err := t.admin.Exec("DROP DATABASE " + name + " WITH (FORCE)"); err != nil {
			return fmt.Errorf("dropping %s: %w", name, err)
		}
	}
	return t.admin.Close()
}

package main

// The database of the shop: SQLite in memory or in a file, or PostgreSQL, from the flag -db.
// sqlite.go opens SQLite.

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"

	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
	"github.com/stoa-go/stoa/resource/tx"
)

// database is the storage of the collections: SQL tables or memory. The collections, the
// idempotency keys, the jobs and the events share it. That is what makes a write, its key and its
// event atomic. A service with its own store needs a [tx.Runner] for the same guarantee.
type database struct {
	sql    *sqltx.DB  // nil if in memory
	memory *memory.DB // nil if in SQL
	pools  []*sql.DB
	files  string   // folder for the content of files, next to the database; "" if there is none
	title  string   // for the start-up report: which database it is and how durable commits are
	weak   []string // settings that weaken durability, for the start-up report
	// ready is the check for /health.
	ready func(ctx context.Context) error
}

// openDatabase opens the database that the flag -db names. Memory is for trials: it supports
// transactions, but loses the data on exit.
func openDatabase(ctx context.Context, name string) (*database, error) {
	switch {
	case name == "memory":
		return &database{memory: memory.NewDB(), title: "memory", weak: []string{lostAtExit},
			ready: func(context.Context) error { return nil }}, nil
	case isPostgres(name):
		return openPostgres(ctx, name)
	case name == "":
		folder, err := os.MkdirTemp("", "shop-")
		if err != nil {
			return nil, err
		}
		name = filepath.Join(folder, "shop.db")
	}
	return openSQLite(ctx, name)
}

// runner returns the transaction runner of the database.
func (db *database) runner() tx.Runner {
	if db.sql == nil {
		return db.memory
	}
	return db.sql
}

// close closes all connections.
func (db *database) close() error {
	var errs []error
	for _, pool := range db.pools {
		errs = append(errs, pool.Close())
	}
	return errors.Join(errs...)
}

// open adds a pool of at most max connections. database/sql keeps only two idle connections by
// default and would open new ones under load, so all are kept until ConnMaxIdleTime.
func (db *database) open(driver, source string, max int) (*sql.DB, error) {
	pool, err := sql.Open(driver, source)
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(max)
	pool.SetMaxIdleConns(max)
	db.pools = append(db.pools, pool)
	return pool, nil
}

// setting runs a query that returns one setting of the database. The start-up report warns of
// settings that weaken durability.
func setting(ctx context.Context, pool *sql.DB, query string) (value string, err error) {
	err = pool.QueryRowContext(ctx, query).Scan(&value)
	return value, err
}

// lostAtExit is the warning for data in memory.
const lostAtExit = "the data is lost when the process ends"

// report returns the lines about the database in the start-up report.
func (db *database) report(seeding string) string {
	return "database: " + db.title + "; " + seeding + "\n" + reportWeak(db.weak...)
}

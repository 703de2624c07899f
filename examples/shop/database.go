package main

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
	"github.com/stoa-go/stoa/resource/tx"
)

// database is where the collections are kept: in SQL tables or in memory.
type database struct {
	sql    *sqltx.DB  // nil: memory
	memory *memory.DB // nil: SQL
	pools  []*sql.DB
	files  string   // the folder beside it for the bytes of files; "" if there is no such place
	title  string   // for the start-up report: which database it is and how durable commits are
	weak   []string // settings that weaken durability, for the start-up report
}

// openDatabase opens what -db names.
func openDatabase(ctx context.Context, name string) (*database, error) {
	switch {
	case name == "memory":
		return &database{memory: memory.NewDB(), title: "memory", weak: []string{lostAtExit}}, nil
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

// runner is what runs transactions of the database.
func (db *database) runner() tx.Runner {
	if db.sql == nil {
		return db.memory
	}
	return db.sql
}

// ping returns an error if the database cannot be reached. It asks the last pool, which is for reading where there is one: a
// long transaction keeps the only connection that writes, and that is no reason to call the shop ill.
func (db *database) ping(ctx context.Context) error {
	if len(db.pools) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	return db.pools[len(db.pools)-1].PingContext(ctx)
}

// close gives up all connections.
func (db *database) close() error {
	var errs []error
	for _, pool := range db.pools {
		errs = append(errs, pool.Close())
	}
	return errors.Join(errs...)
}

// open adds a pool of at most max connections, which are kept.
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

// setting asks the database for one of its settings.
func setting(ctx context.Context, pool *sql.DB, query string) (value string, err error) {
	err = pool.QueryRowContext(ctx, query).Scan(&value)
	return value, err
}

// lostAtExit is the weakness of data that only this process has.
const lostAtExit = "the data is lost when the process ends"

// report returns the lines about the database in the start-up report.
func (db *database) report(seeding string) string {
	return "database: " + db.title + "; " + seeding + "\n" + reportWeak(db.weak...)
}

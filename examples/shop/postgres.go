package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/stdlib" // registers the driver "pgx"

	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// isPostgres reports whether the value of -db is a PostgreSQL URL.
func isPostgres(name string) bool {
	return strings.HasPrefix(name, "postgres://") || strings.HasPrefix(name, "postgresql://")
}

// openPostgres opens an existing database. Any number of shops can share it: they order writes by
// transactions, and each reads the events of the others from the log.
func openPostgres(ctx context.Context, source string) (*database, error) {
	config, err := pgx.ParseConfig(source) // for the report, which must not contain the password
	if err != nil {
		return nil, err
	}
	db := &database{}
	// The sum over all shops must stay below max_connections of the server.
	pool, err := db.open("pgx", source, 16)
	if err != nil {
		return nil, err
	}
	// A network partition breaks idle connections without notice. Each costs the first operation
	// that uses it a timeout, for example the 10 seconds of a read of the feed. Closing connections
	// after 10 idle seconds leaves few of them.
	pool.SetConnMaxIdleTime(10 * time.Second)
	db.sql = sqltx.New(sqltx.PostgreSQL, pool, nil)
	if db.ready, err = db.sql.NewCheck(ctx); err != nil {
		return nil, err
	}
	// With either setting off, PostgreSQL confirms a commit before it is durable.
	for _, name := range []string{"fsync", "synchronous_commit"} {
		value, err := setting(ctx, pool, "SHOW "+name)
		if err != nil {
			return nil, err
		}
		if value == "off" {
			db.weak = append(db.weak, name+" is off on the server: a crash of its machine can lose commits")
		}
	}
	db.title = fmt.Sprintf("PostgreSQL, %s on %s", config.Database, config.Host)
	return db, nil
}

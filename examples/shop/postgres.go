package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/stdlib" // which registers pgx

	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// isPostgres reports whether -db names a database of PostgreSQL.
func isPostgres(name string) bool {
	return strings.HasPrefix(name, "postgres://") || strings.HasPrefix(name, "postgresql://")
}

// openPostgres opens a database that exists. Any number of shops can share it.
func openPostgres(ctx context.Context, source string) (*database, error) {
	config, err := pgx.ParseConfig(source) // for the report, which must not tell the password
	if err != nil {
		return nil, err
	}
	db := &database{}
	pool, err := db.open("pgx", source, 16)
	if err != nil {
		return nil, err
	}
	// Behind a network that has parted, connections lead nowhere, and are found out one after the other: so there are few.
	pool.SetConnMaxIdleTime(10 * time.Second)
	db.sql = sqltx.New(sqltx.PostgreSQL, pool, nil)
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

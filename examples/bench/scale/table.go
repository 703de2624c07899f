package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"strings"

	_ "github.com/jackc/pgx/v5/stdlib" // registers the driver "pgx"
	_ "modernc.org/sqlite"             // registers the driver "sqlite"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/rest"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// town is a row.
type town struct {
	ID         int64  `json:"id" readOnly:"true"`
	Name       string `json:"name" required:"true" maxLength:"200"`
	Country    string `json:"country" required:"true" maxLength:"2"`
	Population int64  `json:"population"`
}

// database has the connections and the table.
type database struct {
	name            string
	dialect         sqltx.Dialect
	writer, readers *sql.DB
	towns           *sqltable.Table[town]
}

func open(source string) (*database, error) {
	d := &database{name: "PostgreSQL", dialect: sqltx.PostgreSQL}
	driver := "pgx"
	if !strings.HasPrefix(source, "postgres://") {
		d.name, d.dialect, driver = "SQLite (modernc)", sqltx.SQLite, "sqlite"
		source = "file:" + source + "?_pragma=busy_timeout(10000)&_pragma=journal_mode(wal)&_pragma=synchronous(normal)"
	}
	var err error
	if d.writer, err = sql.Open(driver, source); err != nil {
		return nil, err
	}
	if d.readers, err = sql.Open(driver, source); err != nil {
		return nil, err
	}
	d.writer.SetMaxOpenConns(1)
	d.readers.SetMaxOpenConns(4)
	d.readers.SetMaxIdleConns(4)
	db := sqltx.New(d.dialect, d.writer, &sqltx.Options{Readers: d.readers})
	d.towns = sqltable.New[town](db, "towns", &sqltable.Options{Index: []string{"country", "population"}})
	return d, nil
}

func (d *database) close() error { return errors.Join(d.writer.Close(), d.readers.Close()) }

// catalog returns the handler that is measured.
func (d *database) catalog() http.Handler {
	return rest.New(resource.NewCatalog(nil, d.towns.Ops().Resource("towns", &resource.Options[town]{
		Query: d.towns.Support(), Public: true})), nil)
}

// rowsOf are statements that generate rows in the database: 676 countries, and populations in
// pseudo-random order.
var rowsOf = map[sqltx.Dialect]string{
	sqltx.SQLite: `INSERT INTO towns (id, name, country, population, rev)
		WITH RECURSIVE s (i) AS (SELECT %d UNION ALL SELECT i + 1 FROM s WHERE i < %d)
		SELECT i, 'Town number ' || i, char(65 + i %% 26) || char(65 + i / 26 %% 26), i * 2654435761 %% 1000000007, 'r' || i
		FROM s`,
	sqltx.PostgreSQL: `INSERT INTO towns (id, name, country, population, rev)
		SELECT i, 'Town number ' || i, chr((65 + i %% 26)::int) || chr((65 + i / 26 %% 26)::int),
			i * 2654435761 %% 1000000007, 'r' || i
		FROM generate_series(%d::bigint, %d) AS s (i)`,
}

// fill creates the table, inserts the rows and then creates the indexes, because that is faster
// than updating indexes row by row.
func (d *database) fill(ctx context.Context, rows int) error {
	var tables, indexes []string
	for statement := range strings.SplitSeq(strings.TrimSpace(d.towns.DDL()), ";\n") {
		if strings.HasPrefix(statement, "CREATE TABLE") {
			tables = append(tables, statement)
		} else {
			indexes = append(indexes, statement)
		}
	}
	statements := tables
	const chunk = 1_000_000
	for first := 1; first <= rows; first += chunk {
		statements = append(statements, fmt.Sprintf(rowsOf[d.dialect], first, min(first+chunk-1, rows)))
	}
	statements = append(append(statements, indexes...), "ANALYZE")
	for _, s := range statements {
		if _, err := d.writer.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
	}
	return d.towns.Check(ctx)
}

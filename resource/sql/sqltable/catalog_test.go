package sqltable_test

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// catalog is a PostgreSQL that answers the queries of Check and AlterDDL for one table, and records the
// other statements. Module sqltest has the same tests on a server if the answer of the server matters.
type catalog struct {
	dialect sqltx.Dialect // default PostgreSQL
	columns []catalogColumn
	// answer returns the rows of a statement that does not inspect the columns. Nil means none.
	answer func(statement string) (columns int, rows [][]driver.Value, err error)

	mu         sync.Mutex
	statements []string
	arguments  [][]driver.NamedValue
}

// catalogColumn is a column that exists. The base type is that of the column.
type catalogColumn struct {
	name, typ                          string
	notNull, filled, unique, generated bool
	enum                               string // its name in the schema public
	hidden                             bool   // the schema of the enum is not in the search_path
	labels                             string // JSON
}

// open returns the database.
func (c *catalog) open(t *testing.T) *sqltx.DB {
	t.Helper()
	pool := sql.OpenDB(c)
	t.Cleanup(func() { pool.Close() })
	return sqltx.New(cmp.Or(c.dialect, sqltx.PostgreSQL), pool, &sqltx.Options{Idle: -1})
}

// last returns the last statement that begins with a word, and its arguments.
func (c *catalog) last(word string) (statement string, args []driver.NamedValue) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, s := range slices.Backward(c.statements) {
		if strings.HasPrefix(s, word) {
			return s, c.arguments[i]
		}
	}
	return "", nil
}

func (c *catalog) Connect(context.Context) (driver.Conn, error) { return catalogConn{c}, nil }
func (c *catalog) Driver() driver.Driver                        { return nil }

type catalogConn struct{ *catalog }

func (catalogConn) Prepare(string) (driver.Stmt, error) { return nil, driver.ErrSkip }
func (catalogConn) Close() error                        { return nil }
func (c catalogConn) Begin() (driver.Tx, error)         { return c, nil }
func (c catalogConn) Commit() error                     { return nil }
func (c catalogConn) Rollback() error                   { return nil }

func (c catalogConn) BeginTx(context.Context, driver.TxOptions) (driver.Tx, error) { return c, nil }

func (c catalogConn) ExecContext(
	ctx context.Context, statement string, args []driver.NamedValue,
) (driver.Result, error) {
	_, err := c.QueryContext(ctx, statement, args)
	return driver.RowsAffected(0), err
}

func (c catalogConn) QueryContext(
	_ context.Context, statement string, args []driver.NamedValue,
) (driver.Rows, error) {
	statement = strings.TrimSpace(statement)
	c.mu.Lock()
	c.statements, c.arguments = append(c.statements, statement), append(c.arguments, args)
	c.mu.Unlock()
	if strings.HasPrefix(statement, "SELECT a.attname, format_type") {
		rows := &catalogRows{columns: 11}
		for _, f := range c.columns {
			labels := f.labels
			if labels == "" {
				labels = "[]"
			}
			rows.rows = append(rows.rows, []driver.Value{f.name, f.typ, f.notNull, f.filled, f.unique, f.generated,
				f.typ, "public", f.enum, !f.hidden, labels})
		}
		return rows, nil
	}
	if c.answer == nil {
		return &catalogRows{columns: 1}, nil
	}
	columns, rows, err := c.answer(statement)
	return &catalogRows{columns, rows}, err
}

type catalogRows struct {
	columns int
	rows    [][]driver.Value
}

func (r *catalogRows) Columns() []string { return make([]string, r.columns) }
func (r *catalogRows) Close() error      { return nil }
func (r *catalogRows) Next(dest []driver.Value) error {
	if len(r.rows) == 0 {
		return io.EOF
	}
	copy(dest, r.rows[0])
	r.rows = r.rows[1:]
	return nil
}

// Package fakesqlite is a driver without a database, for the tests of package sqltx. It records
// operations and fails on demand. Its errors are like those of SQLite and PostgreSQL drivers, which
// package sqltx must not import. SQLite errors are recognized by the path of this package.
package fakesqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"sync"
)

// Driver is a connector without a database.
type Driver struct {
	// Fail returns the error of each operation: a statement, or one of BEGIN, COMMIT, ROLLBACK,
	// OPEN and CLOSE. n counts operations of the same kind from 1.
	Fail func(what string, n int) error
	// Opened, if not nil, receives each connection.
	Opened func(c driver.Conn)
	// Begun, if not nil, receives the context of each BEGIN.
	Begun func(ctx context.Context)
	// Value, if not nil, returns the only value of the only row of a query; nil means no rows.
	Value func(query string) driver.Value

	mu    sync.Mutex
	log   []string
	count map[string]int
}

// Log returns the operations in order.
func (d *Driver) Log() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]string(nil), d.log...)
}

// do records a call and returns the error that the test wants for it.
func (d *Driver) do(what string) error {
	d.mu.Lock()
	d.log = append(d.log, what)
	if d.count == nil {
		d.count = map[string]int{}
	}
	d.count[what]++
	n := d.count[what]
	d.mu.Unlock()
	if d.Fail == nil {
		return nil
	}
	return d.Fail(what, n)
}

// Connect implements [driver.Connector].
func (d *Driver) Connect(context.Context) (driver.Conn, error) {
	if err := d.do("OPEN"); err != nil {
		return nil, err
	}
	c := &conn{d}
	if d.Opened != nil {
		d.Opened(c)
	}
	return c, nil
}

// Driver implements [driver.Connector].
func (d *Driver) Driver() driver.Driver { return opener{d} }

type opener struct{ d *Driver }

func (o opener) Open(string) (driver.Conn, error) { return o.d.Connect(context.Background()) }

type conn struct{ d *Driver }

func (c *conn) Begin() (driver.Tx, error) { return nil, errors.New("not needed") }
func (c *conn) Close() error              { return c.d.do("CLOSE") }
func (c *conn) Commit() error             { return c.d.do("COMMIT") }
func (c *conn) Rollback() error           { return c.d.do("ROLLBACK") }

// Prepare records "prepare " and the statement, and later its executions.
func (c *conn) Prepare(query string) (driver.Stmt, error) {
	return &stmt{c, query}, c.d.do("prepare " + query)
}

type stmt struct {
	c     *conn
	query string
}

func (s *stmt) Close() error  { return s.c.d.do("close " + s.query) }
func (s *stmt) NumInput() int { return -1 }

func (s *stmt) Exec([]driver.Value) (driver.Result, error) {
	return driver.RowsAffected(1), s.c.d.do("run " + s.query)
}

func (s *stmt) Query([]driver.Value) (driver.Rows, error) {
	return noRows{}, s.c.d.do("run " + s.query)
}

func (c *conn) BeginTx(ctx context.Context, _ driver.TxOptions) (driver.Tx, error) {
	if c.d.Begun != nil {
		c.d.Begun(ctx)
	}
	return c, c.d.do("BEGIN")
}

func (c *conn) ExecContext(_ context.Context, query string, _ []driver.NamedValue) (driver.Result, error) {
	return driver.RowsAffected(1), c.d.do(query)
}

func (c *conn) QueryContext(_ context.Context, query string, _ []driver.NamedValue) (driver.Rows, error) {
	if err := c.d.do(query); err != nil {
		return nil, err
	}
	if c.d.Value != nil {
		if v := c.d.Value(query); v != nil {
			return &oneRow{value: v}, nil
		}
	}
	return noRows{}, nil
}

type noRows struct{}

func (noRows) Columns() []string         { return nil }
func (noRows) Close() error              { return nil }
func (noRows) Next([]driver.Value) error { return io.EOF }

// oneRow is a row with one value.
type oneRow struct {
	noRows
	value driver.Value // nil after it was read
}

func (r *oneRow) Columns() []string { return []string{"value"} }

func (r *oneRow) Next(into []driver.Value) error {
	if r.value == nil {
		return io.EOF
	}
	into[0], r.value = r.value, nil
	return nil
}

// ByCode is an error with a method for its extended code, like that of modernc.org/sqlite.
type ByCode struct {
	Number int
	Text   string
}

func (e *ByCode) Error() string { return e.Text }

// Code returns the extended code.
func (e *ByCode) Code() int { return e.Number }

// Small is a driver's type of a SQLite code.
type Small uint16

// ByExtendedCode is an error with two methods and its own result types, like that of
// ncruces/go-sqlite3.
type ByExtendedCode struct {
	Number Small
	Text   string
}

func (e *ByExtendedCode) Error() string { return e.Text }

// Code returns the primary code.
func (e *ByExtendedCode) Code() uint8 { return uint8(e.Number) }

// ExtendedCode returns the extended code.
func (e *ByExtendedCode) ExtendedCode() Small { return e.Number }

// ByField is an error value with fields for its codes, like that of mattn/go-sqlite3.
type ByField struct {
	Code, ExtendedCode int
	Text               string
}

func (e ByField) Error() string { return e.Text }

// Postgres is an error with the fields of pgx.
type Postgres struct {
	State, ConstraintName, ColumnName, Detail, Routine string
}

func (e *Postgres) Error() string { return "postgres: " + e.State }

// SQLState returns the code.
func (e *Postgres) SQLState() string { return e.State }

// PQ is an error with the fields of lib/pq.
type PQ struct {
	Code, Constraint, Column, Detail, Routine string
}

func (e *PQ) Error() string { return "pq: " + e.Code }

// SQLState returns the code.
func (e *PQ) SQLState() string { return e.Code }

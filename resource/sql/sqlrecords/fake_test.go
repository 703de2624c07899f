package sqlrecords_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/stoa-go/stoa/resource/sql/sqlrecords"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// fake is a database that records statements and returns the results of the test. The nested module
// sqltest tests real engines.
type fake struct {
	answer func(statement string) (rows [][]driver.Value, err error) // rows also count as changed rows

	mu  sync.Mutex
	log []string // the first word of each statement, and "count" for those that count
}

// store returns a Store in a fake.
func (f *fake) store(t *testing.T, d sqltx.Dialect) (*sqlrecords.Store, *sqltx.DB) {
	t.Helper()
	pool := sql.OpenDB(f)
	t.Cleanup(func() { pool.Close() })
	db := sqltx.New(d, pool, nil)
	return sqlrecords.New(db, nil), db
}

// seen returns the statements after the previous call.
func (f *fake) seen() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	log := strings.Join(f.log, " ")
	f.log = nil
	return log
}

func (f *fake) run(statement string) ([][]driver.Value, error) {
	word, _, _ := strings.Cut(statement, " ")
	if strings.Contains(statement, "count(*)") {
		word = "count"
	}
	f.mu.Lock()
	f.log = append(f.log, word)
	f.mu.Unlock()
	return f.answer(statement)
}

func (f *fake) Connect(context.Context) (driver.Conn, error) { return fakeConn{f}, nil }
func (f *fake) Driver() driver.Driver                        { return nil }

type fakeConn struct{ f *fake }

func (c fakeConn) Prepare(query string) (driver.Stmt, error) { return fakeStmt{c.f, query}, nil }
func (c fakeConn) Close() error                              { return nil }
func (c fakeConn) Begin() (driver.Tx, error)                 { return nil, errors.New("not needed") }

func (c fakeConn) BeginTx(context.Context, driver.TxOptions) (driver.Tx, error) {
	_, err := c.f.run("BEGIN")
	return c, err
}

func (c fakeConn) Commit() error {
	_, err := c.f.run("COMMIT")
	return err
}

func (c fakeConn) Rollback() error {
	_, err := c.f.run("ROLLBACK")
	return err
}

type fakeStmt struct {
	f     *fake
	query string
}

func (s fakeStmt) Close() error  { return nil }
func (s fakeStmt) NumInput() int { return -1 }

func (s fakeStmt) Exec([]driver.Value) (driver.Result, error) {
	rows, err := s.f.run(s.query)
	return driver.RowsAffected(len(rows)), err
}

func (s fakeStmt) Query([]driver.Value) (driver.Rows, error) {
	rows, err := s.f.run(s.query)
	return &fakeRows{rows}, err
}

type fakeRows struct{ left [][]driver.Value }

func (r *fakeRows) Close() error { return nil }

func (r *fakeRows) Columns() []string {
	if len(r.left) == 0 {
		return nil
	}
	return make([]string, len(r.left[0]))
}

func (r *fakeRows) Next(dest []driver.Value) error {
	if len(r.left) == 0 {
		return io.EOF
	}
	copy(dest, r.left[0])
	r.left = r.left[1:]
	return nil
}

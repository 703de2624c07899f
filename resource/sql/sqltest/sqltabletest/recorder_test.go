package sqltabletest

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// recorder is a connector that writes down what is asked of the database.
type recorder struct {
	driver.Connector

	mu   sync.Mutex
	seen []asked
	made []string // statements that were prepared
}

// asked is a statement that was run.
type asked struct {
	text string
	args []any
}

func (a asked) String() string { return a.text }

// record returns a database of e, and what writes down its statements.
func record(tb testing.TB, e *engine) (*sqltx.DB, *recorder) {
	tb.Helper()
	r := &recorder{Connector: e.Connector(tb)}
	pool := sql.OpenDB(r)
	tb.Cleanup(func() { pool.Close() })
	if e.Dialect == sqltx.SQLite {
		pool.SetMaxOpenConns(1)
	}
	return sqltx.New(e.Dialect, pool, nil), r
}

// of returns the statements that do makes.
func (r *recorder) of(do func()) (ran []asked, prepared []string) {
	r.mu.Lock()
	r.seen, r.made = nil, nil
	r.mu.Unlock()
	do()
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.seen), slices.Clone(r.made)
}

// note takes in a statement, unless database/sql is to run it in another way.
func (r *recorder) note(err error, statement string, args []driver.NamedValue) {
	if errors.Is(err, driver.ErrSkip) {
		return
	}
	a := asked{text: statement}
	for _, arg := range args {
		a.args = append(a.args, arg.Value)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = append(r.seen, a)
}

func (r *recorder) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := r.Connector.Connect(ctx)
	return &recordedConn{Conn: c, recorder: r}, err
}

// recordedConn is a connection of any of the drivers, which all know contexts.
type recordedConn struct {
	driver.Conn
	recorder *recorder
}

func (c *recordedConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	result, err := c.Conn.(driver.ExecerContext).ExecContext(ctx, query, args)
	c.recorder.note(err, query, args)
	return result, err
}

// QueryContext asks for the driver's own way, and tells database/sql where there is none.
func (c *recordedConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	q, ok := c.Conn.(driver.QueryerContext)
	if !ok {
		return nil, driver.ErrSkip
	}
	rows, err := q.QueryContext(ctx, query, args)
	c.recorder.note(err, query, args)
	return rows, err
}

func (c *recordedConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	c.recorder.mu.Lock()
	c.recorder.made = append(c.recorder.made, query)
	c.recorder.mu.Unlock()
	s, err := c.Conn.(driver.ConnPrepareContext).PrepareContext(ctx, query)
	return &recordedStmt{Stmt: s, conn: c, query: query}, err
}

func (c *recordedConn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	c.recorder.note(nil, "BEGIN", nil)
	return c.Conn.(driver.ConnBeginTx).BeginTx(ctx, opts)
}

func (c *recordedConn) CheckNamedValue(v *driver.NamedValue) error {
	if n, ok := c.Conn.(driver.NamedValueChecker); ok {
		return n.CheckNamedValue(v)
	}
	return driver.ErrSkip
}

// recordedStmt is a prepared statement.
type recordedStmt struct {
	driver.Stmt
	conn  *recordedConn
	query string
}

func (s *recordedStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	s.conn.recorder.note(nil, s.query, args)
	return s.Stmt.(driver.StmtExecContext).ExecContext(ctx, args)
}

func (s *recordedStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	s.conn.recorder.note(nil, s.query, args)
	return s.Stmt.(driver.StmtQueryContext).QueryContext(ctx, args)
}

func (s *recordedStmt) CheckNamedValue(v *driver.NamedValue) error {
	if n, ok := s.Stmt.(driver.NamedValueChecker); ok {
		return n.CheckNamedValue(v)
	}
	return s.conn.CheckNamedValue(v)
}

// verbs are the first words of statements, for counting.
func verbs(statements []asked) string {
	words := make([]string, len(statements))
	for i, s := range statements {
		words[i], _, _ = strings.Cut(s.text, " ")
	}
	return strings.Join(words, " ")
}

// texts are the statements, one to a line.
func texts(statements []asked) string {
	lines := make([]string, len(statements))
	for i, s := range statements {
		lines[i] = s.text
	}
	return strings.Join(lines, "\n")
}

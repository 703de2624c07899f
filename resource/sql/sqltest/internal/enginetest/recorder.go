package enginetest

// A driver between database/sql and that of an engine, which records statements. Tests of sqltx,
// sqltable and sqlfeed use it to check how many statements an operation needs, and which.

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

// Recorder is a connector that records the statements of its connections. The pool may use several
// connections at a time, so mu guards the lists.
type Recorder struct {
	driver.Connector

	mu       sync.Mutex
	ran      []Statement
	prepared []string
}

// Statement is a statement that was run. Args have the types that the driver receives, after the
// conversions of database/sql.
type Statement struct {
	Text string
	Args []any
}

// String returns the text, for messages of failed tests.
func (s Statement) String() string { return s.Text }

// Record opens a new database of e, and returns it with the recorder of its statements. For SQLite
// the pool has one connection, like the writer of [sqltest.Engine.Open]; reads use it too.
func Record(tb testing.TB, e *Engine) (*sqltx.DB, *Recorder) {
	tb.Helper()
	r := &Recorder{Connector: e.Connector(tb)}
	pool := sql.OpenDB(r)
	tb.Cleanup(func() { pool.Close() })
	if e.Dialect == sqltx.SQLite {
		pool.SetMaxOpenConns(1)
	}
	return sqltx.New(e.Dialect, pool, nil), r
}

// During returns the statements that are run and prepared while do runs. Statements of other
// goroutines are recorded too, so nothing else may use the pool.
func (r *Recorder) During(do func()) (ran []Statement, prepared []string) {
	r.mu.Lock()
	r.ran, r.prepared = nil, nil
	r.mu.Unlock()
	do()
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.ran), slices.Clone(r.prepared)
}

// add records a statement, unless the driver has left it to database/sql to run it in another way.
func (r *Recorder) add(err error, statement string, args []driver.NamedValue) {
	if errors.Is(err, driver.ErrSkip) {
		return
	}
	s := Statement{Text: statement}
	for _, arg := range args {
		s.Args = append(s.Args, arg.Value)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ran = append(r.ran, s)
}

// Connect returns a connection that records. After an error the caller does not use it.
func (r *Recorder) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := r.Connector.Connect(ctx)
	return NewConn(c, r), err
}

// Conn is a connection of one of the drivers, which all support contexts. It hides the optional
// interfaces of a driver that it does not implement, such as [driver.SessionResetter] and
// [driver.Validator].
type Conn struct {
	driver.Conn
	recorder *Recorder
}

// NewConn returns a connection that records its statements in r. A test can wrap it in a connection
// that fails.
func NewConn(c driver.Conn, r *Recorder) *Conn { return &Conn{Conn: c, recorder: r} }

// ExecContext runs a statement without preparing it. It is recorded also if it fails, because it
// reached the engine.
func (c *Conn) ExecContext(
	ctx context.Context, query string, args []driver.NamedValue,
) (driver.Result, error) {
	result, err := c.Conn.(driver.ExecerContext).ExecContext(ctx, query, args)
	c.recorder.add(err, query, args)
	return result, err
}

// QueryContext calls that of the driver, or returns [driver.ErrSkip] if it has none. Then
// database/sql prepares the statement, and stmt records it.
func (c *Conn) QueryContext(
	ctx context.Context, query string, args []driver.NamedValue,
) (driver.Rows, error) {
	q, ok := c.Conn.(driver.QueryerContext)
	if !ok {
		return nil, driver.ErrSkip
	}
	rows, err := q.QueryContext(ctx, query, args)
	c.recorder.add(err, query, args)
	return rows, err
}

// PrepareContext records the statement as prepared. Its executions are recorded by stmt.
func (c *Conn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	c.recorder.mu.Lock()
	c.recorder.prepared = append(c.recorder.prepared, query)
	c.recorder.mu.Unlock()
	s, err := c.Conn.(driver.ConnPrepareContext).PrepareContext(ctx, query)
	return &stmt{Stmt: s, conn: c, query: query}, err
}

// BeginTx records a BEGIN, although drivers may send another text.
func (c *Conn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	c.recorder.add(nil, "BEGIN", nil)
	return c.Conn.(driver.ConnBeginTx).BeginTx(ctx, opts)
}

// CheckNamedValue converts an argument as the driver does. ErrSkip selects the default conversion.
func (c *Conn) CheckNamedValue(v *driver.NamedValue) error {
	if n, ok := c.Conn.(driver.NamedValueChecker); ok {
		return n.CheckNamedValue(v)
	}
	return driver.ErrSkip
}

// stmt is a prepared statement. All drivers of the engines implement the methods with a context.
type stmt struct {
	driver.Stmt
	conn  *Conn
	query string
}

func (s *stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	// Before the call, and without its error: a prepared statement is never skipped.
	s.conn.recorder.add(nil, s.query, args)
	return s.Stmt.(driver.StmtExecContext).ExecContext(ctx, args)
}

func (s *stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	s.conn.recorder.add(nil, s.query, args)
	return s.Stmt.(driver.StmtQueryContext).QueryContext(ctx, args)
}

func (s *stmt) CheckNamedValue(v *driver.NamedValue) error {
	if n, ok := s.Stmt.(driver.NamedValueChecker); ok {
		return n.CheckNamedValue(v)
	}
	return s.conn.CheckNamedValue(v)
}

// Verbs returns the first words of statements, for counting. BEGIN INSERT INSERT shows the shape
// of an operation without its SQL. BEGIN is recorded, but COMMIT is not, because it is a method of
// the transaction.
func Verbs(statements []Statement) string {
	words := make([]string, len(statements))
	for i, s := range statements {
		words[i], _, _ = strings.Cut(s.Text, " ")
	}
	return strings.Join(words, " ")
}

// Texts returns the statements, one to a line. Compare it with a golden text, in which arguments
// are placeholders.
func Texts(statements []Statement) string {
	lines := make([]string, len(statements))
	for i, s := range statements {
		lines[i] = s.Text
	}
	return strings.Join(lines, "\n")
}

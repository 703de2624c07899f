package enginetest

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

// Recorder is a connector that records the statements of its connections.
type Recorder struct {
	driver.Connector

	mu       sync.Mutex
	ran      []Statement
	prepared []string
}

// Statement is a statement that was run.
type Statement struct {
	Text string
	Args []any
}

func (s Statement) String() string { return s.Text }

// Record opens a new database of e, and returns it with the recorder of its statements.
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

// During returns the statements that are run and prepared while do runs.
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

func (r *Recorder) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := r.Connector.Connect(ctx)
	return NewConn(c, r), err
}

// Conn is a connection of one of the drivers, which all support contexts.
type Conn struct {
	driver.Conn
	recorder *Recorder
}

// NewConn returns a connection that records its statements in r.
func NewConn(c driver.Conn, r *Recorder) *Conn { return &Conn{Conn: c, recorder: r} }

func (c *Conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	result, err := c.Conn.(driver.ExecerContext).ExecContext(ctx, query, args)
	c.recorder.add(err, query, args)
	return result, err
}

// QueryContext calls that of the driver, or returns [driver.ErrSkip] if it has none.
func (c *Conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	q, ok := c.Conn.(driver.QueryerContext)
	if !ok {
		return nil, driver.ErrSkip
	}
	rows, err := q.QueryContext(ctx, query, args)
	c.recorder.add(err, query, args)
	return rows, err
}

func (c *Conn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	c.recorder.mu.Lock()
	c.recorder.prepared = append(c.recorder.prepared, query)
	c.recorder.mu.Unlock()
	s, err := c.Conn.(driver.ConnPrepareContext).PrepareContext(ctx, query)
	return &stmt{Stmt: s, conn: c, query: query}, err
}

func (c *Conn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	c.recorder.add(nil, "BEGIN", nil)
	return c.Conn.(driver.ConnBeginTx).BeginTx(ctx, opts)
}

func (c *Conn) CheckNamedValue(v *driver.NamedValue) error {
	if n, ok := c.Conn.(driver.NamedValueChecker); ok {
		return n.CheckNamedValue(v)
	}
	return driver.ErrSkip
}

// stmt is a prepared statement.
type stmt struct {
	driver.Stmt
	conn  *Conn
	query string
}

func (s *stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
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

// Verbs returns the first words of statements, for counting.
func Verbs(statements []Statement) string {
	words := make([]string, len(statements))
	for i, s := range statements {
		words[i], _, _ = strings.Cut(s.Text, " ")
	}
	return strings.Join(words, " ")
}

// Texts returns the statements, one to a line.
func Texts(statements []Statement) string {
	lines := make([]string, len(statements))
	for i, s := range statements {
		lines[i] = s.Text
	}
	return strings.Join(lines, "\n")
}

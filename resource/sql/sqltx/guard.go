package sqltx

// A wrapper of drivers that rejects statements on a connection that is not that of the context.

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"sync/atomic"
)

// Guard returns a connector for tests. Its pool rejects statements that bypass a [DB]: those with
// the context of a transaction, on a connection other than the transaction's. A store causes them
// if it keeps the *sql.DB and uses it directly. With [Options.Debug] it also rejects statements of
// the goroutine that runs the transaction, with any context.
//
//	db := sqltx.New(sqltx.SQLite, sql.OpenDB(sqltx.Guard(connector)), &sqltx.Options{Debug: true})
func Guard(c driver.Connector) driver.Connector { return &guard{Connector: c} }

var errBypass = errors.New("sqltx: statement would run outside of the current transaction: " +
	"use DB.Writer or DB.Reader instead of the pool")

// guard is a connector with connections that check their statements.
type guard struct {
	driver.Connector
	db atomic.Pointer[DB]
}

// guardedDriver makes the guard accessible through sql.DB.Driver, because a pool does not expose
// its connector.
type guardedDriver struct {
	driver.Driver
	guard *guard
}

func (g *guard) Driver() driver.Driver { return guardedDriver{g.Connector.Driver(), g} }

func (g *guard) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := g.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &guardedConn{Conn: c, guard: g}, nil
}

// adopt sets the DB that a guarded pool checks.
func (db *DB) adopt(pool *sql.DB) {
	if d, ok := pool.Driver().(guardedDriver); ok {
		d.guard.db.Store(db)
	}
}

// own marks a connection as the one of an attempt.
func own(c *sql.Conn, a *attempt) {
	c.Raw(func(inner any) error {
		if g, ok := inner.(*guardedConn); ok {
			g.owner = a
		}
		return nil
	})
}

// guardedConn implements the optional interfaces of package driver with those of the inner
// connection, or with the result that database/sql treats as not implemented.
type guardedConn struct {
	driver.Conn
	guard *guard
	owner *attempt
}

// check rejects a statement of a transaction that has another connection.
func (c *guardedConn) check(ctx context.Context) error {
	db := c.guard.db.Load()
	if db == nil {
		return nil
	}
	a := db.currentAttempt(ctx)
	if a == nil && db.tracker != nil {
		a = db.tracker.current()
	}
	if a != nil && a != c.owner {
		return errBypass
	}
	return nil
}

// ExecContext implements [driver.ExecerContext].
func (c *guardedConn) ExecContext(ctx context.Context, query string,
	args []driver.NamedValue) (driver.Result, error) {
	if err := c.check(ctx); err != nil {
		return nil, err
	}
	if e, ok := c.Conn.(driver.ExecerContext); ok {
		return e.ExecContext(ctx, query, args)
	}
	return nil, driver.ErrSkip
}

// QueryContext implements [driver.QueryerContext].
func (c *guardedConn) QueryContext(ctx context.Context, query string,
	args []driver.NamedValue) (driver.Rows, error) {
	if err := c.check(ctx); err != nil {
		return nil, err
	}
	if q, ok := c.Conn.(driver.QueryerContext); ok {
		return q.QueryContext(ctx, query, args)
	}
	return nil, driver.ErrSkip
}

// PrepareContext implements [driver.ConnPrepareContext]. The statement is checked again when it
// runs, because it may be used in another context.
func (c *guardedConn) PrepareContext(ctx context.Context, query string) (s driver.Stmt, err error) {
	if err := c.check(ctx); err != nil {
		return nil, err
	}
	if p, ok := c.Conn.(driver.ConnPrepareContext); ok {
		s, err = p.PrepareContext(ctx, query)
	} else {
		s, err = c.Conn.Prepare(query)
	}
	if inner, ok := s.(stmtContext); ok && err == nil {
		return &guardedStmt{inner, c}, nil
	}
	return s, err
}

// BeginTx implements [driver.ConnBeginTx].
func (c *guardedConn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	if err := c.check(ctx); err != nil {
		return nil, err
	}
	if b, ok := c.Conn.(driver.ConnBeginTx); ok {
		return b.BeginTx(ctx, opts)
	}
	return nil, errors.New("sqltx: Guard needs a driver with BeginTx")
}

func (c *guardedConn) Ping(ctx context.Context) error {
	if p, ok := c.Conn.(driver.Pinger); ok {
		return p.Ping(ctx)
	}
	return nil
}

// ResetSession clears the owner before the connection is reused.
func (c *guardedConn) ResetSession(ctx context.Context) error {
	c.owner = nil
	if r, ok := c.Conn.(driver.SessionResetter); ok {
		return r.ResetSession(ctx)
	}
	return nil
}

func (c *guardedConn) IsValid() bool {
	v, ok := c.Conn.(driver.Validator)
	return !ok || v.IsValid()
}

func (c *guardedConn) CheckNamedValue(v *driver.NamedValue) error {
	if n, ok := c.Conn.(driver.NamedValueChecker); ok {
		return n.CheckNamedValue(v)
	}
	return driver.ErrSkip
}

// stmtContext is implemented by the statements of all current drivers.
type stmtContext interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// guardedStmt is a prepared statement. It is checked when it runs, because preparing does not
// determine its caller.
type guardedStmt struct {
	stmtContext
	conn *guardedConn
}

func (s *guardedStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	if err := s.conn.check(ctx); err != nil {
		return nil, err
	}
	return s.stmtContext.ExecContext(ctx, args)
}

func (s *guardedStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	if err := s.conn.check(ctx); err != nil {
		return nil, err
	}
	return s.stmtContext.QueryContext(ctx, args)
}

func (s *guardedStmt) CheckNamedValue(v *driver.NamedValue) error {
	if n, ok := s.stmtContext.(driver.NamedValueChecker); ok {
		return n.CheckNamedValue(v)
	}
	return s.conn.CheckNamedValue(v)
}

package sqltx

// Session variables of PostgreSQL for row-level security: Options.Session, and the transactions in
// which they are set. transaction.go and session.go call it.

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// withoutSession is the context key of WithoutSession.
type withoutSession struct{}

// WithoutSession returns a context. Transactions and statements with it do not set the variables of
// [Options].Session. Use it for work without a principal on tables without policies. Policies that
// need a variable then hide all rows. Inside a transaction it has no effect.
//
// Packages sqlfeed and sqlrecords use it for their own tables, and sqltable for CreateTable and
// Check.
func WithoutSession(ctx context.Context) context.Context {
	return context.WithValue(ctx, withoutSession{}, true)
}

func isWithoutSession(ctx context.Context) bool { return ctx.Value(withoutSession{}) != nil }

var errNoVariables = errors.New(
	"sqltx: Options.Session returned no variables; use WithoutSession for work without a principal")

// variables are the session variables of one transaction.
type variables struct {
	statement string // empty if there are none
	args      []any
}

// sessionVariables calls Options.Session and validates its result.
func (db *DB) sessionVariables(ctx context.Context) (v variables, err error) {
	if db.session == nil || isWithoutSession(ctx) {
		return v, nil
	}
	values, err := db.session(ctx)
	switch {
	case err != nil:
		return v, err
	case len(values) == 0:
		return v, errNoVariables
	}
	parts := make([]string, 0, len(values))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		value := values[name]
		switch {
		case !isVariable(name):
			const text = "sqltx: Options.Session: %q is not a variable with a prefix, such as app.tenant"
			return v, fmt.Errorf(text, name)
		case !utf8.ValidString(value) || strings.ContainsRune(value, 0):
			return v, fmt.Errorf("sqltx: Options.Session: value of %s is not text", name)
		}
		n := len(v.args)
		parts = append(parts, "set_config($"+strconv.Itoa(n+1)+"::text, $"+strconv.Itoa(n+2)+"::text, true)")
		v.args = append(v.args, name, value)
	}
	v.statement = "SELECT " + strings.Join(parts, ", ")
	return v, nil
}

// isVariable reports whether name is that of a variable of an application, or role. Settings of the
// server have no prefix.
func isVariable(name string) bool {
	parts := strings.Split(name, ".")
	for _, part := range parts {
		for i, r := range part {
			letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
			if !letter && (i == 0 || r < '0' || r > '9') {
				return false
			}
		}
		if part == "" {
			return false
		}
	}
	return len(parts) > 1 || name == "role"
}

// set sets the variables until the end of a transaction.
func (v variables) set(ctx context.Context, tx *sql.Tx) error {
	if v.statement == "" {
		return nil
	}
	_, err := tx.ExecContext(ctx, v.statement, v.args...)
	return err
}

// sessionPool runs each statement outside transactions in a transaction of its own, which begins with
// the variables. They end with it, so a connection that is reused has none, also if a pooler gives it
// to another client. Without variables, a statement needs no transaction.
type sessionPool struct {
	db   *DB
	pool *sql.DB
}

func newSessionPool(db *DB, pool *sql.DB) *sessionPool { return &sessionPool{db, pool} }

func (p *sessionPool) plain() postgresPool { return postgresPool{p.pool, p.db.attempts} }

// single is the transaction of one statement.
type single struct {
	*sql.Tx
	conn *sql.Conn
}

// beginSingle begins the transaction of one statement. Its isolation level is that of the server, as for
// statements without a transaction.
func (p *sessionPool) beginSingle(ctx context.Context) (*single, error) {
	v, err := p.db.sessionVariables(ctx)
	if err != nil {
		return nil, err
	}
	return onWorking(p.db, func() (*single, error) { return p.beginOn(ctx, v) })
}

// beginOn begins the transaction on a connection of the pool, which may be broken.
func (p *sessionPool) beginOn(ctx context.Context, v variables) (*single, error) {
	conn, err := p.pool.Conn(ctx)
	if err != nil {
		return nil, err
	}
	p.db.idleTimeout.apply(ctx, conn)
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		conn.Close()
		return nil, lostAtBegin(err)
	}
	s := &single{tx, conn}
	if err := v.set(ctx, tx); err != nil {
		return nil, lostAtBegin(s.end(err))
	}
	return s, nil
}

// end commits unless err is an error. The result is err, or that of the commit.
func (s *single) end(err error) error {
	defer s.conn.Close()
	if err != nil {
		s.Rollback()
		return err
	}
	return s.Commit()
}

// ExecContext implements [Conn].
func (p *sessionPool) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if isWithoutSession(ctx) {
		return p.plain().ExecContext(ctx, query, args...)
	}
	return replan(p.db.attempts, func() (sql.Result, error) {
		s, err := p.beginSingle(ctx)
		if err != nil {
			return nil, err
		}
		result, err := s.ExecContext(ctx, query, args...)
		return result, s.end(err)
	})
}

// QueryContext implements [Conn]. The transaction commits when the rows have been read or closed. An
// error of the commit is an error of the rows.
//
// The transaction has to end with the *sql.Rows, and only a driver learns of their end. So the rows are
// those of a virtual connection. Its pool is closed at once, because a DB has no Close.
func (p *sessionPool) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if isWithoutSession(ctx) {
		return p.plain().QueryContext(ctx, query, args...)
	}
	rows := sql.OpenDB(rowsConnector{p})
	defer rows.Close()
	return replan(p.db.attempts, func() (*sql.Rows, error) {
		return rows.QueryContext(ctx, query, args...)
	})
}

// rowsConnector makes virtual connections, which have no state.
type rowsConnector struct{ pool *sessionPool }

func (c rowsConnector) Connect(context.Context) (driver.Conn, error) { return rowsConn(c), nil }
func (c rowsConnector) Driver() driver.Driver                        { return nil }

// rowsConn is a virtual connection. It only runs queries, each on a connection of the actual pool.
type rowsConn rowsConnector

var errRowsOnly = errors.New("sqltx: internal connection only runs queries")

func (c rowsConn) Prepare(string) (driver.Stmt, error)      { return nil, errRowsOnly }
func (c rowsConn) Begin() (driver.Tx, error)                { return nil, errRowsOnly }
func (c rowsConn) Close() error                             { return nil }
func (c rowsConn) CheckNamedValue(*driver.NamedValue) error { return nil } // the actual driver converts

// QueryContext implements [driver.QueryerContext].
func (c rowsConn) QueryContext(
	ctx context.Context, query string, args []driver.NamedValue,
) (driver.Rows, error) {
	s, err := c.pool.beginSingle(ctx)
	if err != nil {
		return nil, err
	}
	values := make([]any, len(args))
	for i, arg := range args {
		values[i] = arg.Value
	}
	rows, err := s.QueryContext(ctx, query, values...)
	if err != nil {
		return nil, s.end(err)
	}
	r := &singleRows{rows: rows, single: s}
	if r.columns, err = rows.Columns(); err != nil {
		rows.Close()
		return nil, s.end(err)
	}
	r.values, r.dests = make([]any, len(r.columns)), make([]any, len(r.columns))
	for i := range r.values {
		r.dests[i] = &r.values[i]
	}
	return r, nil
}

// singleRows are the rows of a statement and its transaction. The pool calls its methods one at a
// time.
type singleRows struct {
	rows          *sql.Rows
	single        *single
	columns       []string
	values, dests []any
	ended         bool
}

func (r *singleRows) Columns() []string { return r.columns }

// Next implements [driver.Rows]. The transaction ends before the end of the rows is reported, because
// callers may ignore an error of Close.
func (r *singleRows) Next(dest []driver.Value) error {
	if !r.rows.Next() {
		if err := r.end(r.rows.Err()); err != nil {
			return err
		}
		return io.EOF
	}
	if err := r.rows.Scan(r.dests...); err != nil {
		return err
	}
	for i, v := range r.values {
		dest[i] = v
	}
	return nil
}

// Close implements [driver.Rows]. The statement has run even if not all rows were read, so it commits
// as it would without a transaction.
func (r *singleRows) Close() error {
	err := r.rows.Close()
	return r.end(errors.Join(err, r.rows.Err()))
}

// end ends the transaction once.
func (r *singleRows) end(err error) error {
	if r.ended {
		return nil
	}
	r.ended = true
	return r.single.end(err)
}

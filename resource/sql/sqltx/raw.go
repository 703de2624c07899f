package sqltx

// Rows in the encoding of PostgreSQL, for stores that convert them on their own. Package sqltable calls
// DB.ReadRaw, and package pgxrows implements RowReader.

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
)

// RowReader runs queries on connections of a driver and returns the rows as the server has sent them. It
// must be safe for concurrent use.
type RowReader interface {
	// ReadRows runs a query on conn, the connection of the driver that [sql.Conn.Raw] passes to its
	// function. When the first row or the end of the result has arrived, it calls read once with the
	// rows, and returns the error of read or of the rows. The rows are closed when it returns.
	//
	// The error is [errors.ErrUnsupported] if conn is of another driver, and [driver.ErrBadConn] if the
	// connection is broken and the server has not received the query. read has not been called then.
	ReadRows(ctx context.Context, conn any, query string, args []any, read func(RawRows) error) error
}

// RawRows are the rows of a query. They are not safe for concurrent use.
type RawRows interface {
	// Columns returns the columns of the result. The caller must not modify the slice.
	Columns() []RawColumn
	// Next advances to the next row. It returns false at the end and after an error, see Err.
	Next() bool
	// Values returns the values of the row in the format of their columns, nil for NULL. They are valid
	// until the next call of Next and must not be modified.
	Values() [][]byte
	// Value returns a value of the row as the driver returns it through database/sql.
	Value(column int) (driver.Value, error)
	// Err returns the error at which Next has stopped, or nil.
	Err() error
}

// RawColumn is the type of a column, and the format of its values.
type RawColumn struct {
	OID    uint32 // of the type, in the catalog pg_type
	Binary bool   // the format is that of the type's send function, not text
}

// HasSession reports whether Options.Session is set, so that rows may depend on the caller.
func (db *DB) HasSession() bool { return db.session != nil }

// ReadRaw runs a query of [DB.Reader] outside transactions with [Options].Rows, and calls read with the
// rows. ran is false if the query must be run with Reader: without Rows, in a transaction, with session
// variables, and if the connection cannot be used. read has not been called then.
func (db *DB) ReadRaw(
	ctx context.Context, query string, args []any, read func(RawRows) error,
) (ran bool, err error) {
	if db.rows == nil || db.session != nil || db.currentAttempt(ctx) != nil ||
		db.tracker != nil && db.tracker.current() != nil {
		return false, nil
	}
	conn, err := db.readers.Conn(ctx)
	if err != nil {
		return true, err
	}
	defer conn.Close()
	called := false
	err = conn.Raw(func(inner any) error {
		if g, ok := inner.(*guardedConn); ok {
			if err := g.check(ctx); err != nil {
				return err
			}
			inner = g.Conn
		}
		return db.rows.ReadRows(ctx, inner, query, args, func(rows RawRows) error {
			called = true
			return read(rows)
		})
	})
	switch {
	case err == nil:
		return true, nil
	case !called && canRepeat(err):
		return false, nil
	case ctx.Err() != nil && !errors.Is(err, ctx.Err()):
		err = fmt.Errorf("%w: %w", ctx.Err(), err)
	}
	return true, explainPooler(err)
}

// canRepeat reports whether a query that failed before its first row has had no effect. The pool of
// database/sql then uses another connection, or prepares the statement again.
func canRepeat(err error) bool {
	return errors.Is(err, errors.ErrUnsupported) || errors.Is(err, driver.ErrBadConn) ||
		find(err, stalePlan) != nil
}

// Package sqlrecords keeps idempotency records in SQLite or PostgreSQL, beside the data.
//
// Its noun is [Store]. It is made of the same *sqltx.DB as the collections, and that is what matters: record and effect
// are written in one transaction then, so that a crash at any moment leaves both or neither, and what is done with a key is
// done exactly once:
//
//	db := sqltx.New(sqltx.PostgreSQL, pool, nil)
//	orders := sqltable.New[Order](db, "orders", nil)
//	records := sqlrecords.New(db, nil)
//	err := records.CreateTable(ctx)
//	keeper := idempotency.New(records, nil)
//	keeper.LevelFor(db) // idempotency.ExactlyOnce
//
// Effects elsewhere are claimed in a statement of its own and finished in another. They are done at most once.
//
// # Nobody waits for a key
//
// PostgreSQL has a second INSERT of a key wait until the first transaction ends, and while it waits it holds a connection:
// a few impatient clients hold all there are. A claim therefore asks first for an advisory lock that is taken or refused at
// once, and which the transaction holds to its end. Who is refused is told that it is in flight. In SQLite there is one
// writer at a time, so whoever claims has waited for its turn already, and finds what the others have done.
//
// Transactions on PostgreSQL may be of any isolation. Under repeatable read, which is what sqltx chooses, a claim that comes
// just when another commits is a conflict, and runs again.
//
// # What is kept
//
// A row holds hashes of whose it is and of what it was for, no key and no principal; the status, fields and ids of the
// answer; and its content. Whoever may read the table reads that content, so it needs the same protection as the data.
package sqlrecords

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
	"github.com/stoa-go/stoa/resource/tx"
)

// Options adjust a Store. The zero value is meaningful.
type Options struct {
	// Table is where records are, with its schema if need be ("api.once"); "idempotency_records" if empty.
	Table string
}

// Store is an [idempotency.Store] in a table. It is safe for concurrent use, also by several processes.
type Store struct {
	db     *sqltx.DB
	name   string // of the table
	sql    statements
	quotas quotas
}

var (
	_ idempotency.Store      = (*Store)(nil)
	_ idempotency.Transactor = (*Store)(nil)
)

// New returns a Store in a database. opts may be nil. It panics if db is nil or Options.Table is no name of a table. It does
// not connect: see [Store.CreateTable].
func New(db *sqltx.DB, opts *Options) *Store {
	if db == nil {
		panic("sqlrecords: New without a database")
	}
	name := "idempotency_records"
	if opts != nil && opts.Table != "" {
		name = opts.Table
	}
	s := &Store{db: db, name: name}
	s.sql = s.newStatements(s.quoted())
	return s
}

// Transactions returns the *sqltx.DB that the Store was made of.
func (s *Store) Transactions() tx.Runner { return s.db }

// quoted is the name of the table as it stands in statements.
func (s *Store) quoted() string {
	parts := strings.Split(s.name, ".")
	for i, part := range parts {
		if part == "" || strings.ContainsRune(part, 0) || len(parts) > 2 {
			panic(fmt.Sprintf("sqlrecords: New with Options.Table %q, which is no name of a table", s.name))
		}
		parts[i] = s.db.Dialect().Quote(part)
	}
	return strings.Join(parts, ".")
}

// fault says what an error of the database means for whoever runs transactions, in whose errors it stays to be found.
func (s *Store) fault(ctx context.Context, what string, err error) error {
	f := s.db.Dialect().Fault(err)
	switch {
	case f.Kind != sqltx.Unavailable:
		return fmt.Errorf("sqlrecords: %s: %w", what, err)
	case f.Lost && !tx.ActiveFor(ctx, s.db): // in a transaction a lost statement is a statement that never was
		return fmt.Errorf("sqlrecords: %s: %w: %w", what, tx.ErrOutcomeUnknown, err)
	}
	return fmt.Errorf("sqlrecords: %s: %w: %w", what, tx.ErrUnavailable, err)
}

// run runs a statement and returns how many rows it has written.
func (s *Store) run(ctx context.Context, what, statement string, args ...any) (int, error) {
	if err := ctx.Err(); err != nil { // not every driver looks at it within a transaction
		return 0, err
	}
	result, err := s.db.Writer(ctx).ExecContext(ctx, statement, args...)
	if err != nil {
		return 0, s.fault(ctx, what, err)
	}
	n, err := result.RowsAffected()
	return int(n), err
}

// read reads the one row that a statement returns, and reports whether there is one. It asks who writes, as it is about what
// was written just now.
func (s *Store) read(ctx context.Context, what, statement string, args []any, into ...any) (found bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	rows, err := s.db.Writer(ctx).QueryContext(ctx, statement, args...)
	if err != nil {
		return false, s.fault(ctx, what, err)
	}
	defer rows.Close()
	if rows.Next() {
		found = true
		if err := rows.Scan(into...); err != nil {
			return false, s.fault(ctx, what, err)
		}
	}
	for rows.Next() { // to its end, where PostgreSQL says whether it went well
	}
	if err := rows.Err(); err != nil {
		return false, s.fault(ctx, what, err)
	}
	return found, nil
}

// moment is how times are kept: integers of microseconds are the same in both dialects and all drivers.
func moment(t time.Time) int64 { return t.UnixMicro() }

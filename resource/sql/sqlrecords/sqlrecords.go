// Package sqlrecords stores idempotency records in SQLite or PostgreSQL, in the database of the
// data.
//
// A [Store] is created from the same *sqltx.DB as the collections. Record and effect then commit in
// one transaction, so a crash at any time leaves both or neither, and a keyed operation takes
// effect exactly once:
//
//	db := sqltx.New(sqltx.PostgreSQL, pool, nil)
//	orders := sqltable.New[Order](db, "orders", nil)
//	records := sqlrecords.New(db, nil)
//	err := records.CreateTable(ctx)
//	guard := idempotency.New(records, nil)
//	guard.LevelFor(db) // idempotency.ExactlyOnce
//
// Effects outside this database are claimed in one statement and finished in another. They take
// effect at most once.
//
// # Concurrency
//
// In PostgreSQL a second INSERT of a key would wait for the first transaction and occupy a
// connection; a few repeated requests could occupy all of them. A claim therefore first tries to
// acquire an advisory lock, which the transaction holds to its end. If that fails, the state is
// InFlight. SQLite has one writer at a time, so a claim sees the result of all previous ones.
//
// Transactions on PostgreSQL may have any isolation level. At repeatable read, the default of
// sqltx, a claim that is concurrent with a commit of the same key is a conflict, and the
// transaction runs again.
//
// # Stored data
//
// A row has hashes of the principal, the key and the request, but none of these themselves; the
// status, header fields and ids of the response; and its content. Protect the table like the data,
// because it contains that content.
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

// Options configures a Store. The zero value selects the defaults.
type Options struct {
	// Table is the name of the table, optionally with a schema ("api.once"). Default
	// "idempotency_records". Services that share a table have Guards with different Services.
	Table string
}

// Store is an [idempotency.Store] in a table. It is safe for concurrent use, also by several
// processes.
type Store struct {
	db     *sqltx.DB
	name   string // of the table
	sql    statements
	quotas quotaCache
}

var (
	_ idempotency.Store      = (*Store)(nil)
	_ idempotency.Transactor = (*Store)(nil)
)

// New returns a Store. It does not connect; [Store.CreateTable] creates the table. A nil opts
// selects the defaults. New panics if db is nil or Options.Table is not a valid name.
func New(db *sqltx.DB, opts *Options) *Store {
	if db == nil {
		panic("sqlrecords: New needs a database, and db is nil")
	}
	name := "idempotency_records"
	if opts != nil && opts.Table != "" {
		name = opts.Table
	}
	s := &Store{db: db, name: name}
	s.sql = s.newStatements(s.quoted())
	return s
}

// Transactions returns the *sqltx.DB that was passed to New.
func (s *Store) Transactions() tx.Runner { return s.db }

// quoted returns the quoted name of the table.
func (s *Store) quoted() string {
	parts := strings.Split(s.name, ".")
	for i, part := range parts {
		if part == "" || strings.ContainsRune(part, 0) || len(parts) > 2 {
			panic(fmt.Sprintf("sqlrecords: invalid Options.Table %q: "+
				"use a table name, with or without a schema", s.name))
		}
		parts[i] = s.db.Dialect().Quote(part)
	}
	return strings.Join(parts, ".")
}

// fault wraps an error of the database in the errors that package tx defines for it. The error of
// the driver remains accessible, so a runner can recognize conflicts.
func (s *Store) fault(ctx context.Context, what string, err error) error {
	f := s.db.Dialect().Fault(err)
	switch {
	case f.Kind != sqltx.Unavailable:
		return fmt.Errorf("sqlrecords: %s: %w", what, err)
	case f.Lost && !tx.ActiveFor(ctx, s.db): // in a transaction a lost statement has no effect
		return fmt.Errorf("sqlrecords: %s: %w: %w", what, tx.ErrOutcomeUnknown, err)
	}
	return fmt.Errorf("sqlrecords: %s: %w: %w", what, tx.ErrUnavailable, err)
}

// run executes a statement and returns the number of rows that it has changed.
func (s *Store) run(ctx context.Context, what, statement string, args ...any) (int, error) {
	if err := ctx.Err(); err != nil { // not all drivers check it in a transaction
		return 0, err
	}
	result, err := s.db.Writer(ctx).ExecContext(ctx, statement, args...)
	if err != nil {
		return 0, s.fault(ctx, what, err)
	}
	n, err := result.RowsAffected()
	return int(n), err
}

// read executes a query and scans its single row. found is false if there is none. It uses the
// writer, because it must see the latest writes.
func (s *Store) read(ctx context.Context, what, statement string, args []any,
	into ...any) (found bool, err error) {
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
	for rows.Next() { // read to the end, where PostgreSQL reports errors
	}
	if err := rows.Err(); err != nil {
		return false, s.fault(ctx, what, err)
	}
	return found, nil
}

// micros returns t as it is stored: an integer of microseconds is the same in both dialects and all
// drivers.
func micros(t time.Time) int64 { return t.UnixMicro() }

// Package sqltx carries transactions of database/sql in a context, for SQLite and PostgreSQL.
//
// A [DB] combines one or two connection pools with a [Dialect]. It is the [tx.Runner] of all stores
// over these pools, so writes to several tables, to an event log and to a store of idempotency
// records commit or roll back together. A store holds a DB instead of a *sql.DB and gets the
// connection of each statement from it:
//
//	func (s *Orders) Create(ctx context.Context, o Order) error {
//		const insert = "INSERT INTO orders (id, status) VALUES ($1, $2)"
//		_, err := s.db.Writer(ctx).ExecContext(ctx, insert, o.ID, o.Status)
//		if s.db.Dialect().Fault(err).Kind == sqltx.Unique {
//			return resource.ErrExists
//		}
//		return err
//	}
//
// A store needs nothing more to take part in transactions. [Options.Debug] and [Guard] detect
// stores that bypass the transaction.
//
// # Connecting to PostgreSQL
//
// Set connect_timeout in the connection string. Without it, pgx waits for a host that does not
// respond until the operating system reports a timeout, which may take minutes, and each statement
// that needs a new connection blocks for that time. Five seconds is a good value:
//
//	pool, err := sql.Open("pgx", "postgres://stoa@db.internal/shop?connect_timeout=5")
//
// With several hosts in the connection string the timeout applies to each host.
//
// # PgBouncer
//
// A pooler in transaction mode gives each transaction any connection of the server. Prepared
// statements of pgx then exist already (42P05) or do not exist (26000), and the second process of a
// service does not start. Connect with default_query_exec_mode=exec:
//
//	pool, err := sql.Open("pgx", "postgres://stoa@pooler.internal:6432/shop?default_query_exec_mode=exec")
//
// The modes cache_describe and simple_protocol work too. The default mode works with PgBouncer 1.21
// and later if its max_prepared_statements is set. Set idle_in_transaction_session_timeout for the
// role, and [Options.Idle] to a negative value. LISTEN, which package pgnotify uses, needs a
// connection to the server itself.
//
// # Synchronous replication
//
// If synchronous_standby_names is set and no standby confirms, a COMMIT of PostgreSQL waits. After
// [Options.CommitTimeout] InTx returns [ErrOutcomeUnknown] and abandons the commit. It does not cancel
// the commit, because that would end the wait: other clients would then see data that a failover
// loses. The commit ends when a standby confirms it or the server ends the connection. If no commit
// waits for a standby, the connection is dead and is closed.
//
// Until then the commit keeps its connection, its locks, and its place in the pool. A quarter of a
// limited pool, and one connection at least, is therefore reserved for statements outside
// transactions, so that reads continue. A pool of two connections runs one transaction at a time.
// While all other transactions have waited for their commit for more than a second, InTx fails with
// [tx.ErrUnavailable] and begins nothing. Without [sql.DB.SetMaxOpenConns] it fails at 32 such
// commits. Set the limit before the first transaction.
//
// A statement outside transactions is canceled when its context ends. Use transactions for writes
// that must not be visible before the standby has them.
//
// # Row-level security
//
// Policies of PostgreSQL restrict the rows of each statement, beneath all code of the program:
//
//	ALTER TABLE orders ENABLE ROW LEVEL SECURITY;
//	ALTER TABLE orders FORCE ROW LEVEL SECURITY; -- also for the owner
//	CREATE POLICY tenant ON orders USING (tenant = nullif(current_setting('app.tenant', true), ''));
//
// The setting is NULL on a connection that never had the variable, and an empty text after the end of a
// transaction that had it. Without nullif the policy would show rows of an empty tenant, and a cast such
// as ::uuid would be an error.
//
// [Options.Session] sets the variable from the context:
//
//	db := sqltx.New(sqltx.PostgreSQL, pool, &sqltx.Options{
//		Session: func(ctx context.Context) (map[string]string, error) {
//			tenant, ok := tenantOf(ctx)
//			if !ok {
//				return nil, resource.ErrForbidden
//			}
//			return map[string]string{"app.tenant": tenant}, nil
//		},
//	})
//
// A statement outside transactions becomes BEGIN, SELECT set_config(...), the statement and COMMIT, on
// one connection. That is correct with a pooler in transaction mode. The role of the connection must
// be neither superuser nor BYPASSRLS. A row that a policy hides is 404; a write that violates WITH
// CHECK is 403. The tables of events, idempotency keys and tombstones have no tenant: a policy on them
// needs a column of its own:
//
//	ALTER TABLE orders_deleted ADD tenant text NOT NULL
//		DEFAULT nullif(current_setting('app.tenant', true), '');
//
// Reads of the event log have no variables (see [WithoutSession]), so events are restricted by Scope
// and Authorize only. A unique constraint covers the rows of all tenants, unless the tenant is part of
// it.
//
// # Drivers
//
// The package imports no driver. It classifies errors by their methods and codes. It is tested with
// modernc.org/sqlite, ncruces/go-sqlite3 and the stdlib package of pgx.
package sqltx

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/stoa-go/stoa/resource/tx"
)

// DB is a database: its pools, its dialect and its transactions. Use [New] to create one. It is
// safe for concurrent use. Stores with the same *DB share transactions.
type DB struct {
	dialect         Dialect
	writer, readers *sql.DB
	// The same pools, for statements outside transactions.
	writing, reading Conn
	isolation        sql.IsolationLevel
	attempts         int
	idleTimeout      idleTimeout
	gate             commitGate
	session          func(context.Context) (map[string]string, error) // Options.Session
	rows             RowReader                                        // Options.Rows
	fault            func(err error) error                            // Options.Fault
	tracker          *goroutineTracker                                // nil unless Options.Debug is set
}

var _ tx.Runner = (*DB)(nil)

// Options configures [New]. The zero value selects the defaults.
type Options struct {
	// Readers is a second pool of the same database for reads outside transactions. Default: the
	// pool of New.
	//
	// SQLite has one writer at a time. With a pool of one connection for writes, writers wait in
	// order instead of polling for the lock, and readers of a second pool run concurrently (in
	// WAL mode).
	//
	// Do not use a replica with replication lag. Clients would not read their own writes, and a
	// list could miss changes that precede its Event-Cursor.
	Readers *sql.DB
	// Isolation is the isolation level of transactions on PostgreSQL. Default repeatable read: a
	// function sees one snapshot, and runs again if a concurrent transaction changes what it
	// writes. SQLite transactions are serializable.
	Isolation sql.IsolationLevel
	// Attempts limits how often InTx runs a function that meets conflicts. Default 20.
	Attempts int
	// Idle limits the time between two statements of a PostgreSQL transaction, after which the
	// server ends it. Default 1m; negative means no limit. It is rounded to milliseconds. If a
	// process loses its network connection, the server would otherwise keep the locks of its
	// transactions for hours, and hold back all later events of the feed.
	//
	// It is set once per connection as idle_in_transaction_session_timeout, unless the server, the
	// role or the connection string sets it. With a pooler in transaction mode the setting would
	// affect other clients: set it for the role instead, and make Idle negative.
	Idle time.Duration
	// CommitTimeout limits how long InTx waits for the commit of a PostgreSQL transaction. Default 30s;
	// negative means no limit. After it the error is [ErrOutcomeUnknown], and the commit continues on
	// its connection; see "Synchronous replication" at the package.
	CommitTimeout time.Duration
	// Session returns session variables of PostgreSQL, by name, for policies of row-level security.
	// They are set at the beginning of each transaction and end with it, as by SET LOCAL. A
	// statement outside transactions runs in one of its own: no statement of the DB runs without
	// them. ctx is that of InTx or of the statement; a nested InTx keeps the variables. Default: no
	// variables. See "Row-level security" at the package.
	//
	// Names have a prefix, such as app.tenant; role is allowed as well. An empty map is an error: use
	// [WithoutSession] for work that needs no variables. An error prevents the transaction and is
	// returned unchanged, so it can be an error of package resource. Session must be safe for concurrent
	// use and must not use the DB with ctx. SQLite does not support it.
	Session func(ctx context.Context) (map[string]string, error)
	// Rows reads rows in the encoding of PostgreSQL for stores that encode them as JSON, which package
	// sqltable does for lists. Package pgxrows implements it for pgx. Default: rows of database/sql. They
	// are also used in transactions, with Session, and for connections of another driver.
	Rows RowReader
	// Fault maps an error of a driver to one of package resource, before a store classifies it: a
	// SQLSTATE of the program, or a RAISE with a text that names a field. It returns nil for other errors.
	// It must be safe for concurrent use. Default: none. Package sqltable calls it.
	Fault func(err error) error
	// Debug makes statements of [DB.Writer] and [DB.Reader] fail if the calling goroutine runs a
	// transaction and their context does not carry it. Without Debug such a statement runs outside
	// the transaction or, with a pool of one connection, blocks forever. Debug takes some
	// microseconds per call and is intended for tests.
	Debug bool
}

// New returns a DB over a pool. It does not connect. A nil opts selects the defaults. New panics if
// pool is nil, if the dialect is neither [SQLite] nor [PostgreSQL], or if opts has a Session or
// Rows for SQLite.
func New(d Dialect, pool *sql.DB, opts *Options) *DB {
	if d != SQLite && d != PostgreSQL {
		panic(fmt.Sprintf("sqltx: New needs the dialect SQLite or PostgreSQL, not %q", d))
	}
	if pool == nil {
		panic("sqltx: New needs a pool, and pool is nil")
	}
	if opts == nil {
		opts = &Options{}
	}
	if opts.Session != nil && d != PostgreSQL {
		panic("sqltx: Options.Session requires PostgreSQL: SQLite has no session variables")
	}
	if opts.Rows != nil && d != PostgreSQL {
		panic("sqltx: Options.Rows requires PostgreSQL")
	}
	db := &DB{
		session:   opts.Session,
		rows:      opts.Rows,
		fault:     opts.Fault,
		dialect:   d,
		writer:    pool,
		readers:   opts.Readers,
		isolation: opts.Isolation,
		attempts:  opts.Attempts,
	}
	if db.readers == nil {
		db.readers = pool
	}
	if db.isolation == sql.LevelDefault {
		db.isolation = sql.LevelRepeatableRead
	}
	if db.attempts <= 0 {
		db.attempts = 20
	}
	db.idleTimeout.timeout = cmp.Or(opts.Idle, time.Minute)
	db.gate.pool, db.gate.timeout = pool, cmp.Or(opts.CommitTimeout, 30*time.Second)
	if opts.Debug {
		db.tracker = newGoroutineTracker()
	}
	switch {
	case d == SQLite:
		db.writing = newStmtCache(db.writer)
		db.reading = db.writing
		if db.readers != db.writer {
			db.reading = newStmtCache(db.readers)
		}
	case db.session != nil:
		db.writing = newSessionPool(db, db.writer)
		db.reading = db.writing
		if db.readers != db.writer {
			db.reading = newSessionPool(db, db.readers)
		}
	default:
		db.writing, db.reading = postgresPool{db.writer, db.attempts}, postgresPool{db.readers, db.attempts}
	}
	db.adopt(db.writer)
	db.adopt(db.readers)
	return db
}

// Dialect returns the dialect of the database.
func (db *DB) Dialect() Dialect { return db.dialect }

// Isolation returns the isolation level of transactions in lower case, such as "repeatable read". It
// is that of [Options], and "serializable" for SQLite.
func (db *DB) Isolation() string {
	if db.dialect == SQLite {
		return "serializable"
	}
	return strings.ToLower(db.isolation.String())
}

// MapFault returns what [Options].Fault returns for an error of a driver, and nil without it.
func (db *DB) MapFault(err error) error {
	if db.fault == nil || err == nil {
		return nil
	}
	return db.fault(err)
}

// Conn runs statements. *sql.DB, *sql.Tx and *sql.Conn implement it.
type Conn interface {
	// ExecContext runs a statement that returns no rows.
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	// QueryContext runs a statement that returns rows, such as SELECT, or INSERT with RETURNING.
	// The caller must close the rows. Until then no other statement can run in the same
	// transaction.
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Writer returns the transaction of ctx, or the pool if ctx carries none. Use it for writes, and
// for reads that must see the latest writes.
//
// Outside transactions, SQLite statements that repeat are prepared; the pool caches the latest
// hundred.
func (db *DB) Writer(ctx context.Context) Conn { return db.conn(ctx, db.writing) }

// Reader returns the transaction of ctx, or the pool for reads if ctx carries none.
func (db *DB) Reader(ctx context.Context) Conn { return db.conn(ctx, db.reading) }

// conn does not fall back to the pool after the transaction of ctx has ended: the caller expects a
// rollback to be possible, so it gets an error.
func (db *DB) conn(ctx context.Context, pool Conn) Conn {
	if a := db.currentAttempt(ctx); a != nil {
		return a
	}
	if db.tracker != nil && db.tracker.current() != nil {
		return strayConn{}
	}
	return pool
}

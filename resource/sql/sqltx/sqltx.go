// Package sqltx carries transactions of database/sql in a context, for SQLite and PostgreSQL.
//
// Its noun is [DB]: one or two pools of connections with a [Dialect]. It is the [tx.Runner] of every store over those
// pools, so that writes to several tables, to a log of events and to a store of idempotency records stand or fall
// together. A store holds a DB instead of a *sql.DB, and asks it for the connection of each statement:
//
//	func (s *Orders) Create(ctx context.Context, o Order) error {
//		_, err := s.db.Writer(ctx).ExecContext(ctx, "INSERT INTO orders (id, status) VALUES ($1, $2)", o.ID, o.Status)
//		if s.db.Dialect().Fault(err).Kind == sqltx.Unique {
//			return resource.ErrExists
//		}
//		return err
//	}
//
// That is all a store has to do to take part in transactions. [Options.Debug] and [Guard] find the stores that forget.
//
// The package imports no driver: what it has to know about errors it asks them by method and by code. It has been
// tried with modernc.org/sqlite, ncruces/go-sqlite3 and pgx (through its package stdlib).
package sqltx

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/stoa-go/stoa/resource/tx"
)

// DB is a database: its pools, its dialect and its transactions. It is made by [New] and safe for concurrent use. Stores
// that share a *DB share transactions; that the pointers are equal is how others know.
type DB struct {
	dialect         Dialect
	writer, readers *sql.DB
	// The same pools as those who run single statements see them.
	writing, reading Conn
	isolation        sql.IsolationLevel
	attempts         int
	patience         patience
	watch            *watch // nil unless Options.Debug
}

var _ tx.Runner = (*DB)(nil)

// Options are what [New] takes besides the pool. Nil is the zero Options.
type Options struct {
	// Readers is a second pool of the same database, for reads outside of transactions; nil is the one pool for all.
	//
	// SQLite has one writer at a time. A pool of one connection for writing makes writers wait in turn instead of
	// polling for the lock, and a pool for reading lets readers go on beside it (in WAL mode).
	//
	// It is no place for a replica that lags: writers would be told what is not so any more, and a list from before its
	// Event-Cursor would leave out, for whoever goes on from there, what the replica had not heard of yet.
	Readers *sql.DB
	// Isolation is that of transactions on PostgreSQL. The default is repeatable read: a function sees one state of the
	// database, and is run again if somebody else changes what it writes. In SQLite transactions are serializable.
	Isolation sql.IsolationLevel
	// Attempts is how often InTx runs a function that meets conflicts, by default 20 times.
	Attempts int
	// Idle is how long a transaction of PostgreSQL may stand still between two statements until the server ends it: 1 minute
	// if zero, which is rounded to milliseconds, and for ever below zero. A process that is cut off, with its machine or by
	// the network, cannot say that it is gone, and without an end the server keeps for hours what its transactions have
	// locked, and every event behind theirs back from all who listen.
	//
	// It is told to each connection once, as idle_in_transaction_session_timeout, unless the server, the role or the
	// connection has one already. A pooler that hands connections of the server out for single transactions would give it
	// to others as well: there it belongs to the role, and below zero here.
	Idle time.Duration
	// Debug makes [DB.Writer] and [DB.Reader] fail when they are asked, by the goroutine that runs a transaction, with a
	// context that does not carry it. Elsewhere such a statement succeeds, outside of the transaction, or, with a pool
	// of one connection, waits for ever. It costs some microseconds each time, so it is for tests.
	Debug bool
}

// New makes a DB of a pool. It does not connect. It panics if the dialect is neither [SQLite] nor [PostgreSQL].
func New(d Dialect, pool *sql.DB, opts *Options) *DB {
	if d != SQLite && d != PostgreSQL {
		panic(fmt.Sprintf("sqltx: New with the dialect %q: use SQLite or PostgreSQL", d))
	}
	if pool == nil {
		panic("sqltx: New without a pool")
	}
	if opts == nil {
		opts = &Options{}
	}
	db := &DB{dialect: d, writer: pool, readers: opts.Readers, isolation: opts.Isolation, attempts: opts.Attempts}
	if db.readers == nil {
		db.readers = pool
	}
	if db.isolation == sql.LevelDefault {
		db.isolation = sql.LevelRepeatableRead
	}
	if db.attempts <= 0 {
		db.attempts = 20
	}
	db.patience.idle = cmp.Or(opts.Idle, time.Minute)
	if opts.Debug {
		db.watch = newWatch()
	}
	db.writing, db.reading = db.writer, db.readers
	if d == SQLite {
		db.writing = newPrepared(db.writer)
		db.reading = db.writing
		if db.readers != db.writer {
			db.reading = newPrepared(db.readers)
		}
	}
	db.adopt(db.writer)
	db.adopt(db.readers)
	return db
}

// Dialect returns the dialect that the DB was made with.
func (db *DB) Dialect() Dialect { return db.dialect }

// Conn runs statements. A *sql.DB, a *sql.Tx and a *sql.Conn are Conns.
type Conn interface {
	// ExecContext runs a statement that returns no rows.
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	// QueryContext runs a statement that returns rows, such as a SELECT, or an INSERT with RETURNING. Who calls it closes
	// the rows; until then nothing else can run on the connection of a transaction.
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Writer returns the transaction that ctx carries, or else the pool. It is for statements that write, and for reads that
// must see what was written just now.
//
// Of statements outside of transactions the pool of SQLite keeps those prepared that come again, the latest hundred.
func (db *DB) Writer(ctx context.Context) Conn { return db.conn(ctx, db.writing) }

// Reader returns the transaction that ctx carries, or else the pool for reading.
func (db *DB) Reader(ctx context.Context) Conn { return db.conn(ctx, db.reading) }

// conn does not fall back to the pool once the transaction of ctx is over: whoever still has that context believes that
// a rollback is possible, and gets an error.
func (db *DB) conn(ctx context.Context, pool Conn) Conn {
	if a := db.currentAttempt(ctx); a != nil {
		return a
	}
	if db.watch != nil && db.watch.current() != nil {
		return strayConn{}
	}
	return pool
}

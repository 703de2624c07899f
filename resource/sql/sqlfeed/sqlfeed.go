// Package sqlfeed stores the events of a change feed in SQLite or PostgreSQL, in the transaction of
// each change.
//
// A [Log] is a [feed.Log]: an event is committed or rolled back with the write that it reports, so
// a process that is killed loses no event and reports no write that did not happen. Any number of
// processes may append and read.
//
//	log := sqlfeed.New(db, nil) // db is the *sqltx.DB of the collections
//	if err := log.CreateTable(ctx); err != nil { ... }
//	catalog := resource.NewCatalog(&resource.CatalogOptions{Feed: feed.New(log, nil)}, orders)
package sqlfeed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
	"github.com/stoa-go/stoa/resource/tx"
)

// Options configure a Log. The zero value is valid.
type Options struct {
	// Table is the name of the table of events. Default "events". A second table, with the same
	// name and the suffix "_log", has one row: the epoch, and the cursor up to which events were
	// purged.
	Table string
	// SerializeAppends makes transactions of PostgreSQL that append run one after another, from
	// Append to commit, so that events are numbered in the order of the commits. By default they
	// run concurrently, and Tail and Head wait for transactions that have not ended. All processes
	// must use the same value. SQLite has one writer in any case.
	SerializeAppends bool
	// Logger receives a warning if events of PostgreSQL wait for an open transaction for seconds.
	// Default [slog.Default].
	Logger *slog.Logger
}

// Log is a [feed.Log] in a table of the database of the data. Append takes part in the transaction
// of its context. A Log is safe for concurrent use, also by several processes with a Log each.
//
// Append should be the last statement of a transaction, because readers wait for its end before
// they pass its events. A transaction that takes minutes delays later events of all others by as
// long.
type Log struct {
	db         *sqltx.DB
	serialized bool
	sql        statements
	wake       chan struct{}
	logger     *slog.Logger

	mu       sync.Mutex
	progress progress
	warned   time.Time // when a wait was last logged
}

// New returns a Log. opts may be nil. It does not connect; [Log.CreateTable] creates the tables. It
// panics if db is nil.
func New(db *sqltx.DB, opts *Options) *Log {
	if db == nil {
		panic("sqlfeed: New without a database")
	}
	if opts == nil {
		opts = &Options{}
	}
	return &Log{
		db:         db,
		serialized: opts.SerializeAppends && db.Dialect() == sqltx.PostgreSQL,
		sql:        newStatements(db.Dialect(), cmp.Or(opts.Table, "events")),
		wake:       make(chan struct{}, 1),
		logger:     cmp.Or(opts.Logger, slog.Default()),
	}
}

var (
	_ feed.Log        = (*Log)(nil)
	_ feed.Transactor = (*Log)(nil)
)

// Transactions returns the database that was passed to New.
func (l *Log) Transactions() tx.Runner { return l.db }

// Wake implements [feed.Log]. It reports events that this process has appended.
func (l *Log) Wake() <-chan struct{} { return l.wake }

// DDL returns the statements that create the tables. A migration tool must also insert the row of
// the epoch, as CreateTable does.
func (l *Log) DDL() string { return strings.Join(l.sql.create, ";\n") + ";\n" }

// CreateTable creates the tables unless they exist, and draws the epoch. Several processes may call
// it concurrently.
func (l *Log) CreateTable(ctx context.Context) error {
	ctx = sqltx.WithoutSession(ctx)
	return l.db.InTx(ctx, func(ctx context.Context) error {
		w := l.db.Writer(ctx)
		// On PostgreSQL, IF NOT EXISTS fails if another transaction is creating the table.
		if l.db.Dialect() == sqltx.PostgreSQL {
			if _, err := w.ExecContext(ctx, l.sql.lock, l.sql.lockKey); err != nil {
				return err
			}
		}
		for _, text := range l.sql.create {
			if _, err := w.ExecContext(ctx, text); err != nil {
				return err
			}
		}
		_, err := w.ExecContext(ctx, l.sql.insertEpoch, 1+rand.Int64N(1<<62), rand.Int64())
		return err
	})
}

// errNoEpoch reports that the tables exist without the row of the epoch.
var errNoEpoch = errors.New("sqlfeed: the log has no epoch; call CreateTable")

// fault wraps an error of a busy or unreachable database in [tx.ErrUnavailable]: a read may be
// retried, and so may a write, which is rolled back with its event.
func (l *Log) fault(err error) error {
	if err == nil || errors.Is(err, tx.ErrUnavailable) || errors.Is(err, tx.ErrOutcomeUnknown) {
		return err
	}
	if kind := l.db.Dialect().Fault(err).Kind; kind == sqltx.Conflict || kind == sqltx.Unavailable {
		return fmt.Errorf("%w: %w", tx.ErrUnavailable, err)
	}
	return err
}

// notify wakes the reader of this process. Other processes find new events when they poll.
func (l *Log) notify() {
	select {
	case l.wake <- struct{}{}:
	default: // a notification is pending
	}
}

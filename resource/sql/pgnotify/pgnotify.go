package pgnotify

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/internal/pace"
	"github.com/stoa-go/stoa/resource/sql/sqlfeed"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
	"github.com/stoa-go/stoa/resource/tx"
)

// Options adjust a Log. The zero value is meaningful.
type Options struct {
	// Channel is the one of PostgreSQL that processes tell each other on; "stoa" if empty. Logs of one database may share it:
	// whoever is told looks, and finds nothing.
	Channel string
	// Gap is how long a process waits after it has told until it tells again; 10 ms if zero.
	Gap time.Duration
	// Check is how often the connection that is listened on is asked whether it still is one; 30 seconds if zero.
	Check time.Duration
	// Logger is told when listening or telling fails; nil is [slog.Default].
	Logger *slog.Logger
}

// Log is a sqlfeed.Log that tells other processes of what it appends, and is told by them. It is safe for concurrent use.
type Log struct {
	*sqlfeed.Log
	db     *sqltx.DB
	config *pgx.ConnConfig
	opts   Options

	self     string        // marks what this process tells, which it knows
	appended chan struct{} // there is something to tell
	wake     chan struct{}
}

var (
	_ feed.Log        = (*Log)(nil)
	_ feed.Transactor = (*Log)(nil)
)

// New returns a Log over one in PostgreSQL. config says where to listen, and opts may be nil. It does not connect; without
// [Log.Run] it is as the log beneath. It panics if log or config is nil, or if the log is not in PostgreSQL.
func New(log *sqlfeed.Log, config *pgx.ConnConfig, opts *Options) *Log {
	if log == nil || config == nil {
		panic("pgnotify: New without a log or without a connection to listen on")
	}
	db, ok := log.Transactions().(*sqltx.DB)
	if !ok || db.Dialect() != sqltx.PostgreSQL {
		panic("pgnotify: New with a log that is not in PostgreSQL")
	}
	var o Options
	if opts != nil {
		o = *opts
	}
	o.Channel = cmp.Or(o.Channel, "stoa")
	o.Gap = cmp.Or(max(o.Gap, 0), 10*time.Millisecond)
	o.Check = cmp.Or(max(o.Check, 0), 30*time.Second)
	o.Logger = cmp.Or(o.Logger, slog.Default())
	return &Log{Log: log, db: db, config: config.Copy(), opts: o, self: strconv.FormatUint(rand.Uint64(), 36),
		appended: make(chan struct{}, 1), wake: make(chan struct{}, 1)}
}

// Append is that of the log beneath. Once it is committed, this process looks at once, and others are told.
func (l *Log) Append(ctx context.Context, events ...*feed.Event) error {
	err := l.Log.Append(ctx, events...)
	if err == nil && len(events) > 0 {
		tx.AfterCommit(ctx, func() {
			pace.Hint(l.wake)
			pace.Hint(l.appended)
		})
	}
	return err
}

// Wake is that of feed.Log: it knows of what all processes have appended, as long as Run runs in them.
func (l *Log) Wake() <-chan struct{} { return l.wake }

// Run listens and tells until ctx ends. When the database fails it tries again, and again. It is called once.
func (l *Log) Run(ctx context.Context) {
	var works sync.WaitGroup
	works.Go(func() { l.repeat(ctx, l.listen) })
	works.Go(func() { l.repeat(ctx, l.tell) })
	works.Wait()
}

// repeat calls something that ends in an error, less often as it fails again.
func (l *Log) repeat(ctx context.Context, do func(ctx context.Context) error) {
	pace.Repeat(ctx, do, func(err error) {
		l.opts.Logger.Warn("pgnotify: processes do not tell each other of changes, and look for them; it is tried again", "error", err)
	})
}

// tell tells the others, by a statement that is in nobody's transaction.
func (l *Log) tell(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-l.appended:
		}
		if _, err := l.db.Writer(ctx).ExecContext(ctx, "SELECT pg_notify($1, $2)", l.opts.Channel, l.self); err != nil {
			return err
		}
		if err := pace.Pause(ctx, l.opts.Gap); err != nil {
			return err
		}
	}
}

// listen listens on a connection as long as it lasts.
func (l *Log) listen(ctx context.Context) error {
	conn, err := pgx.ConnectConfig(ctx, l.config)
	if err != nil {
		return err
	}
	defer closeConn(conn)
	if _, err := conn.Exec(ctx, "LISTEN "+pgx.Identifier{l.opts.Channel}.Sanitize()); err != nil {
		return err
	}
	pace.Hint(l.wake) // what was told before was not heard
	for {
		err := l.hear(ctx, conn)
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			err = l.check(ctx, conn)
		}
		if err != nil {
			return err
		}
	}
}

// hear waits for somebody who tells.
func (l *Log) hear(ctx context.Context, conn *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, l.opts.Check)
	defer cancel()
	n, err := conn.WaitForNotification(ctx)
	if err == nil && n.Payload != l.self {
		pace.Hint(l.wake)
	}
	return err
}

// check asks the server for an answer: where the network has gone, nobody says so.
func (l *Log) check(ctx context.Context, conn *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, l.opts.Check)
	defer cancel()
	return conn.Ping(ctx)
}

// closeConn says good-bye, if that can be done soon; the connection ends anyhow.
func closeConn(conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = conn.Close(ctx)
}

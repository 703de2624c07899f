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

// Options configure a Log. The zero value is valid.
type Options struct {
	// Channel is the channel of NOTIFY and LISTEN. Default "stoa". Logs of one database may share
	// it: a process that is notified reads its log and finds nothing new.
	Channel string
	// NotifyInterval is the least time between two notifications that a process sends. Default
	// 10ms.
	NotifyInterval time.Duration
	// PingInterval is how long the listening connection may be idle before it is pinged, because a
	// broken TCP connection may never report an error. Default 30s.
	PingInterval time.Duration
	// Logger receives errors of the connections. Default [slog.Default].
	Logger *slog.Logger
}

// Log is a [sqlfeed.Log] that notifies other processes of the events that it appends. It is safe
// for concurrent use.
type Log struct {
	*sqlfeed.Log
	db     *sqltx.DB
	config *pgx.ConnConfig
	opts   Options

	self     string        // payload of the notifications of this process, which it ignores
	appended chan struct{} // a notification is due
	wake     chan struct{}
}

var (
	_ feed.Log        = (*Log)(nil)
	_ feed.Transactor = (*Log)(nil)
)

// New returns a Log that wraps one in PostgreSQL. config is that of the listening connection, and
// opts may be nil. New does not connect; until [Log.Run] is called the Log behaves like the wrapped
// one. It panics if log or config is nil, or if the log is not in PostgreSQL.
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
	o.NotifyInterval = cmp.Or(max(o.NotifyInterval, 0), 10*time.Millisecond)
	o.PingInterval = cmp.Or(max(o.PingInterval, 0), 30*time.Second)
	o.Logger = cmp.Or(o.Logger, slog.Default())
	return &Log{Log: log, db: db, config: config.Copy(), opts: o, self: strconv.FormatUint(rand.Uint64(), 36),
		appended: make(chan struct{}, 1), wake: make(chan struct{}, 1)}
}

// Append appends to the wrapped log. After the commit it wakes this process and schedules a
// notification of the others.
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

// Wake implements [feed.Log]. It reports events of all processes in which Run is running.
func (l *Log) Wake() <-chan struct{} { return l.wake }

// Run sends and receives notifications until ctx is done. It reconnects after an error. It must be
// called once.
func (l *Log) Run(ctx context.Context) {
	var loops sync.WaitGroup
	loops.Go(func() { l.retry(ctx, l.listen) })
	loops.Go(func() { l.retry(ctx, l.notify) })
	loops.Wait()
}

// retry calls loop again when it returns an error, with a delay that grows.
func (l *Log) retry(ctx context.Context, loop func(ctx context.Context) error) {
	pace.Repeat(ctx, loop, func(err error) {
		l.opts.Logger.Warn(
			"pgnotify: notifications failed; events are found by polling until a retry succeeds",
			"error", err)
	})
}

// notify sends a notification when events were appended, outside of their transactions.
func (l *Log) notify(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-l.appended:
		}
		const notify = "SELECT pg_notify($1, $2)"
		if _, err := l.db.Writer(ctx).ExecContext(ctx, notify, l.opts.Channel, l.self); err != nil {
			return err
		}
		if err := pace.Pause(ctx, l.opts.NotifyInterval); err != nil {
			return err
		}
	}
}

// listen receives notifications on one connection until it fails.
func (l *Log) listen(ctx context.Context) error {
	conn, err := pgx.ConnectConfig(ctx, l.config)
	if err != nil {
		return err
	}
	defer closeConn(conn)
	if _, err := conn.Exec(ctx, "LISTEN "+pgx.Identifier{l.opts.Channel}.Sanitize()); err != nil {
		return err
	}
	pace.Hint(l.wake) // notifications before LISTEN were lost
	for {
		err := l.receive(ctx, conn)
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			err = l.ping(ctx, conn)
		}
		if err != nil {
			return err
		}
	}
}

// receive waits for one notification, up to PingInterval.
func (l *Log) receive(ctx context.Context, conn *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, l.opts.PingInterval)
	defer cancel()
	n, err := conn.WaitForNotification(ctx)
	if err == nil && n.Payload != l.self {
		pace.Hint(l.wake)
	}
	return err
}

// ping checks that the connection still works.
func (l *Log) ping(ctx context.Context, conn *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, l.opts.PingInterval)
	defer cancel()
	return conn.Ping(ctx)
}

// closeConn closes a connection, which may be broken, within a second.
func closeConn(conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = conn.Close(ctx)
}

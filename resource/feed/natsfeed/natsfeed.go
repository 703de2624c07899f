package natsfeed

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/internal/pace"
	"github.com/stoa-go/stoa/resource/tx"
)

// Options configures a Log. The zero value selects the defaults.
type Options struct {
	// Stream is the name of the stream and the first token of its subjects. Default "stoa".
	// NAME.events has the events, NAME.news republishes stored messages, and processes publish to
	// NAME.wake after an append. Each log needs a stream of its own.
	Stream string
	// Replicas is the number of servers that store the stream, if Run creates it. Default 1. An
	// existing stream is not changed; it must republish to NAME.news and allow direct access.
	Replicas int
	// Age and Bytes limit the messages of a stream that Run creates. Default 24h and 1 GiB. Older
	// events are read from the log.
	Age   time.Duration
	Bytes int64
	// Events is how many recent events are buffered in memory. Default 4096. The buffer shares them
	// with the [feed.Feed] that reads this Log.
	Events int
	// Poll is the delay between reads of the log by the publishing relay. Default 100ms.
	Poll time.Duration
	// Check is how long the stream may be silent before the log is checked for missing events.
	// Default 1s.
	Check time.Duration
	// ReadOnly prevents Run from publishing and from creating the stream.
	ReadOnly bool
	// Logger receives errors of NATS. Default [slog.Default].
	Logger *slog.Logger
}

// Log is a [feed.Log] that reads another log through a stream. It is safe for concurrent use.
type Log struct {
	source feed.Log
	js     jetstream.JetStream
	opts   Options

	window    window
	cursors   seqCache
	appended  chan struct{} // receives a value after an append of this process
	wakeRelay chan struct{} // receives a value when the relay should read the log
	wake      chan struct{}
	lastEmpty atomic.Int64 // when the log last had no event after the stream, in Unix nanoseconds
}

var (
	_ feed.Log        = (*Log)(nil)
	_ feed.Transactor = (*Log)(nil)
)

// New returns a Log over source. A nil opts selects the defaults. New does not connect; until
// [Log.Run] is called, all events are read from source. It panics if source or js is nil, or if the
// stream's name is not a valid token of a subject.
func New(source feed.Log, js jetstream.JetStream, opts *Options) *Log {
	if source == nil || js == nil {
		panic("natsfeed: New needs a source and a JetStream, and one of them is nil")
	}
	var o Options
	if opts != nil {
		o = *opts
	}
	o.Stream = cmp.Or(o.Stream, "stoa")
	if strings.ContainsAny(o.Stream, " \t\r\n.*>/\\") {
		panic("natsfeed: Options.Stream must not contain a space, dot, slash or wildcard")
	}
	o.Replicas = cmp.Or(o.Replicas, 1)
	o.Age = cmp.Or(o.Age, 24*time.Hour)
	o.Bytes = cmp.Or(o.Bytes, 1<<30)
	o.Events = cmp.Or(max(o.Events, 0), 4096)
	o.Poll = cmp.Or(max(o.Poll, 0), 100*time.Millisecond)
	o.Check = cmp.Or(max(o.Check, 0), time.Second)
	o.Logger = cmp.Or(o.Logger, slog.Default())
	l := &Log{source: source, js: js, opts: o}
	l.window.maxEvents = o.Events
	l.appended, l.wakeRelay, l.wake = make(chan struct{}, 1), make(chan struct{}, 1), make(chan struct{}, 1)
	return l
}

// events, news and wakes return the subjects. Only events is stored; news is written by the server,
// and wakes by processes.
func (l *Log) events() string { return l.opts.Stream + ".events" }
func (l *Log) news() string   { return l.opts.Stream + ".news" }
func (l *Log) wakes() string  { return l.opts.Stream + ".wake" }

// Transactions returns the Runner of the underlying log, or nil if that is not a [feed.Transactor].
func (l *Log) Transactions() tx.Runner {
	if t, ok := l.source.(feed.Transactor); ok {
		return t.Transactions()
	}
	return nil
}

// Append appends to the underlying log. After the commit it wakes the relays of all processes.
func (l *Log) Append(ctx context.Context, events ...*feed.Event) error {
	err := l.source.Append(ctx, events...)
	if err == nil && len(events) > 0 {
		tx.AfterCommit(ctx, func() {
			pace.Hint(l.appended)
			pace.Hint(l.wakeRelay)
			pace.Hint(l.wake)
		})
	}
	return err
}

// Head returns the head of the underlying log.
func (l *Log) Head(ctx context.Context) (feed.Cursor, error) { return l.source.Head(ctx) }

// Wake implements [feed.Log]. While Run is running it reports appends of all processes.
func (l *Log) Wake() <-chan struct{} { return l.wake }

// Purge purges the underlying log and removes the purged events from the stream. Another process
// may still deliver events that it has in memory.
func (l *Log) Purge(ctx context.Context, before time.Time, keep, max int) (int, error) {
	n, err := l.source.Purge(ctx, before, keep, max)
	if err != nil || n == 0 {
		return n, err
	}
	if err := l.purgeStream(ctx); err != nil && ctx.Err() == nil {
		l.window.invalidate() // because it may have purged events
		if !errors.Is(err, jetstream.ErrStreamNotFound) {
			l.opts.Logger.Warn("natsfeed: purging the stream failed after the log was purged", "error", err)
		}
	}
	return n, nil
}

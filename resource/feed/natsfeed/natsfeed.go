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

// Options adjust a Log. The zero value is meaningful.
type Options struct {
	// Stream is the name of the stream, "stoa" if empty, and the first token of its subjects: NAME.events has the events,
	// NAME.news repeats what was stored, and on NAME.wake processes tell that they have appended. A stream is for one log.
	Stream string
	// Replicas is how many servers keep the stream when Run makes it; 1 if zero. A stream that exists is left as it is, but
	// it has to republish to NAME.news and to allow direct access.
	Replicas int
	// Age and Bytes bound the stream that Run makes: how old messages become, 24 hours if zero, and how many bytes they take
	// together on a server; 1 GiB if zero. What is older is read in the log.
	Age   time.Duration
	Bytes int64
	// Events is how many of the newest events are held in memory, 4096 if zero; they are shared with the [feed.Feed] above.
	Events int
	// Poll is how often the relay that publishes looks at the log, whatever it is told; 100 ms if zero.
	Poll time.Duration
	// Check is how long the stream may be silent until the log is looked at for what may be missing; a second if zero.
	Check time.Duration
	// ReadOnly keeps Run from publishing, and from making the stream: it follows only.
	ReadOnly bool
	// Logger is told when NATS fails; nil is [slog.Default].
	Logger *slog.Logger
}

// Log is a [feed.Log] over another one, which is read by way of a stream. It is safe for concurrent use.
type Log struct {
	source feed.Log
	js     jetstream.JetStream
	opts   Options

	window   window
	places   places
	appended chan struct{} // this process has
	poke     chan struct{} // asks the relay to look at once
	wake     chan struct{}
	looked   atomic.Int64 // when the log last had nothing that the stream had not, in nanoseconds of Unix time
}

var (
	_ feed.Log        = (*Log)(nil)
	_ feed.Transactor = (*Log)(nil)
)

// New returns a Log over source. opts may be nil. It does not connect: until [Log.Run] is called everything is read in source.
// It panics if source or js is nil, or if the name of the stream cannot be a token of a subject.
func New(source feed.Log, js jetstream.JetStream, opts *Options) *Log {
	if source == nil || js == nil {
		panic("natsfeed: New without a log or without JetStream")
	}
	var o Options
	if opts != nil {
		o = *opts
	}
	o.Stream = cmp.Or(o.Stream, "stoa")
	if strings.ContainsAny(o.Stream, " \t\r\n.*>/\\") {
		panic("natsfeed: a stream with a space, a dot, a slash or a wildcard in its name")
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
	l.appended, l.poke, l.wake = make(chan struct{}, 1), make(chan struct{}, 1), make(chan struct{}, 1)
	return l
}

func (l *Log) events() string { return l.opts.Stream + ".events" }
func (l *Log) news() string   { return l.opts.Stream + ".news" }
func (l *Log) wakes() string  { return l.opts.Stream + ".wake" }

// Transactions returns the Runner of the log beneath, nil if it is no [feed.Transactor].
func (l *Log) Transactions() tx.Runner {
	if t, ok := l.source.(feed.Transactor); ok {
		return t.Transactions()
	}
	return nil
}

// Append appends to the log beneath. Once that is committed the relays are told, here and elsewhere.
func (l *Log) Append(ctx context.Context, events ...*feed.Event) error {
	err := l.source.Append(ctx, events...)
	if err == nil && len(events) > 0 {
		tx.AfterCommit(ctx, func() {
			pace.Hint(l.appended)
			pace.Hint(l.poke)
			pace.Hint(l.wake)
		})
	}
	return err
}

// Head is that of the log beneath, which a [feed.Feed] asks once.
func (l *Log) Head(ctx context.Context) (feed.Cursor, error) { return l.source.Head(ctx) }

// Wake is that of feed.Log: it knows of what all processes have appended, as long as Run runs.
func (l *Log) Wake() <-chan struct{} { return l.wake }

// Purge purges the log beneath, and removes from the stream what is not there any more. What another process still has of it
// in memory, whoever listens there may be told.
func (l *Log) Purge(ctx context.Context, before time.Time, keep, max int) (int, error) {
	n, err := l.source.Purge(ctx, before, keep, max)
	if err != nil || n == 0 {
		return n, err
	}
	if err := l.purgeStream(ctx); err != nil && ctx.Err() == nil {
		l.window.forget() // which may have what is gone
		if !errors.Is(err, jetstream.ErrStreamNotFound) {
			l.opts.Logger.Warn("natsfeed: the log was purged, and the stream was not", "error", err)
		}
	}
	return n, nil
}

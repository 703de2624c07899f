package feed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// ErrClosed reports that the [Feed] was closed, usually because the process is shutting down. The
// subscriber can continue from its last cursor in another process.
var ErrClosed = errors.New("feed: closed")

// Options configures a Feed. The zero value selects the defaults.
type Options struct {
	// BufferEvents and BufferBytes limit the ring buffer of recent events. Default 4096 events and
	// 16 MiB. Values cached with [Event.Memo], such as decoded items, do not count. With those of
	// one contract an event takes two to four times as much memory.
	BufferEvents int
	BufferBytes  int64

	// PollInterval is the delay between reads of the log. Default 100ms. After an error the delay
	// doubles with each failure, up to 5s.
	PollInterval time.Duration

	// ReadTimeout limits a single read of the log. Default 10s; negative means no limit. A read
	// that times out is retried, on a different connection if the log has a pool, because a broken
	// TCP connection may never report an error. A call of [Feed.Watch] or [Feed.Position] that has to
	// wait longer for the position fails. It does not apply to [Watcher] collections.
	ReadTimeout time.Duration

	// MaxReads limits how many subscribers read the log concurrently because they need
	// events that the buffer no longer has. Default 4.
	MaxReads int

	// BookmarkInterval is how often an idle subscriber receives a bookmark, an event that carries
	// only its current cursor. Default 30s; negative disables bookmarks, except the first one of
	// Watch.
	BookmarkInterval time.Duration

	// Retention is how long events are kept in the log. Default 24h; negative keeps them forever.
	// MaxEvents limits their number. Default 1,000,000; negative means no limit. The feed purges
	// the log about once a minute, from the first call of Watch or Position on. A subscriber with a
	// purged cursor receives [ErrExpired].
	Retention time.Duration
	MaxEvents int

	// Logger receives errors of the log. Default [slog.Default].
	Logger *slog.Logger
}

// Feed reads a log once and delivers its events to all subscribers of the process. It is safe for
// concurrent use.
//
// One goroutine, tailLoop, copies new events from the log to the ring buffer. Subscribers run in
// the goroutines of their callers: they follow the ring without locks and read the log themselves
// if they are older than the ring.
type Feed struct {
	log  Log
	opts Options

	// ctx is canceled by Close. It ends the goroutines and all reads of the log.
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup
	// reads holds one value for each subscriber that reads the log.
	reads chan struct{}
	// wake makes tailLoop read the log without waiting for the poll interval.
	wake chan struct{}

	// expired counts consecutive ErrExpired results. Only tailLoop uses it.
	expired int

	// closing serializes the part of Close that fills reads.
	closing sync.Mutex

	mu      sync.Mutex
	started bool
	ring    ring
	// moved is closed when the end of the ring changes; nil if no subscriber waits.
	moved chan struct{}

	// parent is the Feed that this one is a branch of; nil if it is not a branch.
	parent *Feed
	// branches are closed together with this Feed.
	branches map[*Feed]struct{}

	// position is the end of the ring; nil until the log was read.
	position atomic.Pointer[Cursor]

	// lastRead is when the log was last read successfully, in nanoseconds since 1970, and failures the
	// number of failed reads since then. tailLoop sets them for Stats.
	lastRead, failures atomic.Int64
}

// New returns a Feed that reads log. A nil opts selects the defaults. The Feed starts reading on
// the first call of [Feed.Watch] or [Feed.Position]. Close releases its goroutines. New panics if
// log is nil.
func New(log Log, opts *Options) *Feed {
	if log == nil {
		panic("feed: New needs a Log, and log is nil")
	}
	if l := reflect.ValueOf(log); l.Kind() == reflect.Pointer && l.IsNil() {
		panic(fmt.Sprintf("feed: New needs a Log, and log is a nil %T", log))
	}
	var o Options
	if opts != nil {
		o = *opts
	}
	o.BufferEvents = cmp.Or(max(o.BufferEvents, 0), 4096)
	o.BufferBytes = cmp.Or(max(o.BufferBytes, 0), 16<<20)
	o.PollInterval = cmp.Or(max(o.PollInterval, 0), 100*time.Millisecond)
	o.ReadTimeout = cmp.Or(o.ReadTimeout, 10*time.Second)
	o.MaxReads = cmp.Or(max(o.MaxReads, 0), 4)
	o.BookmarkInterval = cmp.Or(o.BookmarkInterval, 30*time.Second)
	o.Retention = cmp.Or(o.Retention, 24*time.Hour)
	o.MaxEvents = cmp.Or(o.MaxEvents, 1_000_000)
	o.Logger = cmp.Or(o.Logger, slog.Default())
	f := &Feed{log: log, opts: o, reads: make(chan struct{}, o.MaxReads), wake: make(chan struct{}, 1)}
	f.ctx, f.cancel = context.WithCancel(context.Background())
	f.ring = newRing(o.BufferEvents, o.BufferBytes)
	return f
}

// Position returns a cursor to take before reading the data: every change that is missing from the
// data read afterwards is after this cursor. It reads the log only if the Feed has not read it yet, and
// fails with [context.DeadlineExceeded] after [Options].ReadTimeout.
// After Close it returns the last position that is known, so that lists still work while a server
// drains, and otherwise [ErrClosed].
func (f *Feed) Position(ctx context.Context) (Cursor, error) {
	if at, known := f.Known(); known {
		return at, nil
	}
	if !f.start() {
		return Cursor{}, ErrClosed
	}
	ctx, cancel := f.withReadTimeout(ctx)
	defer cancel()
	return f.log.Head(ctx)
}

// Known returns the result of [Feed.Position] if it is available without reading the log. A read of
// the log may wait for open transactions.
func (f *Feed) Known() (at Cursor, known bool) {
	if p := f.position.Load(); p != nil {
		return *p, true
	}
	return Cursor{}, false
}

// start starts the goroutines on the first call. It returns false after Close.
func (f *Feed) start() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ctx.Err() != nil {
		return false
	}
	if !f.started {
		f.started = true
		f.wg.Go(f.tailLoop)
		if f.opts.Retention > 0 || f.opts.MaxEvents > 0 {
			f.wg.Go(f.purgeLoop)
		}
	}
	return true
}

// Branch returns a Feed of another log with the same options, such as that of a [Watcher]. Closing
// f also closes the branch, and a branch of a closed Feed is closed. The branch may be closed
// earlier on its own.
func (f *Feed) Branch(log Log) *Feed {
	b := New(log, &f.opts)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ctx.Err() != nil {
		b.cancel()
		return b
	}
	if f.branches == nil {
		f.branches = map[*Feed]struct{}{}
	}
	b.parent, f.branches[b] = f, struct{}{}
	return b
}

// Close ends all subscriptions with [ErrClosed] and waits until the goroutines of the Feed and its
// reads of the log have ended. A subscriber still receives the buffered events that it has not
// read. Close does not close the log. It may be called several times and concurrently. The error is
// always nil.
func (f *Feed) Close() error {
	if f.parent != nil {
		f.parent.mu.Lock()
		delete(f.parent.branches, f)
		f.parent.mu.Unlock()
	}
	f.mu.Lock()
	f.cancel()
	f.ring.wakeAll()
	branches := slices.Collect(maps.Keys(f.branches))
	f.mu.Unlock()
	for _, b := range branches {
		b.Close()
	}
	f.wg.Wait()
	f.closing.Lock() // two concurrent calls would deadlock while each fills half of reads
	defer f.closing.Unlock()
	for range cap(f.reads) { // wait for active reads of the log, and prevent new ones
		f.reads <- struct{}{}
	}
	for range cap(f.reads) {
		<-f.reads
	}
	return nil
}

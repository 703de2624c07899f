package feed

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// ErrClosed says that the feed was closed: the process is going down, and the listener goes on elsewhere from the cursor
// that it has.
var ErrClosed = errors.New("feed: closed")

// Options adjust a Feed. The zero value is meaningful.
type Options struct {
	// BufferEvents and BufferBytes limit the ring buffer of recent events. Default 4096 events and 16 MiB. Values cached with
	// [Event.Memo] do not count.
	BufferEvents int
	BufferBytes  int64

	// PollInterval is the delay between reads of the log. Default 100ms. After an error the delay doubles with each failure,
	// up to 5s.
	PollInterval time.Duration

	// ReadTimeout limits a single read of the log. Default 10s; negative means no limit. A read that times out is retried, on
	// a different connection if the log has a pool, because a broken TCP connection may never report an error. It does not
	// apply to [Watcher] collections or to [Feed.Position].
	ReadTimeout time.Duration

	// MaxReads limits how many subscribers read the log concurrently because they have fallen behind the buffer. Default 4.
	MaxReads int

	// BookmarkInterval is how often an idle subscriber receives a bookmark, an event that carries only its current cursor.
	// Default 30s; negative disables bookmarks.
	BookmarkInterval time.Duration

	// Retention is how long events are kept in the log. Default 24h; negative keeps them forever. MaxEvents limits their
	// number. Default 1,000,000; negative means no limit. The feed purges the log about once a minute. A subscriber whose
	// cursor has been purged receives [ErrExpired].
	Retention time.Duration
	MaxEvents int

	// Logger receives errors of the log. Default [slog.Default].
	Logger *slog.Logger
}

// Feed reads a log for one process, once for all who listen. It is safe for concurrent use.
type Feed struct {
	log  Log
	opts Options

	life  context.Context // of the goroutines and of reads of the log; it ends with Close
	end   context.CancelFunc
	works sync.WaitGroup
	reads chan struct{} // holds a value for each listener that reads the log
	poke  chan struct{} // asks the tailer to look at once

	expired int // how often the log has said so since it last went on; only the tailer knows it

	closing sync.Mutex // held by who waits for the end in Close

	mu      sync.Mutex
	started bool
	ring    ring
	moved   chan struct{} // closed when the ring has moved; nil if nobody waits for that

	trunk    *Feed              // that this one is a branch of; nil if none
	branches map[*Feed]struct{} // that Close closes

	position atomic.Pointer[Cursor] // the end of the ring; nil as long as nothing was read
}

// New returns a Feed of a log. opts may be nil. It begins to read when somebody listens first, or asks for the position. It
// panics if log is nil.
func New(log Log, opts *Options) *Feed {
	if log == nil {
		panic("feed: New without a log")
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
	f := &Feed{log: log, opts: o, reads: make(chan struct{}, o.MaxReads), poke: make(chan struct{}, 1)}
	f.life, f.end = context.WithCancel(context.Background())
	f.ring = newRing(o.BufferEvents, o.BufferBytes)
	return f
}

// Position returns a place to listen from for somebody who is about to read the data: whatever is not in that data is
// behind the place. It asks the log only as long as nothing was read from it yet.
func (f *Feed) Position(ctx context.Context) (Cursor, error) {
	if at, known := f.Known(); known {
		return at, nil
	}
	if !f.start() {
		return Cursor{}, ErrClosed
	}
	return f.log.Head(ctx)
}

// Known returns what Position does, if that is known without asking the log, which may wait for transactions that are not
// over.
func (f *Feed) Known() (at Cursor, known bool) {
	if p := f.position.Load(); p != nil {
		return *p, true
	}
	return Cursor{}, false
}

// start starts what runs, if it does not run yet. It returns false once the Feed is closed.
func (f *Feed) start() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.life.Err() != nil {
		return false
	}
	if !f.started {
		f.started = true
		f.works.Go(f.tail)
		if f.opts.Retention > 0 || f.opts.MaxEvents > 0 {
			f.works.Go(f.purge)
		}
	}
	return true
}

// Branch returns a Feed of another log, with the same options, for what is told elsewhere and is to end when this one does:
// Close of f closes it, too. It may be closed before by itself.
func (f *Feed) Branch(log Log) *Feed {
	b := New(log, &f.opts)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.life.Err() != nil {
		b.end()
		return b
	}
	if f.branches == nil {
		f.branches = map[*Feed]struct{}{}
	}
	b.trunk, f.branches[b] = f, struct{}{}
	return b
}

// Close ends all listening with [ErrClosed] and returns when nothing of the Feed runs any more. Listeners, which run in
// goroutines of their own, are told when they ask for the next event and there is none in memory. It does not close the log.
// It may be called again, also at the same time.
func (f *Feed) Close() error {
	if f.trunk != nil {
		f.trunk.mu.Lock()
		delete(f.trunk.branches, f)
		f.trunk.mu.Unlock()
	}
	f.mu.Lock()
	f.end()
	f.ring.wakeAll()
	branches := slices.Collect(maps.Keys(f.branches))
	f.mu.Unlock()
	for _, b := range branches {
		b.Close()
	}
	f.works.Wait()
	f.closing.Lock() // two that close would wait for each other's places
	defer f.closing.Unlock()
	for range cap(f.reads) { // whoever reads the log has been interrupted; nobody begins anew
		f.reads <- struct{}{}
	}
	for range cap(f.reads) {
		<-f.reads
	}
	return nil
}

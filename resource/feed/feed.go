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
	// Events and Bytes bound the ring: how many of the newest events are in memory, 4096 if zero, and how large they are
	// together, 16 MiB if zero. What is kept with [Event.Memo] is not counted.
	Events int
	Bytes  int64
	// Poll is how often the log is looked at, whatever it says of itself; 100 ms if zero. It is also how soon it is tried
	// again after it has failed, and that becomes less often, up to once in 5 seconds.
	Poll time.Duration
	// Limit is how long one look at the log may take; 10 seconds if zero, and any time below zero. Then it is given up and tried
	// again: over another connection, where the log has several, as nobody is told of one that leads nowhere any more. It
	// bounds neither the Watch of a collection, which waits by itself, nor [Feed.Position], whose context does.
	Limit time.Duration
	// Reads is how many listeners may read the log at a time, as they are behind the ring; 4 if zero.
	Reads int
	// Bookmark is how often a listener is told how far it has come; 30 seconds if zero, and below zero never. That is so
	// whatever happens, as it may pass over all of it. Clients of a catalog are spared those behind a change of theirs.
	Bookmark time.Duration
	// Keep is how long events stay in the log, 24 hours if zero; below zero for ever. KeepEvents is how many of the newest
	// stay, however young the others are: 1,000,000 if zero; below zero all. The Feed purges the log every minute or sooner,
	// so that for so long there may be more. Whoever is behind what is left is told [ErrExpired].
	Keep       time.Duration
	KeepEvents int
	// Logger is told when the log fails; nil is [slog.Default].
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
	o.Events = cmp.Or(max(o.Events, 0), 4096)
	o.Bytes = cmp.Or(max(o.Bytes, 0), 16<<20)
	o.Poll = cmp.Or(max(o.Poll, 0), 100*time.Millisecond)
	o.Limit = cmp.Or(o.Limit, 10*time.Second)
	o.Reads = cmp.Or(max(o.Reads, 0), 4)
	o.Bookmark = cmp.Or(o.Bookmark, 30*time.Second)
	o.Keep = cmp.Or(o.Keep, 24*time.Hour)
	o.KeepEvents = cmp.Or(o.KeepEvents, 1_000_000)
	o.Logger = cmp.Or(o.Logger, slog.Default())
	f := &Feed{log: log, opts: o, reads: make(chan struct{}, o.Reads), poke: make(chan struct{}, 1)}
	f.life, f.end = context.WithCancel(context.Background())
	f.ring = newRing(o.Events, o.Bytes)
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
		if f.opts.Keep > 0 || f.opts.KeepEvents > 0 {
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

package feed

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"time"
)

// ErrClosed says that the feed was closed: the process is going down, and the listener goes on elsewhere from the cursor
// that it has.
var ErrClosed = errors.New("feed: closed")

// Options adjust a Feed. The zero value is meaningful.
type Options struct {
	// Events and Bytes bound the ring: how many of the newest events are in memory, 4096 if zero, and how large they are
	// together, 16 MiB if zero.
	Events int
	Bytes  int64
	// Poll is how often the log is looked at, whatever it says of itself; 100 ms if zero.
	Poll time.Duration
	// Reads is how many listeners may read the log at a time, as they are behind the ring; 4 if zero.
	Reads int
	// Bookmark is how often a listener for whom nothing happened is told how far it has come; 30 seconds if zero.
	Bookmark time.Duration
	// Keep is how long events stay in the log, 24 hours if zero; below zero for ever. The Feed purges it.
	Keep time.Duration
	// Logger is told when the log fails; nil is [slog.Default].
	Logger *slog.Logger
}

// Feed reads a log for one process, once for all who listen. It is safe for concurrent use.
type Feed struct{}

// New returns a Feed of a log. opts may be nil. It begins to read when somebody listens first. It panics if log is nil.
func New(log Log, opts *Options) *Feed { panic("not written yet") }

// Position returns a place to listen from for somebody who is about to read the data: whatever is not in that data is
// behind the place. It asks the log only as long as nothing was read from it yet.
func (f *Feed) Position(ctx context.Context) (Cursor, error) { panic("not written yet") }

// Watch yields the events of a collection behind a place, and bookmarks; the first is a bookmark, with the place it
// begins at, as soon as it is sure that nothing behind it is missing. The zero Cursor is where the feed is now. It
// waits for events until ctx ends, which ends the sequence without an error.
//
// An error is the last thing it yields: [ErrExpired], [ErrClosed], or the log's, and the events before it were complete. The
// events are shared; see [Event].
func (f *Feed) Watch(ctx context.Context, after Cursor, collection string) iter.Seq2[*Event, error] {
	panic("not written yet")
}

// Close ends all listening with [ErrClosed] and returns when nothing of the Feed runs any more. It does not close the log.
func (f *Feed) Close() error { panic("not written yet") }

package resource

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"log/slog"
	"sync"
	"time"

	"github.com/stoa-go/stoa/resource/feed"
)

// upstreamRest is how long the Feed of a collection goes on when nobody listens: clients come back, and lists ask for places.
const sourceIdleTimeout = time.Minute

// source is the Feed of a collection that is a [feed.Watcher]. It is made when somebody listens, and ends some time after the
// last has left. The zero value is ready.
type source struct {
	mu     sync.Mutex
	parent *feed.Feed // that of the catalogs, which ends it; nil if they have none
	logger *slog.Logger
	feed   *feed.Feed
	users  int
	idle   *time.Timer
}

// subscribe returns the Feed in which the changes of the core are told. Whoever has done with it calls leave.
func (h *core) subscribe() (f *feed.Feed, leave func(), err error) {
	if h.ops.watch != nil {
		return h.source.join(h.ops.watch), h.source.leave, nil
	}
	if o := h.publisher.Load(); o != nil {
		return o.feed, func() {}, nil
	}
	return nil, nil, errNoFeed
}

// logger is told of what those who listen are not.
func (h *core) logger() *slog.Logger {
	if o := h.publisher.Load(); o != nil {
		return o.logger
	}
	h.source.mu.Lock()
	defer h.source.mu.Unlock()
	return cmp.Or(h.source.logger, slog.Default())
}

// attach is what [core.attach] is for a core whose collection tells its changes by itself, so that its writes are no events of
// the Feed. It reports whether the Feed is that of the catalogs before.
func (s *source) attach(f *feed.Feed, logger *slog.Logger) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.parent == nil {
		s.parent, s.logger = f, logger
	}
	return s.parent == f
}

func (s *source) join(watch func(context.Context, feed.Cursor) iter.Seq2[*feed.Event, error]) *feed.Feed {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.idle != nil {
		s.idle.Stop()
	}
	s.users++
	if s.feed == nil {
		if log := feed.FromWatch(watch); s.parent != nil {
			s.feed = s.parent.Branch(log)
		} else {
			s.feed = feed.New(log, nil)
		}
	}
	return s.feed
}

func (s *source) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users--
	if s.users == 0 {
		s.idle = time.AfterFunc(sourceIdleTimeout, s.end)
	}
}

// end ends the Feed, unless somebody has come.
func (s *source) end() {
	s.mu.Lock()
	f := s.feed
	if s.users > 0 {
		f = nil
	} else {
		s.feed = nil
	}
	s.mu.Unlock()
	if f != nil {
		f.Close()
	}
}

// eraseWatch takes T out of the changes that a collection tells. They go on as events that have the items themselves.
func eraseWatch[T any](h *core, watch func(context.Context, feed.Cursor) iter.Seq2[*feed.Change[T], error],
) func(context.Context, feed.Cursor) iter.Seq2[*feed.Event, error] {
	return func(ctx context.Context, after feed.Cursor) iter.Seq2[*feed.Event, error] {
		return func(yield func(*feed.Event, error) bool) {
			for c, err := range watch(ctx, after) {
				var e *feed.Event
				if err == nil {
					e, err = eventOf(h, c)
				}
				if !yield(e, err) || err != nil {
					return
				}
			}
		}
	}
}

// eventOf makes an event of a change. One that does not say what it has to cannot be told, and is as good as lost.
func eventOf[T any](h *core, c *feed.Change[T]) (*feed.Event, error) {
	e := &feed.Event{Kind: c.Kind, Collection: h.name, ID: c.ID, Rev: c.Rev, Time: c.Time, Cursor: c.Cursor}
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	if c.Kind == feed.Bookmark {
		return e, nil
	}
	if (c.Before == nil) != (c.Kind == feed.Created) || (c.After == nil) != (c.Kind == feed.Deleted) {
		return nil, fmt.Errorf("%w: %v", feed.ErrExpired, storeFault("told of item %q that it was %v, and not what it was or is", c.ID, c.Kind))
	}
	p := &decodedEvent{}
	for _, side := range [...]struct {
		value *T
		to    **snapshot
	}{{c.Before, &p.before}, {c.After, &p.after}} {
		if side.value == nil {
			continue
		}
		entry := Entry{ID: e.ID, Rev: Rev(c.Rev), Value: side.value}
		if err := h.complete(&entry); err != nil {
			return nil, fmt.Errorf("%w: %v", feed.ErrExpired, err)
		}
		e.ID, *side.to = entry.ID, h.newSnapshot(entry.stored)
	}
	e.Memo(h, func() any { return p })
	return e, nil
}

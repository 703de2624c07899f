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
const upstreamRest = time.Minute

// upstream is the Feed of a collection that is a [feed.Watcher]. It is made when somebody listens, and ends some time after the
// last has left. The zero value is ready.
type upstream struct {
	mu     sync.Mutex
	trunk  *feed.Feed // that of the catalogs, which ends it; nil if they have none
	logger *slog.Logger
	feed   *feed.Feed
	users  int
	rest   *time.Timer
}

// listen returns the Feed in which the changes of the hub are told. Whoever has done with it calls leave.
func (h *hub) listen() (f *feed.Feed, leave func(), err error) {
	if h.ops.watch != nil {
		return h.upstream.join(h.ops.watch), h.upstream.leave, nil
	}
	if o := h.outlet.Load(); o != nil {
		return o.feed, func() {}, nil
	}
	return nil, nil, errDeaf
}

// logger is told of what those who listen are not.
func (h *hub) logger() *slog.Logger {
	if o := h.outlet.Load(); o != nil {
		return o.logger
	}
	h.upstream.mu.Lock()
	defer h.upstream.mu.Unlock()
	return cmp.Or(h.upstream.logger, slog.Default())
}

// attach is what [hub.attach] is for a hub whose collection tells its changes by itself, so that its writes are no events of
// the Feed. It reports whether the Feed is that of the catalogs before.
func (s *upstream) attach(f *feed.Feed, logger *slog.Logger) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.trunk == nil {
		s.trunk, s.logger = f, logger
	}
	return s.trunk == f
}

func (s *upstream) join(watch func(context.Context, feed.Cursor) iter.Seq2[*feed.Event, error]) *feed.Feed {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rest != nil {
		s.rest.Stop()
	}
	s.users++
	if s.feed == nil {
		if log := feed.FromWatch(watch); s.trunk != nil {
			s.feed = s.trunk.Branch(log)
		} else {
			s.feed = feed.New(log, nil)
		}
	}
	return s.feed
}

func (s *upstream) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users--
	if s.users == 0 {
		s.rest = time.AfterFunc(upstreamRest, s.end)
	}
}

// end ends the Feed, unless somebody has come.
func (s *upstream) end() {
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
func eraseWatch[T any](h *hub, watch func(context.Context, feed.Cursor) iter.Seq2[*feed.Change[T], error],
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
func eventOf[T any](h *hub, c *feed.Change[T]) (*feed.Event, error) {
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
	p := &past{}
	for _, side := range [...]struct {
		value *T
		to    **moment
	}{{c.Before, &p.before}, {c.After, &p.after}} {
		if side.value == nil {
			continue
		}
		entry := Entry{ID: e.ID, Rev: Rev(c.Rev), Value: side.value}
		if err := h.settle(&entry); err != nil {
			return nil, fmt.Errorf("%w: %v", feed.ErrExpired, err)
		}
		e.ID, *side.to = entry.ID, h.moment(entry.hub)
	}
	e.Memo(h, func() any { return p })
	return e, nil
}

package resource

// The feed of a resource: that of its catalogs, or its own if the collection reports changes
// itself. Called by watch.go. It calls package sharedfeed.

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"time"

	"github.com/stoa-go/stoa/resource/feed"
)

// subscribe returns the Feed of the core's changes. The caller must call leave when it is done.
func (h *core) subscribe() (f *feed.Feed, leave func(), err error) {
	if h.ops.watch != nil {
		return h.source.Join(h.ops.watch), h.source.Leave, nil
	}
	if o := h.publisher.Load(); o != nil {
		return o.feed, func() {}, nil
	}
	return nil, nil, errNoFeed
}

// feedLogger returns the logger for errors that subscribers do not receive.
func (h *core) feedLogger() *slog.Logger {
	if o := h.publisher.Load(); o != nil {
		return o.logger
	}
	return h.source.Logger()
}

// eraseWatch converts the changes of a collection to events that hold the items themselves.
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

// eventOf converts a change to an event. A change without the items that its kind requires is
// treated like a lost change.
func eventOf[T any](h *core, c *feed.Change[T]) (*feed.Event, error) {
	e := &feed.Event{Kind: c.Kind, Collection: h.name, ID: c.ID, Rev: c.Rev, Time: c.Time, Cursor: c.Cursor}
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	if c.Kind == feed.Bookmark {
		return e, nil
	}
	if (c.Before == nil) != (c.Kind == feed.Created) || (c.After == nil) != (c.Kind == feed.Deleted) {
		return nil, fmt.Errorf("%w: %v", feed.ErrExpired,
			storeFault("reported that item %q was %v, but not its value", c.ID, c.Kind))
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

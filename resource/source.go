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
func (c *core) subscribe() (f *feed.Feed, leave func(), err error) {
	if c.ops.watch != nil {
		return c.source.Join(c.ops.watch), c.source.Leave, nil
	}
	if o := c.publisher.Load(); o != nil {
		return o.feed, func() {}, nil
	}
	return nil, nil, errNoFeed
}

// feedLogger returns the logger for errors that subscribers do not receive.
func (c *core) feedLogger() *slog.Logger {
	if o := c.publisher.Load(); o != nil {
		return o.logger
	}
	return c.source.Logger()
}

// eraseWatch converts the changes of a collection to events that hold the items themselves.
func eraseWatch[T any](c *core, watch func(context.Context, feed.Cursor) iter.Seq2[*feed.Change[T], error],
) func(context.Context, feed.Cursor) iter.Seq2[*feed.Event, error] {
	return func(ctx context.Context, after feed.Cursor) iter.Seq2[*feed.Event, error] {
		return func(yield func(*feed.Event, error) bool) {
			for change, err := range watch(ctx, after) {
				var e *feed.Event
				if err == nil {
					e, err = eventOf(c, change)
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
func eventOf[T any](c *core, change *feed.Change[T]) (*feed.Event, error) {
	e := &feed.Event{Kind: change.Kind, Collection: c.name, ID: change.ID, Rev: change.Rev,
		Time: change.Time, Cursor: change.Cursor}
	if e.Time.IsZero() {
		e.Time = time.Now()
	}
	if change.Kind == feed.Bookmark {
		return e, nil
	}
	if (change.Before == nil) != (change.Kind == feed.Created) ||
		(change.After == nil) != (change.Kind == feed.Deleted) {
		return nil, fmt.Errorf("%w: %v", feed.ErrExpired,
			storeFault("reported that item %q was %v, but not its value", change.ID, change.Kind))
	}
	p := &decodedEvent{}
	for _, side := range [...]struct {
		value *T
		to    **snapshot
	}{{change.Before, &p.before}, {change.After, &p.after}} {
		if side.value == nil {
			continue
		}
		entry := Entry{ID: e.ID, Rev: Rev(change.Rev), Value: side.value}
		if err := c.complete(&entry); err != nil {
			return nil, fmt.Errorf("%w: %v", feed.ErrExpired, err)
		}
		e.ID, *side.to = entry.ID, c.newSnapshot(entry.stored)
	}
	e.Memo(c, func() any { return p })
	return e, nil
}

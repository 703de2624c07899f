package resource

// The last step of a write: the store's change and its event, in one transaction if log and
// collection share one. Called by write.go and import_run.go. It calls the store and feed.Append.

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/internal/retry"
	"github.com/stoa-go/stoa/resource/tx"
)

// publisher appends the writes of a core to a feed.
type publisher struct {
	feed   *feed.Feed
	logger *slog.Logger
	// runner is the Runner that collection and log share, so that a change and its event commit
	// together; nil if they share none.
	runner tx.Runner
}

// attach sets the publisher of a core. It panics if another catalog has attached another Feed.
func (c *core) attach(f *feed.Feed, logger *slog.Logger) {
	if c.noEvents && c.ops.watch == nil {
		return
	}
	o := &publisher{feed: f, logger: logger}
	if runner := c.ops.runner; runner != nil && runner == f.Transactions() {
		o.runner = runner
	}
	same := true
	if c.ops.watch != nil {
		same = c.source.Attach(f, logger)
	} else if !c.publisher.CompareAndSwap(nil, o) {
		same = c.publisher.Load().feed == f
	}
	if !same {
		panic("resource: " + c.name + " is in two catalogs with different feeds; use the same feed for both")
	}
}

// Publish appends the event of a change that was made without the Resource, such as an upload of
// package blob, to the feed of its catalog. before and after are pointers to the stored type: before
// is nil for feed.Created, and after for feed.Deleted. rev is the revision after the change, or the
// deleted one. Without a feed Publish does nothing.
//
// If log and collection share a Runner, ctx must carry the transaction of the change, and an error
// means that it must be rolled back. Otherwise the event is appended after the commit, and errors
// are only logged.
func (r *Resource) Publish(ctx context.Context, kind feed.Kind, id string, rev Rev, before, after any) error {
	o := r.core.publisher.Load()
	if o == nil {
		return nil
	}
	return o.publish(ctx, r.core, pendingEvent{kind, id, rev, before, after})
}

// storeChange is one write of one item.
type storeChange struct {
	kind feed.Kind
	id   string // empty for a new item if the store chooses the id
	// recreate allows a new item to have the id of a deleted one.
	recreate bool
	rev      Rev // the current revision
	// restore, if not nil, makes the item exist again; after is nil then.
	restore func(ctx context.Context) (*Entry, error)
	before  any // *T; nil for a new item
	after   any // *T; nil for a deletion
}

// write carries out a change and publishes its event if the core has a publisher. The entry is the
// stored item, nil for a deletion.
func (c *core) write(ctx context.Context, change storeChange) (*Entry, error) {
	if o := c.publisher.Load(); o != nil {
		return o.write(ctx, c, change)
	}
	return c.apply(ctx, &change)
}

// remove deletes an item and, if the collection does not record deletions, remembers its id. The id
// is added before the item is removed, so that concurrent requests and later ones of the same
// transaction find it.
func (c *core) remove(ctx context.Context, cur *Entry) error {
	id, ids := cur.ID, c.deletions
	ids.Begin(id)
	_, err := c.write(ctx, storeChange{kind: feed.Deleted, id: id, rev: cur.Rev, before: cur.stored})
	switch {
	case ids == nil || errors.Is(err, tx.ErrOutcomeUnknown):
	case err != nil:
		ids.End(id, false)
	default:
		tx.AfterCommit(ctx, func() { ids.End(id, true) })
		tx.AfterRollback(ctx, func() { ids.End(id, false) })
	}
	return err
}

// apply is write without the event.
func (c *core) apply(ctx context.Context, change *storeChange) (*Entry, error) {
	switch {
	case change.restore != nil:
		return change.restore(ctx)
	case change.kind == feed.Updated:
		return c.ops.replace(ctx, change.id, change.rev, change.after)
	case change.kind == feed.Deleted:
		return nil, c.ops.delete(ctx, change.id, change.rev)
	case change.id == "":
		return c.ops.create(ctx, change.after)
	}
	return c.insert(ctx, change.id, change.after, change.recreate)
}

// insert stores a new item under an id that the client chose. The id of a deleted item is ErrGone,
// unless recreate is set and the store accepts it.
func (c *core) insert(ctx context.Context, id string, v any, recreate bool) (*Entry, error) {
	if !recreate && c.ops.deleted != nil {
		switch _, err := c.ops.deleted(ctx, id); {
		case err == nil:
			return nil, ErrGone
		case !errors.Is(err, ErrNotFound):
			return nil, err
		}
	}
	return c.ops.insert(ctx, id, v)
}

// write is core.write with a publisher. If log and collection share a runner, both run in one
// transaction.
func (p *publisher) write(ctx context.Context, c *core, change storeChange) (*Entry, error) {
	var e *Entry
	attempt := func(ctx context.Context) (err error) { // runs again if the transaction is retried
		if e, err = c.apply(ctx, &change); err == nil {
			err = p.publish(ctx, c, change.event(e))
		}
		return err
	}
	var err error
	if p.runner == nil {
		err = attempt(ctx)
	} else {
		err = p.runner.InTx(ctx, attempt)
	}
	if err != nil {
		return nil, err
	}
	return e, nil
}

// pendingEvent is an event before its items are encoded.
type pendingEvent struct {
	kind          feed.Kind
	id            string
	rev           Rev
	before, after any
}

// event returns the event of a change with the stored item e.
func (c *storeChange) event(e *Entry) pendingEvent {
	if e == nil {
		return pendingEvent{c.kind, c.id, c.rev, c.before, nil}
	}
	return pendingEvent{c.kind, e.ID, e.Rev, c.before, e.stored}
}

// publish appends events. With a shared runner it runs in the transaction of the changes, and an
// error rolls them back. Otherwise it runs after the commit, and an error is only logged.
func (p *publisher) publish(ctx context.Context, c *core, all ...pendingEvent) error {
	events, err := c.events(all)
	if p.runner == nil {
		tx.AfterCommit(ctx, func() { p.publishAfter(tx.Without(ctx), c, events, err) })
		return nil
	}
	if err == nil {
		err = p.feed.Append(ctx, events...)
	}
	return publishError(err)
}

// publishAfter appends events of committed changes, even if the client has disconnected. err is the
// error of encoding them.
func (p *publisher) publishAfter(ctx context.Context, c *core, events []*feed.Event, err error) {
	if err == nil {
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), retry.Timeout)
		defer cancel()
		err = p.feed.Append(bounded, events...)
	}
	if err != nil {
		p.logger.ErrorContext(ctx, "resource: event not appended after commit; subscribers will miss it",
			"resource", c.name, "error", err)
	}
}

// publishError returns the error of a change that is rolled back because its event could not be
// appended. An error of the log must not be taken for one of the collection, such as ErrNotFound.
func publishError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrUnavailable), errors.Is(err, tx.ErrUnavailable), errors.Is(err, context.Canceled),
		errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("event not appended: %w", err)
	case errors.Is(err, ErrStale),
		errors.Is(err, ErrExists),
		errors.Is(err, ErrNotFound),
		errors.Is(err, ErrGone):
		return fmt.Errorf("%w: event not appended: %v", errStoreFault, err)
	}
	return fmt.Errorf("%w: event not appended: %w", errStoreFault, err)
}

// events encodes the items.
func (c *core) events(all []pendingEvent) ([]*feed.Event, error) {
	events := make([]*feed.Event, len(all))
	for i, t := range all {
		e := &feed.Event{Kind: t.kind, Collection: c.name, ID: t.id, Rev: string(t.rev), Schema: c.schemaID}
		var err error
		if t.before != nil {
			e.Before, err = c.typ.Append(nil, t.before)
		}
		if err == nil && t.after != nil {
			e.After, err = c.typ.Append(nil, t.after)
		}
		if err != nil {
			return nil, err
		}
		events[i] = e
	}
	return events, nil
}

package resource

// Subscriptions: the events that a caller receives. Called by protocols. It calls source.go for the
// feed, watch_decode.go for the items of an event, and read.go for policy.

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/feed"
)

// Watches reports whether clients can subscribe to the Resource: one of its catalogs has a Feed and
// Options.NoEvents is not set, or its collection is a [feed.Watcher].
func (r *Resource) Watches() bool { return r.core.ops.watch != nil || r.core.publisher.Load() != nil }

// errNoFeed reports a mistake of the program: protocols offer subscriptions only if Watches returns
// true.
var errNoFeed = errors.New("no catalog of the resource has a feed; set CatalogOptions.Feed")

// Position returns the position of the feed before a read that follows: a client that subscribes
// from it misses nothing that the read does not return. The log is read only if the process has not
// read it yet, and may then wait for transactions that were running at that time. wait limits how
// long; 0 means until ctx is done. The error is [feed.ErrClosed], [context.DeadlineExceeded] after
// wait, or an internal one, such as if Watches returns false. After [feed.Feed.Close] a known
// position is returned without an error.
func (r *Resource) Position(ctx context.Context, wait time.Duration) (feed.Cursor, error) {
	f, leave, err := r.core.subscribe()
	if err != nil {
		return feed.Cursor{}, r.wrap(OpList, "", err)
	}
	defer leave()
	if at, known := f.Known(); known {
		return at, nil
	}
	if wait > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, wait)
		defer cancel()
	}
	at, err := f.Position(ctx)
	if err != nil {
		return feed.Cursor{}, r.wrap(OpList, "", err)
	}
	return at, nil
}

// Unpublishable returns the error of a change that a protocol cannot encode, which ends its
// streams: [feed.ErrExpired]. It is logged once for all subscribers.
func (raw Raw) Unpublishable(at feed.Cursor, err error) error {
	return raw.r.core.reportUnpublishable(at, raw.r.projection, err)
}

// Watch yields changes of the items that f selects and the caller may see, after a cursor, in the
// type of the Resource, and bookmarks. The zero Cursor starts at the current position. The first
// element is a bookmark, sent as soon as it is known that no change after the cursor is missing.
// Watch waits for changes until ctx is done, which ends the sequence without an error. The cursor
// of each change is after that of the change before it; bookmarks are in order, too. The iterator
// can be used again and then starts at after.
//
// f is in the field names of the Resource and need not be a filter that lists support.
//
// Policy is evaluated for each change, with ctx, for the item before and after it. An item that
// starts to match f, Scope, Authorize and [ViewOptions].Where is reported as [feed.Created], and
// one that stops matching as [feed.Deleted]. So a client that applies the changes to a list has the
// items that the list would return now. A deletion has neither Rev nor Before, because they would
// reveal whether the item still exists. Any other change is [feed.Updated], even if the type of the
// Resource does not show a difference: the item has a new revision, which the next write must name.
// Only a [View] that hides fields reports no such change. Its Before has no Rev. Scope is also
// evaluated for each bookmark, so that a stream ends when the caller loses access. A change of
// permissions alone is not reported.
//
// Items are decoded from events: they lack everything that is not in their JSON, and the time of
// modification. A filter, a Scope or a Where that names a writeOnly field is therefore an internal
// error, unless the collection is a [feed.Watcher]. Subscribers share the changes and must not
// modify them.
//
// An error is the last element: [feed.ErrExpired], after which the client must list again;
// [feed.ErrClosed], after which it can resume with another process; [ErrUnauthenticated] from
// policy; or an internal error, such as if Watches returns false. An event that cannot be decoded
// or converted is also ErrExpired, because a new list replaces it.
func (r *Resource) Watch(
	ctx context.Context,
	after feed.Cursor,
	f query.Filter,
) iter.Seq2[*feed.Change[Entry], error] {
	ctx = r.inCatalog(ctx)
	return func(yield func(*feed.Change[Entry], error) bool) {
		w := watcher{r: r, ctx: ctx, yield: yield}
		filter, err := r.storeFilter(f)
		if hasRelation(f) {
			err = errStreamRelation
		}
		if err == nil {
			w.filter = filter
			err = w.run(after)
		}
		w.end(OpList, "", err)
	}
}

// WatchItem is Watch for one item. The item need not exist, and may be deleted and created again.
func (r *Resource) WatchItem(
	ctx context.Context,
	id string,
	after feed.Cursor,
) iter.Seq2[*feed.Change[Entry], error] {
	ctx = r.inCatalog(ctx)
	return func(yield func(*feed.Change[Entry], error) bool) {
		w := watcher{r: r, ctx: ctx, yield: yield, single: true, id: id}
		w.end(OpGet, id, w.run(after))
	}
}

// watcher is one subscription.
type watcher struct {
	r       *Resource
	ctx     context.Context // of the call; the watcher does not outlive it
	yield   func(*feed.Change[Entry], error) bool
	left    bool         // the caller has broken out of the loop
	changed bool         // a change was sent since the last bookmark
	filter  query.Filter // in the core's names
	single  bool         // only the item with this id
	id      string
}

// end yields the error that ended the subscription, unless the caller has stopped or ctx is done.
func (w *watcher) end(op Op, id string, err error) {
	if err != nil && !w.left && w.ctx.Err() == nil {
		w.yield(nil, w.r.wrap(op, id, err))
	}
}

// run yields changes until an error occurs, the caller stops or ctx is done.
func (w *watcher) run(after feed.Cursor) error {
	c := w.r.core
	// First, as in core.load: the error of Scope must not depend on the events.
	if _, err := w.scope(); err != nil {
		return err
	}
	for _, f := range append([]query.Filter{w.filter}, w.r.projection.where...) {
		if err := c.checkFilter(f); err != nil {
			return err
		}
	}
	f, leave, err := c.subscribe()
	if err != nil {
		return err
	}
	defer leave()
	for e, err := range f.Watch(w.ctx, after, c.name) {
		if err != nil {
			return err
		}
		change, err := w.project(e)
		if err != nil {
			return err
		}
		if change == nil || w.redundant(change) {
			continue
		}
		if !w.yield(change, nil) {
			w.left = true
			return nil
		}
	}
	return nil
}

// scope returns the caller's scope.
func (w *watcher) scope() (query.Filter, error) {
	scope, err := w.r.core.scopeOf(w.ctx)
	if err == nil {
		err = w.r.core.checkFilter(scope)
	}
	return scope, err
}

// redundant reports whether c is a bookmark that directly follows a change. Only changes that were
// sent count: a subscriber with a filter that rejects all events needs bookmarks, otherwise its
// cursor expires.
func (w *watcher) redundant(c *feed.Change[Entry]) bool {
	spared := c.Kind == feed.Bookmark && w.changed
	w.changed = c.Kind != feed.Bookmark
	return spared
}

// project returns the change that the subscriber receives for an event, and nil if it receives
// none.
func (w *watcher) project(e *feed.Event) (*feed.Change[Entry], error) {
	c := w.r.core
	switch {
	case e.Kind == feed.Bookmark:
		_, err := w.scope()
		return &feed.Change[Entry]{Kind: feed.Bookmark, Time: e.Time, Cursor: e.Cursor}, err
	case w.single && e.ID != w.id:
		return nil, nil
	}
	item, err := c.decodeOrRead(w.ctx, e)
	if err != nil {
		return nil, err
	}
	s := w.r.projection.project(c, e, item)
	before, after := item.before, item.after
	if !s.before || !w.selects(before) {
		before = nil
	}
	if !s.after || !w.selects(after) {
		after = nil
	}
	if before == nil && after == nil {
		return nil, nil
	}
	scope, err := w.scope()
	if err != nil {
		return nil, err
	}
	was, decided, err := w.wasVisible(before, &scope)
	if err != nil {
		return nil, err
	}
	is, err := w.visible(after, &scope)
	if err != nil {
		return nil, err
	}
	if !decided && !is {
		return nil, errUndecided
	}
	return s.change(was, is)
}

// selects reports whether an item matches the caller's filter.
func (w *watcher) selects(m *snapshot) bool {
	return w.filter.IsZero() || m.mayMatch(w.filter)
}

// visible reports whether policy allows the caller to see an item. It is false for nil.
func (w *watcher) visible(m *snapshot, scope *query.Filter) (bool, error) {
	c := w.r.core
	if m == nil || c.scope != nil && !query.Match(*scope, m.field) {
		return false, nil
	}
	err := c.readable(w.ctx, &m.Entry)
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

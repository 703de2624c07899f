package resource

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/feed"
)

// Watches reports whether one can listen to the Resource: a catalog that it is in has a Feed, or its collection is a
// [feed.Watcher].
func (r *Resource) Watches() bool { return r.core.ops.watch != nil || r.core.publisher.Load() != nil }

// errDeaf is a mistake of the program: a door offers to listen only where Watches says so.
var errNoFeed = errors.New("nobody can listen: no catalog that it is in has a Feed")

// Position returns the position of the feed before a read that follows: a client that subscribes from it misses nothing that
// the read does not return. The log is read only if the process has not read it yet, and may then wait for transactions that
// were running at that time. wait limits how long; 0 means until ctx is done. The error is [feed.ErrClosed],
// [context.DeadlineExceeded] after wait, or an internal one.
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

// Unpublishable returns the error of a change that a protocol cannot encode, which ends its streams: [feed.ErrExpired]. It is
// logged once for all subscribers.
func (r *Resource) Unpublishable(at feed.Cursor, err error) error {
	return r.core.reportUnpublishable(at, r.projection, err)
}

// Watch yields what happens to the items that a filter selects and the caller may see, behind a place, in the shape of the
// Resource, and bookmarks. The first is a bookmark, as soon as it is sure that nothing behind the place is missing. The zero
// Cursor is now. It waits for changes until ctx ends, which ends the sequence without an error. Each change has a Cursor
// behind that of the one before, and a bookmark none before it. It can be used again, and begins at after then.
//
// The filter is in the field names of the shape, and need not be one that lists can be asked.
//
// Policy is asked anew for each change, with ctx, about the item as it was and as it is. What comes into sight is
// [feed.Created] and what leaves it, be it for a filter, Scope, Authorize or [ViewOptions].Where, is [feed.Deleted]: whoever
// applies the changes to what a list showed at the place has what it would show now. Of what was deleted there is only the
// ID, as a revision would tell whether the item is still there. All else is [feed.Updated], also where the shape shows
// no difference: the item has another revision, and whoever writes next has to name it. Its Before has no Rev. Scope is
// asked with each bookmark as well, so that who may see nothing any more does not go on listening. That rights have changed
// and the item has not is no change.
//
// The items are as the event has them: what is no part of their JSON is not there, and they do not say when they were
// modified. So a filter, a Scope or a Where that names a writeOnly field is an internal error, unless the collection is a
// [feed.Watcher]. The changes are shared with others who listen; nobody changes what they refer to.
//
// An error is the last it yields: [feed.ErrExpired], after which one lists anew, [feed.ErrClosed], after which one goes on
// elsewhere, [ErrUnauthenticated] from policy, or an internal one. What cannot be read any more, or not be shown in this
// shape, also where that panics, is ErrExpired as well: who lists anew misses nothing.
func (r *Resource) Watch(ctx context.Context, after feed.Cursor, f query.Filter) iter.Seq2[*feed.Change[Entry], error] {
	return func(yield func(*feed.Change[Entry], error) bool) {
		w := watcher{r: r, ctx: ctx, yield: yield}
		filter, err := r.projection.filterToStore(f)
		if err == nil {
			w.filter = filter
			err = w.run(after)
		}
		w.end(OpList, "", err)
	}
}

// WatchItem is Watch for one item. It does not ask whether there is one: one that is not there may come. The item may be
// deleted and come again.
func (r *Resource) WatchItem(ctx context.Context, id string, after feed.Cursor) iter.Seq2[*feed.Change[Entry], error] {
	return func(yield func(*feed.Change[Entry], error) bool) {
		w := watcher{r: r, ctx: ctx, yield: yield, single: true, id: id}
		w.end(OpGet, id, w.run(after))
	}
}

// watcher is one who listens.
type watcher struct {
	r       *Resource
	ctx     context.Context // it lives as long as the call that it was given to
	yield   func(*feed.Change[Entry], error) bool
	left    bool         // the caller has broken out of the loop
	changed bool         // it was told of a change since the last bookmark, so that it can do without one
	filter  query.Filter // in the core's names
	single  bool         // only the item with this id
	id      string
}

// end yields what has ended the listening, if it is an error that the caller is there to be told. What policy or the log
// say when ctx has ended is no error of theirs.
func (w *watcher) end(op Op, id string, err error) {
	if err != nil && !w.left && w.ctx.Err() == nil {
		w.yield(nil, w.r.wrap(op, id, err))
	}
}

// run yields changes until something ends that.
func (w *watcher) run(after feed.Cursor) error {
	h := w.r.core
	// Before all else, as in core.load: its error must not depend on what happened.
	if _, err := w.scope(); err != nil {
		return err
	}
	for _, f := range append([]query.Filter{w.filter}, w.r.projection.where...) {
		if err := h.checkFilter(f); err != nil {
			return err
		}
	}
	f, leave, err := h.subscribe()
	if err != nil {
		return err
	}
	defer leave()
	for e, err := range f.Watch(w.ctx, after, h.name) {
		if err != nil {
			return err
		}
		c, err := w.project(e)
		if err != nil {
			return err
		}
		if c == nil || w.redundant(c) {
			continue
		}
		if !w.yield(c, nil) {
			w.left = true
			return nil
		}
	}
	return nil
}

// scope is what whoever listens may see at all.
func (w *watcher) scope() (query.Filter, error) {
	scope, err := w.r.core.scopeOf(w.ctx)
	if err == nil {
		err = w.r.core.checkFilter(scope)
	}
	return scope, err
}

// redundant reports whether c is a bookmark that says little more than a change before it. Only what was told counts: who passes
// over all that happens, as by a filter, has to be told how far that is, or its cursor grows old.
func (w *watcher) redundant(c *feed.Change[Entry]) bool {
	spared := c.Kind == feed.Bookmark && w.changed
	w.changed = c.Kind != feed.Bookmark
	return spared
}

// project returns what an event is to whoever listens; nil if it is nothing.
func (w *watcher) project(e *feed.Event) (*feed.Change[Entry], error) {
	h := w.r.core
	switch {
	case e.Kind == feed.Bookmark:
		_, err := w.scope()
		return &feed.Change[Entry]{Kind: feed.Bookmark, Time: e.Time, Cursor: e.Cursor}, err
	case w.single && e.ID != w.id:
		return nil, nil
	}
	item := h.decode(e)
	if item.err != nil {
		return nil, item.err
	}
	s := w.r.projection.project(h, e, item)
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
	was, err := w.visible(before, &scope)
	if err != nil {
		return nil, err
	}
	is, err := w.visible(after, &scope)
	if err != nil {
		return nil, err
	}
	return s.change(was, is)
}

// selects is the part of sight that is the caller's own choice.
func (w *watcher) selects(m *snapshot) bool {
	return w.filter.IsZero() || query.Match(w.filter, m.field)
}

// visible is the part of sight that is policy. What there is none of nobody sees.
func (w *watcher) visible(m *snapshot, scope *query.Filter) (bool, error) {
	h := w.r.core
	if m == nil || h.scope != nil && !query.Match(*scope, m.field) {
		return false, nil
	}
	err := h.readable(w.ctx, &m.Entry)
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

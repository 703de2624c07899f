package resource

import (
	"context"
	"iter"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/feed"
)

// Watches reports whether one can listen to the Resource: a catalog that it is in has a Feed, or its collection is a
// [feed.Watcher].
func (r *Resource) Watches() bool { return false }

// Position returns a place to listen from for somebody who is about to read items: whatever is not in what is read is behind
// it. It asks no store, once the process has listened for a moment.
func (r *Resource) Position(ctx context.Context) (feed.Cursor, error) {
	return feed.Cursor{}, feed.ErrClosed
}

// Watch yields what happens to the items that a filter selects and the caller may see, behind a place, in the shape of the
// Resource, and bookmarks. The first is a bookmark, as soon as it is sure that nothing behind the place is missing. The zero
// Cursor is now. It waits for changes until ctx ends, which ends the sequence without an error.
//
// Policy is asked anew for each change, with ctx, about the item as it was and as it is. What comes into sight is
// [feed.Created] and what leaves it, be it for a filter, Scope, Authorize or [ViewOptions].Where, is [feed.Deleted]: whoever
// applies the changes to what a list showed at the place has what it would show now. Of what was deleted there is only the ID.
//
// The changes are shared with others who listen; nobody changes what they refer to. An error is the last it yields:
// [feed.ErrExpired], after which one lists anew, [feed.ErrClosed], [ErrUnauthenticated] from policy, or an internal one.
func (r *Resource) Watch(ctx context.Context, after feed.Cursor, f query.Filter) iter.Seq2[*feed.Change[Entry], error] {
	return func(yield func(*feed.Change[Entry], error) bool) { yield(nil, feed.ErrClosed) }
}

// WatchItem is Watch for one item. It does not ask whether there is one.
func (r *Resource) WatchItem(ctx context.Context, id string, after feed.Cursor) iter.Seq2[*feed.Change[Entry], error] {
	return r.Watch(ctx, after, query.Filter{})
}

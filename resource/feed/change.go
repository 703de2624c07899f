package feed

// Changes: events as the subscribers of one collection receive them, with items in place of text.

import (
	"context"
	"iter"
	"time"

	"github.com/stoa-go/stoa/resource/internal/pace"
	"github.com/stoa-go/stoa/resource/tx"
)

// Change is an [Event] as one subscriber sees it: with decoded values, in the version of the
// subscriber's contract, and after authorization and filters. An item that starts to match the
// filter, or becomes visible, is reported as Created. One that stops matching is reported as
// Deleted. Changes are shared; do not modify what the fields refer to.
type Change[T any] struct {
	Kind Kind
	// ID identifies the item. Rev is its revision after the change; for a deletion it is the last
	// revision before it. Both are empty in a [Bookmark]. A deletion that resource.Resource.Watch
	// yields has neither Rev nor Before.
	ID, Rev string
	// Before and After are the item before and after the change. Before is nil for Created, After
	// is nil for Deleted.
	Before, After *T
	// Time is when the event was appended to the log, or the time that a [Watcher] has set. If that
	// is zero, and for a bookmark of a Feed, it is the current time.
	Time time.Time
	// Cursor is the position after the change. A subscription that continues from it misses no
	// change and repeats none.
	Cursor Cursor

	memos memoTable
}

// Memo is like [Event.Memo], for values that depend on the Change, such as an encoded frame. After
// [Change.Forget] it caches nothing.
func (c *Change[T]) Memo(key any, made func() any) any {
	if c.memos.old.Load() {
		return made()
	}
	return c.memos.lookup(key, made)
}

// Forget drops the values cached by Memo, and makes later calls of Memo cache nothing. A value that
// is cached with [Event.Memo] and holds a Change calls it from its own Forget method.
func (c *Change[T]) Forget() {
	c.memos.old.Store(true)
	c.memos.first.Store(nil)
}

// Append calls [Log.Append] of the log, and wakes the subscribers of this Feed after the commit. It
// works after Close.
func (f *Feed) Append(ctx context.Context, events ...*Event) error {
	err := f.log.Append(ctx, events...)
	if err == nil {
		tx.AfterCommit(ctx, f.Wake)
	}
	return err
}

// Wake makes the Feed read its log without waiting for the poll interval. It is for notifications
// that do not arrive through [Log.Wake]. It does not block.
func (f *Feed) Wake() { pace.Hint(f.wake) }

// Transactions returns the Runner of transactions that events take part in, or nil if the log is
// not a [Transactor].
func (f *Feed) Transactions() tx.Runner {
	if t, ok := f.log.(Transactor); ok {
		return t.Transactions()
	}
	return nil
}

// Watcher is a capability of a collection that reports its own changes, such as a store with a
// native change stream. The catalog then uses this stream instead of its log. One Feed per
// collection calls Watch, independent of the number of subscribers. That Feed starts with the first
// subscriber and ends a minute after the last, or when the Feed of the catalog is closed. It has
// the options of that Feed, or the defaults if the catalog has none.
type Watcher[T any] interface {
	// Watch yields the changes after a cursor, and waits for more until ctx is done, which ends the
	// sequence without an error. The zero Cursor means the current position.
	//
	// The first change is a [Bookmark] with the start position. When the changes that existed at
	// the start have been yielded, another Bookmark reports the position reached, unless it equals
	// the first. Later bookmarks are optional and keep cursors from expiring. If the store cannot
	// continue from a cursor, the error is [ErrExpired]. Any other error is treated as temporary:
	// the Feed calls Watch again.
	//
	// The store assigns the cursors. Seq increases from change to change and is the same each time
	// a change is reported. Epoch changes if the store loses events. Mark may be zero.
	//
	// After is set unless the item was deleted, Before unless it was created. Rev is the revision
	// that Get returns, and for a deletion the last one. The store does not modify the values after
	// it has yielded them.
	Watch(ctx context.Context, after Cursor) iter.Seq2[*Change[T], error]
}

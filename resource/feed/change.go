package feed

import (
	"context"
	"iter"
	"time"

	"github.com/stoa-go/stoa/resource/internal/pace"
	"github.com/stoa-go/stoa/resource/tx"
)

// Change is an [Event] as it is for somebody: with values in place of documents, in a shape, and as far as policy and a
// filter let that one see. What enters that view is Created for whoever looks through it, and what leaves it is Deleted,
// whatever happened to the item itself. It is shared, as an Event is, so nobody changes what it refers to.
type Change[T any] struct {
	Kind Kind
	// ID is that of the item, and Rev the revision that the change left; of what was deleted, the last that it had. Both are
	// empty in a [Bookmark].
	ID, Rev string
	// Before and After are the item as it was and as it is: Before is nil for what was created, and After for what was
	// deleted.
	Before, After *T
	// Time is when the change was written down.
	Time time.Time
	// Cursor is the place right behind the change: whoever goes on from it misses nothing and is told nothing twice.
	Cursor Cursor

	memos memos
}

// Memo is [Event.Memo] for what depends on the Change, such as a frame with the item in its shape.
func (c *Change[T]) Memo(key any, made func() any) any {
	if c.memos.old.Load() {
		return made()
	}
	return c.memos.memo(key, made)
}

// Forget gives up what Memo keeps; from now on it keeps nothing. Whoever keeps changes with Event.Memo passes on that they are
// to forget.
func (c *Change[T]) Forget() {
	c.memos.old.Store(true)
	c.memos.first.Store(nil)
}

// Append adds events to the log of the Feed, as [Log.Append] does, and wakes those who listen here once they are committed.
func (f *Feed) Append(ctx context.Context, events ...*Event) error {
	err := f.log.Append(ctx, events...)
	if err == nil {
		tx.AfterCommit(ctx, f.Wake)
	}
	return err
}

// Wake makes the Feed look at its log at once. It is for whoever is told by other means than [Log.Wake] that there may be
// something new; it does not wait.
func (f *Feed) Wake() { pace.Hint(f.poke) }

// Transactions returns the Runner with which events share transactions; nil if the log is no [Transactor].
func (f *Feed) Transactions() tx.Runner {
	if t, ok := f.log.(Transactor); ok {
		return t.Transactions()
	}
	return nil
}

// Watcher is a collection that tells by itself what happens to its items, such as a store with a native stream of changes:
// it is listened to in place of the log of the catalog. It is a capability as those of package resource are. The store is
// listened to once, however many do, by a Feed that begins with the first of them and ends a minute after the last, or
// when that of the catalog is closed. A catalog has a Feed for that, even if each of its collections is a Watcher.
type Watcher[T any] interface {
	// Watch yields what changed behind a place, and waits for changes until ctx ends, which ends the sequence without an error.
	//
	// The first is a [Bookmark] with the place, the zero Cursor being where the store is now. As soon as all that was behind
	// the place at the beginning is told, a Bookmark says how far that was, unless the first has said so; and
	// others may now and then, so that cursors do not grow old. A place that the store cannot go on from is [ErrExpired].
	// Whatever is not ErrExpired may pass: it is asked again.
	//
	// The cursors are the store's: Seq grows from change to change, and is the same for one change whenever it is told;
	// Epoch is another when the store has lost its memory or part of it; Mark may be zero.
	//
	// A change of an item has the item: After, unless it was deleted, and Before, unless it was created. Rev is the revision
	// that Get gives. All of it is a copy, which the store does not change.
	Watch(ctx context.Context, after Cursor) iter.Seq2[*Change[T], error]
}

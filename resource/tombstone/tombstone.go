// Package tombstone makes a collection remember what was deleted from it, so that asking for it again is answered with
// 410 and not 404, and so that an id is not used twice.
//
// Its noun is a [Store] of marks, one for each id that was deleted. It stands beside a collection that has no memory of
// its own:
//
//	ops := tombstone.Remember(resource.OpsOf(orders), memory.NewTombstones(), false)
//	r := resource.FromOps("orders", ops, nil)
package tombstone

import (
	"context"
	"errors"
	"time"

	"github.com/stoa-go/stoa/resource"
)

// Store remembers the ids of deleted items for a collection that does not. Its methods are called from many
// goroutines at once.
type Store interface {
	// Mark remembers that the item with this id was deleted at this time.
	Mark(ctx context.Context, id string, at time.Time) error
	// Unmark forgets it again, because the id has a new item. To unmark what is not marked is no error.
	Unmark(ctx context.Context, id string) error
	// Deleted returns when the item was deleted, and [resource.ErrNotFound] if it is not marked.
	Deleted(ctx context.Context, id string) (time.Time, error)
}

// Remember makes a [resource.Tombstoner] of a collection that is none, with a store of marks beside it.
//
// Where ops has Transactions, and marks take part in them, item and mark change together. Otherwise an item is marked
// just before it is deleted, so that a crash between the two, or a deletion that comes to nothing, leaves a mark on an
// item that is there. Such a mark means nothing: it never answers 410 for an item that is there.
//
// An id that was deleted is refused by Insert with [resource.ErrGone], unless recreate is true.
func Remember[T any](ops resource.Ops[T], marks Store, recreate bool) resource.Ops[T] {
	out := ops
	out.InsertMany = nil // each id has to be asked for among the marks
	together := func(ctx context.Context, fn func(context.Context) error) error { return fn(ctx) }
	if ops.Transactions != nil {
		together = ops.Transactions().InTx
	}
	out.Deleted = func(ctx context.Context, id string) (time.Time, error) {
		at, err := marks.Deleted(ctx, id)
		if err != nil {
			return time.Time{}, err
		}
		if _, err := ops.Get(ctx, id); err == nil { // the mark outlived a crash, the item came back
			return time.Time{}, resource.ErrNotFound
		}
		return at, nil
	}
	gone := func(ctx context.Context, id string, err error) error {
		if errors.Is(err, resource.ErrNotFound) {
			switch _, dead := marks.Deleted(ctx, id); {
			case dead == nil:
				return resource.ErrGone
			case !errors.Is(dead, resource.ErrNotFound):
				return dead // not known is not alive
			}
		}
		return err
	}
	out.Get = func(ctx context.Context, id string) (resource.Item[T], error) {
		item, err := ops.Get(ctx, id)
		return item, gone(ctx, id, err)
	}
	if ops.Delete != nil {
		out.Delete = func(ctx context.Context, id string, expect resource.Rev) error {
			return gone(ctx, id, together(ctx, func(ctx context.Context) error {
				if _, err := ops.Get(ctx, id); err != nil { // what was never there leaves no mark
					return err
				}
				// The mark comes first: whoever finds the item gone must find the mark.
				if err := marks.Mark(ctx, id, time.Now()); err != nil {
					return err
				}
				return ops.Delete(ctx, id, expect)
			}))
		}
	}
	if ops.Replace != nil {
		out.Replace = func(ctx context.Context, id string, expect resource.Rev, v T) (resource.Item[T], error) {
			item, err := ops.Replace(ctx, id, expect, v)
			return item, gone(ctx, id, err)
		}
	}
	if ops.Insert != nil {
		out.Insert = func(ctx context.Context, id string, v T) (item resource.Item[T], err error) {
			err = together(ctx, func(ctx context.Context) error {
				switch _, dead := out.Deleted(ctx, id); {
				case dead == nil && !recreate:
					return resource.ErrGone
				case dead != nil && !errors.Is(dead, resource.ErrNotFound):
					return dead // not known is not free
				}
				if item, err = ops.Insert(ctx, id, v); err != nil {
					return err
				}
				return marks.Unmark(ctx, id)
			})
			return item, err
		}
	}
	return out
}

package resource

// Tombstones for a collection that does not record which items were deleted. Called by
// applications.

import (
	"context"
	"errors"
	"time"
)

// Tombstones stores the ids of deleted items for a collection that does not. Its methods are called
// concurrently.
type Tombstones interface {
	// Mark records that the item with this id was deleted at this time. It replaces an earlier
	// record.
	Mark(ctx context.Context, id string, at time.Time) error
	// Unmark removes the record, because the id has a new item. To unmark an id that is not marked
	// is not an error.
	Unmark(ctx context.Context, id string) error
	// Deleted returns when the item was deleted, and [ErrNotFound] if its id is not marked.
	Deleted(ctx context.Context, id string) (time.Time, error)
}

// WithTombstones returns ops with the capability [Tombstoner], with tombstones in a store of
// their own: a deleted item is answered with 410 Gone in place of 404, and its id is not used
// again.
//
//	ops := resource.OpsOf(orders).WithTombstones(memory.NewTombstones(), false)
//	r := ops.Resource("orders", nil)
//
// If ops has Transactions and marks takes part in them, item and tombstone change together.
// Otherwise an item is marked just before it is deleted, so that a crash between the two, or a
// deletion that fails, leaves a tombstone for an item that exists. Such a tombstone has no effect:
// an item that exists is never answered with 410.
//
// Insert rejects an id that was deleted with [ErrGone], unless recreate is true. InsertMany is
// removed, because it would not check tombstones.
func (ops Ops[T]) WithTombstones(marks Tombstones, recreate bool) Ops[T] {
	out := ops
	out.InsertMany = nil
	together := func(ctx context.Context, fn func(context.Context) error) error { return fn(ctx) }
	if ops.Transactions != nil {
		if runner := ops.Transactions(); runner != nil {
			together = runner.InTx
		}
	}
	out.Deleted = func(ctx context.Context, id string) (time.Time, error) {
		at, err := marks.Deleted(ctx, id)
		if err != nil {
			return time.Time{}, err
		}
		if _, err := ops.Get(ctx, id); err == nil { // the tombstone is of a deletion that failed
			return time.Time{}, ErrNotFound
		}
		return at, nil
	}
	gone := func(ctx context.Context, id string, err error) error {
		if errors.Is(err, ErrNotFound) {
			switch _, dead := marks.Deleted(ctx, id); {
			case dead == nil:
				return ErrGone
			case !errors.Is(dead, ErrNotFound):
				return dead // unknown; the item may have been deleted
			}
		}
		return err
	}
	out.Get = func(ctx context.Context, id string) (Item[T], error) {
		item, err := ops.Get(ctx, id)
		return item, gone(ctx, id, err)
	}
	if ops.Delete != nil {
		out.Delete = func(ctx context.Context, id string, expect Rev) error {
			return gone(ctx, id, together(ctx, func(ctx context.Context) error {
				if _, err := ops.Get(ctx, id); err != nil { // an item that never existed gets no tombstone
					return err
				}
				// The tombstone is written first: a concurrent Get that does not find the item must find
				// the tombstone.
				if err := marks.Mark(ctx, id, time.Now()); err != nil {
					return err
				}
				return ops.Delete(ctx, id, expect)
			}))
		}
	}
	if ops.Replace != nil {
		out.Replace = func(ctx context.Context, id string, expect Rev, v T) (Item[T], error) {
			item, err := ops.Replace(ctx, id, expect, v)
			return item, gone(ctx, id, err)
		}
	}
	if ops.Restore != nil {
		out.Restore = ops.restoreMarked(marks, together)
	}
	if ops.Insert != nil {
		out.Insert = func(ctx context.Context, id string, v T) (item Item[T], err error) {
			err = together(ctx, func(ctx context.Context) error {
				switch _, dead := out.Deleted(ctx, id); {
				case dead == nil && !recreate:
					return ErrGone
				case dead != nil && !errors.Is(dead, ErrNotFound):
					return dead // unknown; the id may be in use
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

// restoreMarked returns Restore for WithTombstones: it removes the tombstone together with the deletion.
func (ops Ops[T]) restoreMarked(
	marks Tombstones, together func(context.Context, func(context.Context) error) error,
) func(ctx context.Context, id string) (Item[T], error) {
	return func(ctx context.Context, id string) (item Item[T], err error) {
		err = together(ctx, func(ctx context.Context) error {
			if item, err = ops.Restore(ctx, id); err != nil {
				return err
			}
			return marks.Unmark(ctx, id)
		})
		return item, err
	}
}

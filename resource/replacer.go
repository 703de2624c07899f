package resource

import "context"

// Replacer is a collection whose items can be changed. It serves PUT and PATCH.
type Replacer[T any] interface {
	// Replace stores v in place of the item whose revision is expect, in one atomic step, and returns the stored item
	// with its new revision. If the item has another revision by now, it changes nothing and returns [ErrStale]; a
	// revision the store could never have given out is stale, too. If there is no such item it returns [ErrNotFound]
	// or [ErrGone].
	//
	// Where ctx has ended it writes nothing and returns an error.
	//
	// There is no way to write without naming the revision that was read, so no update can be lost.
	Replace(ctx context.Context, id string, expect Rev, v T) (Item[T], error)
}

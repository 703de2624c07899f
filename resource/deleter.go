package resource

import "context"

// Deleter is a collection whose items can be deleted. It serves DELETE.
type Deleter interface {
	// Delete removes the item whose revision is expect, in one atomic step. It returns [ErrNotFound] if there never was
	// such an item, [ErrGone] if the store knows that it has been deleted already, whatever expect says, and
	// [ErrStale] if the item has another revision by now. Of two callers who delete the same item at once exactly one
	// succeeds. Where ctx has ended it removes nothing and returns an error.
	Delete(ctx context.Context, id string, expect Rev) error
}

package resource

import "context"

// Creator is a collection that can take in a new item and choose its id. It serves POST.
type Creator[T any] interface {
	// Create stores v under an id that was never used before and returns the stored item. The id field of v is zero.
	// A value that breaks a rule of the store's own, such as a unique field, is refused with [Taken] or [Invalid].
	Create(ctx context.Context, v T) (Item[T], error)
}

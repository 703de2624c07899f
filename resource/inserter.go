package resource

import "context"

// Inserter is a collection that can take in a new item under an id which the caller chose. It serves PUT where nothing
// is there yet, and POST of a body that names its id.
type Inserter[T any] interface {
	// Insert stores v under id, which the id field of v holds too. It returns [ErrExists] if there is such an item, and
	// [ErrGone] if there was one and the store does not give ids a second life. Of two callers who insert the same id
	// at once exactly one succeeds.
	Insert(ctx context.Context, id string, v T) (Item[T], error)
}

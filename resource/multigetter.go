package resource

import (
	"context"
	"iter"
)

// MultiGetter is a collection that can fetch many items in one go. Relations that point here are then resolved with one
// call for a whole page, whatever its length.
type MultiGetter[T any] interface {
	// GetMany returns the items with these ids, in any order, each at most once. The ids are distinct. Ids without an
	// item are left out; that is no error.
	GetMany(ctx context.Context, ids []string) iter.Seq2[Item[T], error]
}

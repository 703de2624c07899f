package resource

import "context"

// multiInserter is a collection that can store many new items in one go; see [Ops].InsertMany.
type multiInserter[T any] interface {
	InsertMany(ctx context.Context, items []Item[T]) error
}

package resource

import (
	"context"
	"iter"

	"github.com/stoa-go/stoa/query"
)

// Collection is the least a store provides: enough to be read. Everything else is a capability, an interface of one
// method that a store implements as well: [Creator], [Inserter], [Replacer], [Deleter], [Tombstoner], [Counter],
// [MultiGetter], [BatchLister], [Transactor] and, in package feed, Watcher.
//
// Its methods are called from many goroutines at once. What they return belongs to the caller: a store that keeps
// values in memory gives out copies of whatever a caller could change.
type Collection[T any] interface {
	// Get returns the item with this id, [ErrNotFound] if there is none, or [ErrGone] if the store knows that it has
	// been deleted.
	Get(ctx context.Context, id string) (Item[T], error)

	// List returns the items q asks for, in the order it asks for. q never asks for more than Options.Query declares,
	// except for what Options.Scope and ViewOptions.Where add to its filter: their author knows the store. The iterator is used once, and yields nothing after an error. The consumer may stop early.
	List(ctx context.Context, q query.Query) iter.Seq2[Item[T], error]
}

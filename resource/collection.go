package resource

// The interface that a store implements at least. Each capability beyond it is in capability.go.

import (
	"context"
	"iter"

	"github.com/stoa-go/stoa/query"
)

// Collection is the interface that every store implements. Declare it and the capabilities of the
// store, so that the compiler reports a missing method or a wrong signature:
//
//	var _ resource.Collection[Task] = (*Store)(nil)
//	var _ resource.Creator[Task] = (*Store)(nil)
//
// Collection is enough for reads. Everything else is a capability, an interface of one method that
// the store also implements: [Creator], [Inserter], [Replacer], [Deleter], [Tombstoner], [Restorer],
// [Counter], [Aggregator], [Searcher], [MultiGetter], [BatchLister], [BatchCounter], [JSONLister],
// [Revisioner], [RevisionLister], [Joiner], [Transactor], [Locker] and, in package feed, Watcher. T is the
// type of the items, not a pointer to it.
//
// Methods are called concurrently. The values they return belong to the caller: a store that keeps
// values in memory returns copies of everything that a caller could change. A write that begins
// with a ctx that is done writes nothing and returns an error.
type Collection[T any] interface {
	// Get returns the item with this id. The error is [ErrNotFound] if it does not exist, and
	// [ErrGone] if the store records that it was deleted.
	Get(ctx context.Context, id string) (Item[T], error)

	// List returns the items that q selects, in the order of q.Sort; see [query.Query]. q uses only
	// fields and operators that Options.Query declares, except for the filters that Options.Scope
	// and ViewOptions.Where add. If the store cannot evaluate one of those, it returns an error.
	// The iterator is used once and yields nothing after an error. The consumer may stop early.
	List(ctx context.Context, q query.Query) iter.Seq2[Item[T], error]
}

package resource

// The capabilities: interfaces of one method that a collection implements beside Get and List.
// OpsOf in ops.go detects them once, and signature.go rejects methods that have the name of a
// capability but another signature. Each capability adds a route, a GraphQL field and an OpenAPI
// operation.

import (
	"context"
	"iter"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/tx"
)

// Creator is a collection that stores new items and chooses their ids. It serves POST.
type Creator[T any] interface {
	// Create stores v under an id that has never been used and returns the stored item. The id
	// field of v is zero. If v violates a rule of the store, such as a unique field, the error is
	// [Taken] or [Invalid], as in Insert and Replace. If ctx is done before the call, Create stores
	// nothing and returns an error, because the client no longer waits and may retry.
	Create(ctx context.Context, v T) (Item[T], error)
}

// Inserter is a collection that stores new items under an id that the client chooses. It serves PUT
// of an item that does not exist, and POST of a document that contains an id.
type Inserter[T any] interface {
	// Insert stores v under id. The id field of v holds id, too. The error is [ErrExists] if the
	// item exists, and [ErrGone] if it was deleted and the store does not reuse ids. Of concurrent
	// calls with the same id exactly one succeeds. If ctx is done before the call, Insert stores
	// nothing and returns an error.
	Insert(ctx context.Context, id string, v T) (Item[T], error)
}

// multiInserter is a collection that stores many new items in one call; see [Ops].InsertMany.
type multiInserter[T any] interface {
	InsertMany(ctx context.Context, items []Item[T]) error
}

// inMemory is a collection that declares that its reads do no I/O; see [Ops].InMemory.
type inMemory interface{ InMemory() bool }

// Replacer is a collection whose items can be replaced. It serves PUT and PATCH.
type Replacer[T any] interface {
	// Replace stores v in place of the item if its revision is expect, in one atomic step. It
	// returns the stored item with its new revision. If the item has another revision, Replace
	// writes nothing and returns [ErrStale], also for a revision that the store has never issued.
	// If the item does not exist, the error is [ErrNotFound] or [ErrGone].
	//
	// Every write names the revision that was read, so concurrent updates cannot overwrite each
	// other.
	Replace(ctx context.Context, id string, expect Rev, v T) (Item[T], error)
}

// Deleter is a collection whose items can be deleted. It serves DELETE.
type Deleter interface {
	// Delete removes the item if its revision is expect, in one atomic step. The error is
	// [ErrNotFound] if the item has never existed, [ErrGone] if it was deleted and the store
	// records that, and [ErrStale] if it has another revision. Of concurrent calls for the same
	// item exactly one succeeds.
	Delete(ctx context.Context, id string, expect Rev) error
}

// Tombstoner is a collection that records which items were deleted. A request for such an item is
// answered with 410 (Gone) in place of 404. [Ops.WithTombstones] adds the capability to a store
// that does not have it.
type Tombstoner interface {
	// Deleted returns when the item with this id was deleted. The error is [ErrNotFound] if the
	// item exists or has never existed.
	Deleted(ctx context.Context, id string) (time.Time, error)
}

// Counter is a collection that counts items without listing them. It serves "total" if a client
// requests it.
type Counter interface {
	// Count returns the number of items that q.Filter selects. The other fields of q are zero.
	Count(ctx context.Context, q query.Query) (int, error)
}

// MultiGetter is a collection that returns many items in one call. Relations to it then take one
// call for each page, whatever the number of items.
type MultiGetter[T any] interface {
	// GetMany returns the items with these ids, each at most once and in any order. The ids are
	// distinct. An id without an item is left out and is not an error.
	GetMany(ctx context.Context, ids []string) iter.Seq2[Item[T], error]
}

// BatchLister is a collection that lists for many keys in one call. Relations to many then take one
// call for each page.
type BatchLister[T any] interface {
	// ListByKeys returns, for each key, the first q.Limit items (all, if q.Limit is zero) that
	// q.Filter selects and whose field holds the key. Items of one key are in the order of q.Sort;
	// the keys are in any order. field is one that query.Support declares for query.Eq, so an item
	// has one key. The keys are distinct and in text form. q.After and q.Token are zero.
	ListByKeys(ctx context.Context, field string, keys []string, q query.Query) iter.Seq2[Item[T], error]
}

// Transactor is a collection that takes part in transactions. If the context of a method carries a
// transaction of the Runner, the effects of the method are committed or rolled back with it.
//
// POST of such a collection also accepts batches: a document of the type
// application/vnd.stoa.batch+json is a list of operations that are carried out together or not at
// all. See [Resource.Batch].
type Transactor interface {
	// Transactions returns the Runner of the database that holds the collection, the same on each
	// call, or nil if there are no transactions. Two collections with equal Runners share a
	// database.
	Transactions() tx.Runner
}

// Locker is a collection that can lock an item until the end of a transaction. [GetForUpdate] calls
// it.
type Locker[T any] interface {
	// GetForUpdate is Get in the transaction that ctx carries, which is one of the collection's
	// Runner. No other transaction can change or delete the item until it ends. If another
	// transaction has changed the item since this one began, the error is a conflict, after which
	// the Runner calls its function again. The errors are those of Get.
	GetForUpdate(ctx context.Context, id string) (Item[T], error)
}

package resource

// The capabilities: interfaces of one method that a collection implements beside Get and List. OpsOf in ops.go asserts them
// once, and signature.go refuses methods that almost have one. Each adds a route, a GraphQL field and an OpenAPI operation.

import (
	"context"
	"iter"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/tx"
)

// Creator is a collection that can take in a new item and choose its id. It serves POST.
type Creator[T any] interface {
	// Create stores v under an id that was never used before and returns the stored item. The id field of v is zero.
	// A value that breaks a rule of the store's own, such as a unique field, is refused with [Taken] or [Invalid].
	Create(ctx context.Context, v T) (Item[T], error)
}

// Inserter is a collection that can take in a new item under an id which the caller chose. It serves PUT where nothing
// is there yet, and POST of a body that names its id.
type Inserter[T any] interface {
	// Insert stores v under id, which the id field of v holds too. It returns [ErrExists] if there is such an item, and
	// [ErrGone] if there was one and the store does not give ids a second life. Of two callers who insert the same id
	// at once exactly one succeeds.
	Insert(ctx context.Context, id string, v T) (Item[T], error)
}

// multiInserter is a collection that can store many new items in one go; see [Ops].InsertMany.
type multiInserter[T any] interface {
	InsertMany(ctx context.Context, items []Item[T]) error
}

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

// Deleter is a collection whose items can be deleted. It serves DELETE.
type Deleter interface {
	// Delete removes the item whose revision is expect, in one atomic step. It returns [ErrNotFound] if there never was
	// such an item, [ErrGone] if the store knows that it has been deleted already, whatever expect says, and
	// [ErrStale] if the item has another revision by now. Of two callers who delete the same item at once exactly one
	// succeeds. Where ctx has ended it removes nothing and returns an error.
	Delete(ctx context.Context, id string, expect Rev) error
}

// Tombstoner is a collection that remembers what was deleted, so that asking for it again is answered with 410 (Gone)
// and not with 404. For a store that cannot, there is [Ops.WithTombstones].
type Tombstoner interface {
	// Deleted returns when the item with this id was deleted, and [ErrNotFound] if it is alive or was never there.
	Deleted(ctx context.Context, id string) (time.Time, error)
}

// Counter is a collection that can count without listing. It serves "total" where a client asks for it.
type Counter interface {
	// Count returns how many items q.Filter selects. The rest of q is zero.
	Count(ctx context.Context, q query.Query) (int, error)
}

// MultiGetter is a collection that can fetch many items in one go. Relations that point here are then resolved with one
// call for a whole page, whatever its length.
type MultiGetter[T any] interface {
	// GetMany returns the items with these ids, in any order, each at most once. The ids are distinct. Ids without an
	// item are left out; that is no error.
	GetMany(ctx context.Context, ids []string) iter.Seq2[Item[T], error]
}

// BatchLister is a collection that can list for many keys at once: the first items of each. Relations to many are then
// resolved with one call for a whole page.
type BatchLister[T any] interface {
	// ListByKeys returns, for each of keys, the first q.Limit items (all, if q.Limit is zero) which q.Filter selects and
	// whose field holds that key, in the order of q.Sort within a key and in any order between keys. field is one that
	// query.Support declares for query.Eq, and the keys are distinct, in text form.
	ListByKeys(ctx context.Context, field string, keys []string, q query.Query) iter.Seq2[Item[T], error]
}

// Transactor is a collection that takes part in transactions: whatever its methods do with a context that carries a
// transaction of its Runner is committed or rolled back with it.
//
// Where items can be created, POST then also takes batches: content of the type application/vnd.stoa.batch+json is a list
// of operations that stand or fall together. See [Resource.Batch].
type Transactor interface {
	// Transactions returns the Runner of the database that holds the collection. Two collections whose Runners are
	// equal share a database. It returns the same Runner each time.
	Transactions() tx.Runner
}

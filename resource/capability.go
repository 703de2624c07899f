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

// supportChecker is a collection that does not support all queries; see [Ops].CheckSupport.
type supportChecker interface {
	CheckSupport(s query.Support) error
}

// Replacer is a collection that can replace its items. It serves PUT and PATCH.
type Replacer[T any] interface {
	// Replace stores v in place of the item if its revision is expect, in one atomic step. It
	// returns the stored item with its new revision. If the item has another revision, Replace
	// writes nothing and returns [ErrStale], also for a revision that the store has never issued.
	// If the item does not exist, the error is [ErrNotFound] or [ErrGone]. If v equals the stored value,
	// Replace may write nothing, and the item keeps its revision.
	//
	// Every write names the revision that was read, so concurrent updates cannot overwrite each
	// other.
	Replace(ctx context.Context, id string, expect Rev, v T) (Item[T], error)
}

// Deleter is a collection that can delete its items. It serves DELETE.
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

// Restorer is a collection that keeps deleted items and can restore them. It is served if
// Options.Restore is set.
type Restorer[T any] interface {
	// Restore makes a deleted item exist again, with the value that it had and a revision that it never
	// had, in one atomic step. The error is [ErrExists] if the item is not deleted, [ErrNotFound] if
	// there is no such item or its value is no longer kept, and [Taken] or [Invalid] if the value
	// violates a rule of the store now. It may be [ErrStale] if another write has changed the item
	// during the call; the library then tries again. Of concurrent calls for the same item exactly one
	// succeeds. If ctx is done before the call, Restore writes nothing and returns an error.
	Restore(ctx context.Context, id string) (Item[T], error)
}

// restores is a collection that declares whether its method Restore can be used; see [Ops].Restore.
type restores interface{ Restores() bool }

// Counter is a collection that counts items without listing them. It serves "total" if a client
// requests it.
type Counter interface {
	// Count returns the number of items that q.Filter selects and, if the collection is a [Searcher],
	// q.Search. The other fields of q are zero.
	Count(ctx context.Context, q query.Query) (int, error)
}

// Aggregator is a collection that groups items and computes counts, sums and other aggregates of each
// group. It is served if Options.Query declares Group or Aggregate.
type Aggregator interface {
	// Aggregate returns the groups that a selects, in the order of a.Sort, which is total. a names
	// only groups and aggregates that Options.Query declares; a.Filter is as in List, and a.Search as in
	// [Searcher]. a.Joined is nil unless the collection is a [Joiner]. The meaning of a is that of
	// [query.Summarize]. The iterator is used once and yields nothing after an error. The consumer may stop
	// early.
	Aggregate(ctx context.Context, a query.Aggregation) iter.Seq2[query.Group, error]
}

// Searcher is a collection with full-text search. It serves the parameter q of lists, for the fields that
// Options.Query.Search declares.
type Searcher[T any] interface {
	// Search is List for a q with a Search: it returns the items that q.Search and q.Filter select. q.Sort
	// may have the key [query.Rank], which compares the ranks of this search. q.Search.Fields is
	// Options.Query.Search. The rank of an item is in Item.Keys if q.Sort has that key.
	//
	// The items are those of [query.Search.Match], except if the store has a language. The rank depends
	// on the item and q.Search alone, so that a search neither reveals anything of items that the caller
	// may not see, nor changes its order if another item is written. A better match has a greater rank.
	// The same item has exactly the same rank in each page.
	//
	// If the collection is a [Counter] or an [Aggregator], their methods get a Search too. A filter
	// through relations selects items in addition to a Search, which covers the fields of the items
	// alone. Deleted items are not found, even if they can be restored.
	Search(ctx context.Context, q query.Query) iter.Seq2[Item[T], error]
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
	// q.Filter selects and that have the key in field. Items of one key are in the order of q.Sort;
	// the keys are in any order. field is one that query.Support declares for query.Eq, so an item
	// has one key. The keys are distinct and in text form. q.After and q.Token are zero.
	//
	// If q.Links is not nil, which only a [Joiner] gets, field is one of the links. The items of a key are
	// those to which at least one of q.Links with the key leads, each once. An item can have several keys,
	// and is returned for each. Item.Keys then has one more value at its end: the key, as it is in keys.
	ListByKeys(ctx context.Context, field string, keys []string, q query.Query) iter.Seq2[Item[T], error]
}

// BatchCounter is a collection that counts for many keys in one call. Pages of a relation to many then
// take one call for the totals of all lists.
type BatchCounter interface {
	// CountByKeys returns, for each key, the number of items that q.Filter selects and that hold the key
	// in the field. Keys without items may be absent. field and keys are those of
	// [BatchLister], and the map has the keys as they are in keys. q.Links is that of [BatchLister], too. The
	// other fields of q are zero.
	CountByKeys(ctx context.Context, field string, keys []string, q query.Query) (map[string]int, error)
}

// JSONLister is a collection that encodes the items of a list itself, such as from the rows of a
// database without values of T. Lists and exports call it in place of List if nothing needs the values:
// neither Options.Authorize nor a view nor a related item. The start-up report names the lists for which
// it is called.
type JSONLister interface {
	// ListJSON is List with encoded items. The JSON of each is what [schema.Type.Append] makes of the
	// value that List would return or, if q.Fields is not nil, an object of these members alone, in the
	// order of the schema. q.Fields then has the fields of q.Sort and of the id.
	ListJSON(ctx context.Context, q query.Query) iter.Seq2[ItemJSON, error]
}

// Revisioner is a collection that returns the revision of an item without reading the item. It declares
// that the JSON of an item depends on its id and revision alone, and not on the caller or on other data.
// Its items are kept in the [cache.Cache], and a conditional request is answered with 304 at less cost, if
// neither policy nor a view needs the value.
type Revisioner interface {
	// GetRevision is Get without the value.
	GetRevision(ctx context.Context, id string) (Revision, error)
}

// RevisionLister is a collection that lists revisions without values, at less cost than List. It declares
// the same as a [Revisioner], and is ignored if the collection is no [MultiGetter]. A page then reads only
// the items that the [cache.Cache] does not have, if nothing needs the values.
type RevisionLister interface {
	// ListRevisions is List without the values.
	ListRevisions(ctx context.Context, q query.Query) iter.Seq2[Revision, error]
}

// Joiner is a collection that reads the items of another one in the query of a list, such as a table of
// the same database. Lists can then be sorted, and items grouped, by fields of related items
// (query.JoinedField). Filters through relations take one query, whatever the number of related items.
// Without it the keys of the related items that match are read first, and List gets them as the operand of
// query.In. More than 1,000 keys are a client error (400, code tooMany). So are more than 10,000 items that
// are read for all relations of a filter, including those that Authorize hides.
//
// A collection is not joined if it has Options.Authorize without ScopeComplete, because Authorize is
// called for each item, or if two fields that are compared have different kinds. Like the [FastReads], the
// capability does not apply to a collection of which Get or List is decorated.
type Joiner interface {
	// Joins reports whether List, Count and the other reads of the collection accept a filter with
	// query.SomeOp and the Value j. j.Target is the Joiner of the related items. The operand of the
	// filter is one that the collection of the related items would get, and may use any of its
	// fields.
	//
	// List, Search and ListByKeys then also accept a query.Order with a Joined that has the Join j, if
	// j.By is the id of the related items. Its Field is one that the collection of the related items
	// declares in query.Support.Sort, or its id. Item.Keys has the values, which must be those by which
	// the list was sorted. Aggregate accepts such fields in query.Aggregation.Joined, if the collection of
	// the related items declares them in query.Support.Group, or its id.
	//
	// ListByKeys and CountByKeys accept a query.Links with the Join j. j.Target is then the Joiner of the
	// links, and j.Field the id. Pages of a relation with Relation.Through then take one call for the items
	// and one for the totals, whatever the number of links. j.Key is set for them alone. A collection that
	// does not read query.Links must return false if j.Key is set.
	//
	// NewCatalog calls Joins for each relation of query.Support.Relations, for each path of
	// query.Support.Sort and query.Support.Group, and for each relation with Relation.Through.
	Joins(j *query.Join) bool
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

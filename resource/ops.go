package resource

// A collection as a struct of functions, which can be decorated, and the names of operations.
// Called by resource.go. It calls signature.go.

import (
	"context"
	"iter"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/tx"
)

// Ops is a collection as a struct of functions, one for each method of [Collection] and of the
// capabilities. Get and List are required ([Ops.Resource] panics without them); any other function
// is nil if the collection does not have the capability.
//
// Ops decorates a collection without hiding its capabilities: call [OpsOf], wrap functions, and
// call [Ops.Resource].
//
//	ops := resource.OpsOf(orders)
//	get := ops.Get
//	ops.Get = func(ctx context.Context, id string) (resource.Item[Order], error) {
//		defer timer.Observe("get")()
//		return get(ctx, id)
//	}
//	r := ops.Resource("orders", nil)
//
// A decorator of Insert must also wrap InsertMany or set it to nil, because imports call InsertMany
// in place of Insert.
type Ops[T any] struct {
	Get          func(ctx context.Context, id string) (Item[T], error)
	List         func(ctx context.Context, q query.Query) iter.Seq2[Item[T], error]
	Create       func(ctx context.Context, v T) (Item[T], error)
	Insert       func(ctx context.Context, id string, v T) (Item[T], error)
	Replace      func(ctx context.Context, id string, expect Rev, v T) (Item[T], error)
	Delete       func(ctx context.Context, id string, expect Rev) error
	Deleted      func(ctx context.Context, id string) (time.Time, error)
	Count        func(ctx context.Context, q query.Query) (int, error)
	GetMany      func(ctx context.Context, ids []string) iter.Seq2[Item[T], error]
	ListByKeys   func(ctx context.Context, field string, keys []string, q query.Query) iter.Seq2[Item[T], error]
	Transactions func() tx.Runner
	// GetForUpdate is the method of [Locker].
	GetForUpdate func(ctx context.Context, id string) (Item[T], error)
	// Watch is the method of [feed.Watcher].
	Watch func(ctx context.Context, after feed.Cursor) iter.Seq2[*feed.Change[T], error]

	// InsertMany stores all items, each Value under its ID, or none. The ids are distinct and not
	// empty. The stored items are not returned; a caller that needs them reads them. The error is
	// [ErrExists] if one of the ids is in use, and [ErrExists] or [ErrGone] if the collection
	// records that one was deleted, even if Insert would accept it. Other errors are those of
	// Insert. The error need not identify the item: after an error the items are stored one by one.
	//
	// InsertMany makes imports fast ([Resource.Import]). It is ignored if Insert is nil. A
	// collection with a method InsertMany of this form has the capability.
	InsertMany func(ctx context.Context, items []Item[T]) error

	// InMemory declares that reads do no I/O, so that [Options].ReadTimeout does not apply to them.
	// A collection declares it by a method InMemory that returns true. A decorator that adds I/O
	// sets it to false.
	InMemory bool
}

// OpsOf returns the methods of c as functions. Like [New] it panics if c has a method with the name
// of a capability and another signature, because the capability would be missing without a warning.
func OpsOf[T any](c Collection[T]) Ops[T] {
	checkSignatures[T](c)
	ops := Ops[T]{Get: c.Get, List: c.List}
	if c, ok := c.(Creator[T]); ok {
		ops.Create = c.Create
	}
	if c, ok := c.(Inserter[T]); ok {
		ops.Insert = c.Insert
	}
	if c, ok := c.(Replacer[T]); ok {
		ops.Replace = c.Replace
	}
	if c, ok := c.(Deleter); ok {
		ops.Delete = c.Delete
	}
	if c, ok := c.(Tombstoner); ok {
		ops.Deleted = c.Deleted
	}
	if c, ok := c.(Counter); ok {
		ops.Count = c.Count
	}
	if c, ok := c.(MultiGetter[T]); ok {
		ops.GetMany = c.GetMany
	}
	if c, ok := c.(BatchLister[T]); ok {
		ops.ListByKeys = c.ListByKeys
	}
	if c, ok := c.(multiInserter[T]); ok {
		ops.InsertMany = c.InsertMany
	}
	if c, ok := c.(inMemory); ok {
		ops.InMemory = c.InMemory()
	}
	if c, ok := c.(Transactor); ok {
		ops.Transactions = c.Transactions
	}
	if c, ok := c.(Locker[T]); ok {
		ops.GetForUpdate = c.GetForUpdate
	}
	if c, ok := c.(feed.Watcher[T]); ok {
		ops.Watch = c.Watch
	}
	return ops
}

// Op is an operation on a resource, as hooks, errors and the start-up report name it.
type Op string

// The operations.
const (
	OpGet     Op = "get"     // read one item: GET, HEAD, each item of a list or a relation
	OpList    Op = "list"    // list or count; in errors only, because Authorize gets OpGet for each item
	OpCreate  Op = "create"  // create an item: POST, and PUT of an item that does not exist
	OpReplace Op = "replace" // replace an item: PUT
	OpPatch   Op = "patch"   // change parts of an item: PATCH
	OpDelete  Op = "delete"  // delete an item: DELETE
)

package resource

import (
	"context"
	"iter"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/tx"
)

// Ops is a collection as a struct of functions, one for each method of [Collection] and of the capabilities; nil is a
// capability that is absent. It is how a collection is decorated without hiding what it can do: take the Ops of the
// inner one, wrap the functions that matter, and serve the result with [Ops.Resource].
//
//	ops := resource.OpsOf(orders)
//	get := ops.Get
//	ops.Get = func(ctx context.Context, id string) (resource.Item[Order], error) {
//		defer timer.Observe("get")()
//		return get(ctx, id)
//	}
//	r := ops.Resource("orders", nil)
//
// Whoever wraps Insert wraps InsertMany, too, or sets it to nil: imports do not come by Insert where that is there.
//
// Get and List are always set.
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
	// Watch is that of [feed.Watcher].
	Watch func(ctx context.Context, after feed.Cursor) iter.Seq2[*feed.Change[T], error]

	// InsertMany stores new items, each Value under its ID, or none of them. The ids are distinct and not empty. What the
	// store makes of them nobody is told: who wants to know asks again. The error is [ErrExists] if one of the ids is in use,
	// [ErrExists] or [ErrGone] if the collection remembers that one was deleted, even where Insert would let it come again,
	// and otherwise as that of Insert. Which of the items it is about nobody needs to know: what cannot be stored together is
	// stored one by one.
	//
	// It makes imports fast ([Resource.Import]), and is of no use without Insert. A collection that has a method InsertMany of this
	// form has the capability.
	InsertMany func(ctx context.Context, items []Item[T]) error
}

// OpsOf returns what c can do. It panics, like [New], if c has a method that is named like one of a capability but has
// another signature, because such a capability would be lost without a word.
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
	if c, ok := c.(Transactor); ok {
		ops.Transactions = c.Transactions
	}
	if c, ok := c.(feed.Watcher[T]); ok {
		ops.Watch = c.Watch
	}
	return ops
}

// Op is something that can be done to a resource, as hooks, errors and the start-up report name it.
type Op string

// The operations.
const (
	OpGet     Op = "get"     // look at one item: GET and HEAD of an item, each item of a list, each end of a relation
	OpList    Op = "list"    // list or count
	OpCreate  Op = "create"  // bring an item into being: POST, and PUT where there was none
	OpReplace Op = "replace" // put another value in its place: PUT
	OpPatch   Op = "patch"   // change parts: PATCH
	OpDelete  Op = "delete"  // remove it: DELETE
)

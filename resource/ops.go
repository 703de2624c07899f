package resource

// A collection as a struct of functions, which can be decorated, and the names of operations.
// Called by resource.go. It calls signature.go.

import (
	"context"
	"iter"
	"reflect"
	"time"
	"unsafe"

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
// in place of Insert. A decorator of List must wrap Search too, or set it to nil. If Get or List is
// replaced, the [FastReads] are not called.
type Ops[T any] struct {
	Get        func(ctx context.Context, id string) (Item[T], error)
	List       func(ctx context.Context, q query.Query) iter.Seq2[Item[T], error]
	Create     func(ctx context.Context, v T) (Item[T], error)
	Insert     func(ctx context.Context, id string, v T) (Item[T], error)
	Replace    func(ctx context.Context, id string, expect Rev, v T) (Item[T], error)
	Delete     func(ctx context.Context, id string, expect Rev) error
	Deleted    func(ctx context.Context, id string) (time.Time, error)
	Count      func(ctx context.Context, q query.Query) (int, error)
	Aggregate  func(ctx context.Context, a query.Aggregation) iter.Seq2[query.Group, error]
	GetMany    func(ctx context.Context, ids []string) iter.Seq2[Item[T], error]
	ListByKeys func(ctx context.Context, field string, keys []string, q query.Query) iter.Seq2[Item[T], error]
	Search     func(ctx context.Context, q query.Query) iter.Seq2[Item[T], error]

	Transactions func() tx.Runner
	// CountByKeys is the method of [BatchCounter].
	CountByKeys func(
		ctx context.Context, field string, keys []string, q query.Query,
	) (map[string]int, error)
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

	// Restore is the method of [Restorer]. A collection that has the method and cannot restore, because of
	// its options, declares it by a method Restores that returns false.
	Restore func(ctx context.Context, id string) (Item[T], error)

	// CheckSupport returns an error if the collection cannot answer the queries of s, such as a filter by a
	// field without a column. [Ops.Resource] calls it for each operator, sort key, group and aggregate of
	// Options.Query alone, and panics. Nil means that all are supported. A collection declares it by a
	// method CheckSupport of this form. A decorator that answers more queries sets it to nil.
	CheckSupport func(s query.Support) error

	// InMemory declares that reads do no I/O, so that [Options].ReadTimeout does not apply to them.
	// A collection declares it by a method InMemory that returns true. A decorator that adds I/O
	// sets it to false.
	InMemory bool

	fast    FastReads
	fastFor [2]unsafe.Pointer // Get and List when fast was set
}

// FastReads are functions that are called in place of Get and List where nothing needs the values of
// items. Each may be nil. [OpsOf] does not use the methods of a collection that embeds another one with
// the method; set them by [Ops.WithFastReads].
type FastReads struct {
	ListJSON      func(ctx context.Context, q query.Query) iter.Seq2[ItemJSON, error] // of a [JSONLister]
	GetRevision   func(ctx context.Context, id string) (Revision, error)              // of a [Revisioner]
	ListRevisions func(ctx context.Context, q query.Query) iter.Seq2[Revision, error] // of a [RevisionLister]
	// Joiner reads related items in the queries of List, and is read in those of other collections.
	Joiner Joiner
}

// WithFastReads returns ops with functions that read what its Get and List read. If Get or List is
// replaced afterwards, f is ignored, so that a decorator is called for every read.
func (ops Ops[T]) WithFastReads(f FastReads) Ops[T] {
	ops.fast, ops.fastFor = f, ops.reads()
	return ops
}

// FastReads returns the functions of [Ops.WithFastReads]. They are nil if Get or List was replaced.
func (ops *Ops[T]) FastReads() FastReads {
	if ops.fastFor != ops.reads() {
		return FastReads{}
	}
	return ops.fast
}

// reads identifies the functions Get and List. The language does not compare functions, and methods of
// two stores have the same code. A function is a pointer to its code and variables.
func (ops *Ops[T]) reads() [2]unsafe.Pointer {
	return [2]unsafe.Pointer{
		*(*unsafe.Pointer)(unsafe.Pointer(&ops.Get)), *(*unsafe.Pointer)(unsafe.Pointer(&ops.List))}
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
	if c, ok := c.(Aggregator); ok {
		ops.Aggregate = c.Aggregate
	}
	if c, ok := c.(MultiGetter[T]); ok {
		ops.GetMany = c.GetMany
	}
	if c, ok := c.(BatchLister[T]); ok {
		ops.ListByKeys = c.ListByKeys
	}
	if c, ok := c.(Searcher[T]); ok {
		ops.Search = c.Search
	}
	if c, ok := c.(BatchCounter); ok {
		ops.CountByKeys = c.CountByKeys
	}
	if c, ok := c.(multiInserter[T]); ok {
		ops.InsertMany = c.InsertMany
	}
	if c, ok := c.(Restorer[T]); ok {
		ops.Restore = c.Restore
	}
	if c, ok := c.(restores); ok && !c.Restores() {
		ops.Restore = nil
	}
	if c, ok := c.(supportChecker); ok {
		ops.CheckSupport = c.CheckSupport
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
	var fast FastReads
	if c, ok := c.(JSONLister); ok && !embeds[JSONLister](c) {
		fast.ListJSON = c.ListJSON
	}
	if c, ok := c.(Revisioner); ok && !embeds[Revisioner](c) {
		fast.GetRevision = c.GetRevision
	}
	if c, ok := c.(RevisionLister); ok && !embeds[RevisionLister](c) {
		fast.ListRevisions = c.ListRevisions
	}
	if c, ok := c.(Joiner); ok && !embeds[Joiner](c) {
		fast.Joiner = c
	}
	return ops.WithFastReads(fast)
}

// embeds reports whether c embeds a value with the methods of I. They may then be promoted, and bypass
// Get and List of c.
func embeds[I any](c any) bool {
	t := reflect.TypeOf(c)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return false
	}
	for f := range t.Fields() {
		if f.Anonymous && (f.Type.Implements(reflect.TypeFor[I]()) ||
			reflect.PointerTo(f.Type).Implements(reflect.TypeFor[I]())) {
			return true
		}
	}
	return false
}

// restoreMistakes returns why Options.Restore is not possible.
func (ops *Ops[T]) restoreMistakes() (found []string) {
	if ops.Restore == nil {
		found = append(found, "Options.Restore is set, but the collection is not a Restorer, as one with "+
			"soft deletion is; remove Restore")
	}
	if ops.Transactions == nil || ops.Transactions() == nil {
		found = append(found, "Options.Restore is set, but the collection has no transactions, which undo "+
			"what the policy forbids; remove Restore")
	}
	return found
}

// searchMistakes returns why the search that is declared is not possible.
func (ops *Ops[T]) searchMistakes(q query.Support) []string {
	if len(q.Search) > 0 && ops.Search == nil {
		return []string{"Options.Query.Search is set, but the collection is not a Searcher; remove it"}
	}
	return nil
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
	OpRestore Op = "restore" // restore a deleted item: POST of its path followed by /restore
)

package resource

// The only place that removes the type parameter of a collection. Called by core.go; its functions
// are called by read.go, list_cursor.go, relation.go and publish.go.

import (
	"context"
	"iter"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/tx"
)

// erased has the operations and hooks of a collection without its type parameter. nil is absent.
type erased struct {
	// getRevision returns no Revision, because copying one takes a tenth of the time of a 304.
	getRevision func(ctx context.Context, id string) (Rev, time.Time, error)

	// get stores the item in b or, if b is nil, in memory of its own.
	get      func(ctx context.Context, id string, b buffer) (*Entry, error)
	list     func(ctx context.Context, q query.Query, b buffer) error
	listJSON func(ctx context.Context, q query.Query, b buffer) error
	joiner   Joiner
	// listRevisions is nil without getMany.
	listRevisions func(ctx context.Context, q query.Query, b buffer) error
	create        func(ctx context.Context, v any) (*Entry, error)
	insert        func(ctx context.Context, id string, v any) (*Entry, error)
	replace       func(ctx context.Context, id string, expect Rev, v any) (*Entry, error)
	delete        func(ctx context.Context, id string, expect Rev) error
	deleted       func(ctx context.Context, id string) (time.Time, error)
	restore       func(ctx context.Context, id string) (*Entry, error) // with Options.Restore
	count         func(ctx context.Context, q query.Query) (int, error)
	aggregate     func(ctx context.Context, a query.Aggregation) iter.Seq2[query.Group, error]
	getMany       func(ctx context.Context, ids []string, b buffer) error
	listByKeys    func(ctx context.Context, field string, keys []string, q query.Query, b buffer) error
	search        func(ctx context.Context, q query.Query, b buffer) error
	countByKeys   func(ctx context.Context, by string, keys []string, q query.Query) (map[string]int, error)
	// getForUpdate is a func(context.Context, string) (Item[T], error); see [GetForUpdate].
	getForUpdate any
	lock         func(ctx context.Context, id string) error
	runner       tx.Runner
	nester       tx.Nester // the runner, if it has savepoints
	watch        func(ctx context.Context, after feed.Cursor) iter.Seq2[*feed.Event, error]

	insertMany func(ctx context.Context, ids []string, vs []any) error

	authorize func(ctx context.Context, op Op, before, after any) error
	before    func(ctx context.Context, op Op, before, after any) error
	after     func(ctx context.Context, op Op, before, after any)

	newBuffer func() buffer
}

// erase removes the type parameter of ops and of the hooks.
func erase[T any](c *core, ops Ops[T], o *Options[T]) erased {
	pool := newBufferPool[T](c)
	fast := ops.FastReads()
	e := erased{newBuffer: pool.take, deleted: ops.Deleted, delete: ops.Delete, count: ops.Count,
		aggregate: ops.Aggregate, countByKeys: ops.CountByKeys}
	e.get = func(ctx context.Context, id string, b buffer) (*Entry, error) {
		item, err := ops.Get(ctx, id)
		if b == nil || err != nil {
			return entryOf(c, id, &item, err)
		}
		return b.(*pageBuffer[T]).store(id, &item)
	}
	e.list = func(ctx context.Context, q query.Query, b buffer) error {
		return drain(ctx, b.(*pageBuffer[T]), ops.List(ctx, q), q.Limit)
	}
	e.joiner = fast.Joiner
	if fast.GetRevision != nil {
		e.getRevision = eraseGetRevision(c, fast.GetRevision)
	}
	if fast.ListJSON != nil {
		e.listJSON = func(ctx context.Context, q query.Query, b buffer) error {
			return drainJSON(ctx, b.(*pageBuffer[T]), fast.ListJSON(ctx, q), q.Limit)
		}
	}
	if fast.ListRevisions != nil && ops.GetMany != nil {
		e.listRevisions = func(ctx context.Context, q query.Query, b buffer) error {
			return drainRevisions(ctx, b.(*pageBuffer[T]), fast.ListRevisions(ctx, q), q.Limit)
		}
	}
	if ops.Create != nil {
		e.create = func(ctx context.Context, v any) (*Entry, error) {
			item, err := ops.Create(ctx, *v.(*T))
			return entryOf(c, "", &item, err)
		}
	}
	if ops.Insert != nil {
		e.insert = func(ctx context.Context, id string, v any) (*Entry, error) {
			item, err := ops.Insert(ctx, id, *v.(*T))
			return entryOf(c, id, &item, err)
		}
	}
	if ops.Replace != nil {
		e.replace = func(ctx context.Context, id string, expect Rev, v any) (*Entry, error) {
			item, err := ops.Replace(ctx, id, expect, *v.(*T))
			return entryOf(c, id, &item, err)
		}
	}
	if ops.Restore != nil && o.Restore {
		e.restore = func(ctx context.Context, id string) (*Entry, error) {
			item, err := ops.Restore(ctx, id)
			return entryOf(c, id, &item, err)
		}
	}
	if ops.GetMany != nil {
		e.getMany = func(ctx context.Context, ids []string, b buffer) error {
			return drain(ctx, b.(*pageBuffer[T]), ops.GetMany(ctx, ids), len(ids))
		}
	}
	if ops.ListByKeys != nil {
		e.listByKeys = func(ctx context.Context, field string, keys []string, q query.Query, b buffer) error {
			return drain(ctx, b.(*pageBuffer[T]), ops.ListByKeys(ctx, field, keys, q), len(keys)*q.Limit)
		}
	}
	if ops.InsertMany != nil && ops.Insert != nil {
		e.insertMany = eraseInsertMany(ops)
	}
	eraseTransactions(&e, ops)
	if ops.Watch != nil {
		e.watch = eraseWatch(c, ops.Watch)
	}
	e.search = eraseSearch(ops.Search)
	eraseHooks(&e, o)
	return e
}

// eraseTransactions sets the runner and what needs one.
func eraseTransactions[T any](e *erased, ops Ops[T]) {
	if ops.Transactions == nil {
		return
	}
	e.runner = ops.Transactions()
	e.nester, _ = e.runner.(tx.Nester)
	if get := ops.GetForUpdate; get != nil && e.runner != nil {
		e.getForUpdate = get
		e.lock = func(ctx context.Context, id string) error {
			_, err := get(ctx, id)
			return err
		}
	}
}

// eraseSearch returns Search without a type parameter; nil if search is nil.
func eraseSearch[T any](
	search func(context.Context, query.Query) iter.Seq2[Item[T], error],
) func(context.Context, query.Query, buffer) error {
	if search == nil {
		return nil
	}
	return func(ctx context.Context, q query.Query, b buffer) error {
		return drain(ctx, b.(*pageBuffer[T]), search(ctx, q), q.Limit)
	}
}

// entryOf converts an item that a store returned. Value and entry are one allocation. id is the
// requested id, which the store need not repeat.
func entryOf[T any](c *core, id string, item *Item[T], err error) (*Entry, error) {
	if err != nil {
		return nil, err
	}
	if item.ID == "" {
		item.ID = id
	}
	held := &struct {
		Entry
		value T
	}{Entry{ID: item.ID, Rev: item.Rev, Modified: item.Modified, Next: item.Next}, item.Value}
	held.Value = &held.value
	return &held.Entry, c.complete(&held.Entry)
}

// eraseGetRevision returns a function that checks what get returns.
func eraseGetRevision(
	c *core, get func(context.Context, string) (Revision, error),
) func(context.Context, string) (Rev, time.Time, error) {
	return func(ctx context.Context, id string) (Rev, time.Time, error) {
		found, err := get(ctx, id)
		if err == nil {
			err = c.checkFound(&found, id)
		}
		return found.Rev, found.Modified, err
	}
}

// eraseInsertMany returns InsertMany for items without a type parameter.
func eraseInsertMany[T any](ops Ops[T]) func(ctx context.Context, ids []string, vs []any) error {
	return func(ctx context.Context, ids []string, vs []any) error {
		items := make([]Item[T], len(ids))
		for i, v := range vs {
			items[i] = Item[T]{ID: ids[i], Value: *v.(*T)}
		}
		return ops.InsertMany(ctx, items)
	}
}

// eraseHooks sets the hooks of e. A nil item stays nil, as for a create or delete.
func eraseHooks[T any](e *erased, o *Options[T]) {
	ptr := func(v any) *T { p, _ := v.(*T); return p }
	if fn := o.Authorize; fn != nil {
		e.authorize = func(ctx context.Context, op Op, before, after any) error {
			return fn(ctx, op, ptr(before), ptr(after))
		}
	}
	if fn := o.Before; fn != nil {
		e.before = func(ctx context.Context, op Op, before, after any) error {
			return fn(ctx, op, ptr(before), ptr(after))
		}
	}
	if fn := o.After; fn != nil {
		e.after = func(ctx context.Context, op Op, before, after any) { fn(ctx, op, ptr(before), ptr(after)) }
	}
}

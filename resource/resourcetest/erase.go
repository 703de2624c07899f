package resourcetest

// Erasure of the item type: Run and RunOps convert the options and the operations to values of type any,
// each of which is a pointer to an item. The cases in the other files are compiled once, and not once for
// each item type, of which a test of a store has dozens.

import (
	"context"
	"iter"
	"log/slog"
	"net/http"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/cache"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/rest"
)

// operations are the operations of a collection. Values are pointers to items.
type operations struct {
	resource.Ops[any]
	// serve serves the collection at /items, with other fast reads.
	serve func(s *setup, fast resource.FastReads, inMemory bool) http.Handler
	// put puts an item by package resource. change sets the item that the request has read, which is
	// stored, from the value v of the request.
	put func(ctx context.Context, s *setup, id string, doc []byte, change func(read, v any)) error
}

// erase returns the operations with values of type any. A value is copied as often as in a call without
// erase, because the kit compares what a store keeps and returns.
func erase[T any](ops resource.Ops[T]) operations {
	e := operations{Ops: resource.Ops[any]{
		Get: erasedGet(ops.Get), Restore: erasedGet(ops.Restore), GetForUpdate: erasedGet(ops.GetForUpdate),
		List: erasedList(ops.List), Search: erasedList(ops.Search), GetMany: erasedList(ops.GetMany),
		Delete: ops.Delete, Deleted: ops.Deleted, Count: ops.Count, CountByKeys: ops.CountByKeys,
		Aggregate: ops.Aggregate, Transactions: ops.Transactions, InMemory: ops.InMemory,
		CheckSupport: ops.CheckSupport}}
	if ops.Create != nil {
		e.Create = func(ctx context.Context, v any) (resource.Item[any], error) {
			return erasedItem(ops.Create(ctx, *v.(*T)))
		}
	}
	if ops.Insert != nil {
		e.Insert = func(ctx context.Context, id string, v any) (resource.Item[any], error) {
			return erasedItem(ops.Insert(ctx, id, *v.(*T)))
		}
	}
	if ops.InsertMany != nil {
		e.InsertMany = func(ctx context.Context, items []resource.Item[any]) error {
			typed := make([]resource.Item[T], len(items))
			for i, it := range items {
				typed[i] = resource.Item[T]{ID: it.ID, Value: *it.Value.(*T)} // newItems sets nothing else
			}
			return ops.InsertMany(ctx, typed)
		}
	}
	if ops.Replace != nil {
		e.Replace = func(
			ctx context.Context, id string, expect resource.Rev, v any,
		) (resource.Item[any], error) {
			return erasedItem(ops.Replace(ctx, id, expect, *v.(*T)))
		}
	}
	if ops.ListByKeys != nil {
		e.ListByKeys = func(
			ctx context.Context, field string, keys []string, q query.Query,
		) iter.Seq2[resource.Item[any], error] {
			return erasedItems(ops.ListByKeys(ctx, field, keys, q))
		}
	}
	if ops.Watch != nil {
		e.Watch = func(ctx context.Context, after feed.Cursor) iter.Seq2[*feed.Change[any], error] {
			return mapped(ops.Watch(ctx, after), erasedChange)
		}
	}
	e.Ops = e.WithFastReads(ops.FastReads())
	e.serve = func(s *setup, fast resource.FastReads, inMemory bool) http.Handler {
		served := ops.WithFastReads(fast)
		served.Watch, served.InMemory = nil, inMemory
		return serve(served.Resource("items", &resource.Options[T]{ID: s.IDField, Public: true, PageSize: 200,
			Query: query.Support{Natural: s.Support.Natural}}))
	}
	e.put = func(ctx context.Context, s *setup, id string, doc []byte, change func(read, v any)) error {
		var read T
		decorated := ops
		decorated.Get = func(ctx context.Context, id string) (resource.Item[T], error) {
			it, err := ops.Get(ctx, id)
			read = it.Value
			return it, err
		}
		decorated.Replace = func(
			ctx context.Context, id string, expect resource.Rev, v T,
		) (resource.Item[T], error) {
			change(&read, &v)
			return ops.Replace(ctx, id, expect, read)
		}
		r := decorated.Resource("items", &resource.Options[T]{ID: s.IDField, Public: true})
		_, _, err := r.Put(ctx, id, doc, nil)
		return err
	}
	return e
}

// serve serves a resource with a cache.
func serve(r *resource.Resource) http.Handler {
	return rest.New(resource.NewCatalog(&resource.CatalogOptions{
		Cache:     cache.New(1 << 20),
		Logger:    slog.New(slog.DiscardHandler),
		Principal: func(context.Context) string { return "resourcetest" },
	}, r), nil)
}

// erasedGet returns nil if call is nil.
func erasedGet[T any](
	call func(ctx context.Context, id string) (resource.Item[T], error),
) func(ctx context.Context, id string) (resource.Item[any], error) {
	if call == nil {
		return nil
	}
	return func(ctx context.Context, id string) (resource.Item[any], error) {
		return erasedItem(call(ctx, id))
	}
}

// erasedList returns nil if call is nil.
func erasedList[Q, T any](
	call func(ctx context.Context, q Q) iter.Seq2[resource.Item[T], error],
) func(ctx context.Context, q Q) iter.Seq2[resource.Item[any], error] {
	if call == nil {
		return nil
	}
	return func(ctx context.Context, q Q) iter.Seq2[resource.Item[any], error] {
		return erasedItems(call(ctx, q))
	}
}

func erasedItem[T any](it resource.Item[T], err error) (resource.Item[any], error) {
	return resource.Item[any]{ID: it.ID, Rev: it.Rev, Modified: it.Modified, Next: it.Next, Keys: it.Keys,
		Value: &it.Value}, err
}

func erasedItems[T any](seq iter.Seq2[resource.Item[T], error]) iter.Seq2[resource.Item[any], error] {
	return mapped(seq, func(it resource.Item[T]) resource.Item[any] {
		e, _ := erasedItem(it, nil)
		return e
	})
}

// erasedChange returns a change with pointers to the values of c.
func erasedChange[T any](c *feed.Change[T]) *feed.Change[any] {
	if c == nil {
		return nil
	}
	return &feed.Change[any]{Kind: c.Kind, ID: c.ID, Rev: c.Rev, Before: erasedPointer(c.Before),
		After: erasedPointer(c.After), Time: c.Time, Cursor: c.Cursor}
}

func erasedPointer[T any](p *T) *any {
	if p == nil {
		return nil
	}
	var v any = p
	return &v
}

// eraseOptions returns the options with values of type any.
func eraseOptions[T any](o Options[T]) Options[any] {
	e := Options[any]{ID: o.ID, IDField: o.IDField, Support: o.Support, Resource: o.Resource,
		TimePrecision: o.TimePrecision, CompareText: o.CompareText,
		Recreates: o.Recreates, UniqueDeleted: o.UniqueDeleted, Stems: o.Stems, Require: o.Require,
		Writers: o.Writers, Items: o.Items, Seed: o.Seed}
	if o.New != nil {
		e.New = func(n int) any { v := o.New(n); return &v }
	}
	if o.Change != nil {
		e.Change = func(v any) any { next := o.Change(*v.(*T)); return &next }
	}
	if o.Equal != nil {
		e.Equal = func(sent, got any) bool { return o.Equal(*sent.(*T), *got.(*T)) }
	}
	return e
}

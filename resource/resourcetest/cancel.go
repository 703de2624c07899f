package resourcetest

import (
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
)

// cancelCases test calls with a canceled context.
func cancelCases() []testCase {
	return []testCase{
		{
			name:  "cancel-write",
			needs: filler,
			contract: "A write with a canceled context returns an error and writes nothing. The " +
				"caller no longer waits for the result, and may retry.",
			run: cancelWrite,
		},
		{
			name: "cancel-read",
			contract: "A read with a canceled context returns the complete result or an error. The " +
				"error is not ErrNotFound if the item exists, and a partial list never ends without " +
				"an error.",
			run: cancelRead,
		},
		{
			name: "cancel-list",
			contract: "If the context is canceled during a list, it yields all items, or an error " +
				"and nothing after it. Otherwise the caller would take a part of the list for all of " +
				"it. (Check rows.Err after the loop.)",
			run: cancelList,
		},
	}
}

// cancelWrite lists and reads the items after each write, with a context that is not canceled. The
// error alone does not prove that nothing was written.
func cancelWrite(k *kit) {
	items := k.fill(2, distinct)
	ctx, cancel := context.WithCancel(k.ctx)
	cancel()
	type write struct {
		name string
		call func() error
	}
	var writes []write
	if k.ops.Create != nil {
		writes = append(writes, write{"Create",
			func() error { _, err := k.ops.Create(ctx, k.fresh()); return err }})
	}
	if k.ops.Insert != nil {
		id := k.newID()
		v := k.identified(k.fresh(), id)
		writes = append(writes, write{"Insert",
			func() error { _, err := k.ops.Insert(ctx, id, v); return err }})
	}
	if k.ops.Replace != nil {
		writes = append(writes, write{"Replace", func() error {
			_, err := k.ops.Replace(ctx, items[0].ID, items[0].Rev, k.changed(items[0].Value))
			return err
		}})
	}
	if k.ops.Delete != nil {
		writes = append(writes, write{"Delete",
			func() error { return k.ops.Delete(ctx, items[1].ID, items[1].Rev) }})
	}
	for _, w := range writes {
		if w.call() == nil {
			k.errorf("%s with a canceled context returned no error", w.name)
		}
		k.sameSet(items, k.all(), "List after "+w.name+" with a canceled context")
		for _, it := range items {
			k.sameItem(it, k.get(it.ID), "an item after "+w.name+" with a canceled context")
		}
	}
}

// cancelRead accepts a complete result, because a store in memory need not check the context. It
// rejects a wrong one: if a driver's error is mapped to "no rows", an existing item becomes a 404.
func cancelRead(k *kit) {
	items := k.inOrder(k.fill(10, distinct))
	ctx, cancel := context.WithCancel(k.ctx)
	cancel()
	ids := make([]string, len(items))
	for i, it := range items {
		ids[i] = it.ID
		got, err := k.ops.Get(ctx, it.ID)
		switch {
		case err == nil:
			k.sameItem(it, k.vet(got, "Get"), "Get with a canceled context")
		case errors.Is(err, resource.ErrNotFound), errors.Is(err, resource.ErrGone):
			k.errorf("Get with a canceled context returned %q for an existing item", err)
		}
	}
	if got, err := k.drain(k.ops.List(ctx, k.ordered(query.Query{})), "List"); err == nil {
		k.sameIDs(items, got, "List with a canceled context and no error")
	}
	if k.ops.Count != nil {
		if n, err := k.ops.Count(ctx, query.Query{}); err == nil && n != len(items) {
			k.errorf("Count with a canceled context returned %d and no error, want %d", n, len(items))
		}
	}
	if k.ops.GetMany != nil {
		if got, err := k.drain(k.ops.GetMany(ctx, ids), "GetMany"); err == nil {
			k.sameSet(items, got, "GetMany with a canceled context and no error")
		}
	}
}

// cancelList cancels the context after the first item and in the middle, and continues to read.
func cancelList(k *kit) {
	items := k.inOrder(k.fill(30, distinct))
	ids := idsOf(items)
	for _, stop := range []int{1, len(items) / 2} {
		k.checkCancelled(items, stop, "List", func(ctx context.Context) iter.Seq2[resource.Item[any], error] {
			return k.ops.List(ctx, k.ordered(query.Query{}))
		})
		if k.ops.GetMany != nil {
			k.checkCancelled(items, stop, "GetMany",
				func(ctx context.Context) iter.Seq2[resource.Item[any], error] {
					return k.ops.GetMany(ctx, ids)
				})
		}
		for _, l := range k.fastLists() {
			k.checkCancelledRows(ids, stop, l)
		}
	}
}

// checkCancelled reads an iterator to its end and cancels its context after stop items.
func (k *kit) checkCancelled(want []resource.Item[any], stop int, where string,
	call func(ctx context.Context) iter.Seq2[resource.Item[any], error]) {
	ctx, cancel := context.WithCancel(k.ctx)
	defer cancel()
	got, err := k.drain(canceling(call(ctx), stop, cancel), where)
	if err == nil {
		k.sameSet(want, got, where+" that was canceled during the iteration and returned no error")
	}
}

// checkCancelledRows is checkCancelled for lists without values.
func (k *kit) checkCancelledRows(want []string, stop int, l fastList) {
	ctx, cancel := context.WithCancel(k.ctx)
	defer cancel()
	var got []string
	rows := canceling(l.call(ctx, k.ordered(query.Query{})), stop, cancel)
	err := drainTo(k, rows, l.name, func(r row) { got = append(got, r.id) })
	if err == nil && !slices.Equal(want, got) {
		k.errorf("%s that was canceled during the iteration returned no error and %d of %d items",
			l.name, len(got), len(want))
	}
}

// canceling calls cancel after stop results.
func canceling[V any](seq iter.Seq2[V, error], stop int, cancel func()) iter.Seq2[V, error] {
	return func(yield func(V, error) bool) {
		n := 0
		for v, err := range seq {
			if n++; n == stop {
				cancel()
			}
			if !yield(v, err) {
				return
			}
		}
	}
}

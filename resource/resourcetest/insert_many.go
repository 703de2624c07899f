package resourcetest

import (
	"context"
	"fmt"

	"github.com/stoa-go/stoa/resource"
)

// insertManyCases test InsertMany of [resource.Ops].
func insertManyCases() []testCase {
	return []testCase{
		{
			name:  "insertmany-get",
			needs: multiInserter,
			contract: "InsertMany stores each value under its id, and Get returns it. The values may " +
				"need more parameters than one SQL statement takes. An empty list is not an error.",
			run: insertManyGet,
		},
		{
			name:  "insertmany-all-or-none",
			needs: multiInserter,
			contract: "If one of the ids exists, InsertMany returns ErrExists and stores none of the " +
				"items, however many there are. The library then stores them one at a time.",
			run: insertManyAllOrNone,
		},
		{
			name:  "insertmany-deleted",
			needs: multiInserter | deleter | tombstoner,
			contract: "If one of the ids was deleted, InsertMany returns ErrGone or ErrExists and " +
				"stores nothing, also if Insert would accept the id. The library then calls Insert " +
				"for each item.",
			run: insertManyDeleted,
		},
		{
			name:  "insertmany-transaction",
			needs: multiInserter | transactor,
			contract: "In the transaction of InsertMany, Get and GetMany return the inserted items " +
				"with the revisions that they have after the commit. The library reads them to " +
				"publish events.",
			run: insertManyTransaction,
		},
	}
}

// newItems generates items with new ids.
func (k *kit) newItems(n int) []resource.Item[any] {
	items := make([]resource.Item[any], n)
	for i := range items {
		id := k.newID()
		items[i] = resource.Item[any]{ID: id, Value: k.identified(k.fresh(), id)}
	}
	return items
}

// insertManyGet inserts no items, one, several, and more than one statement of a hundred rows
// takes.
func insertManyGet(k *kit) {
	for _, n := range []int{0, 1, 7, 230} {
		items := k.newItems(n)
		sent := make(map[string]any, n)
		for _, it := range items {
			sent[it.ID] = it.Value
		}
		k.must(k.ops.InsertMany(k.ctx, items), fmt.Sprintf("InsertMany of %d items", n))
		for id, v := range sent {
			k.sameValue(v, k.get(id).Value, "the result of Get after InsertMany")
		}
	}
}

// insertManyAllOrNone has an id that is in use at the beginning, at the end and in the middle.
func insertManyAllOrNone(k *kit) {
	there := k.insert(k.newID())
	for _, at := range []int{0, 120, 229} {
		items := k.newItems(230)
		items[at] = resource.Item[any]{ID: there.ID, Value: k.identified(k.fresh(), there.ID)}
		k.wantError(k.ops.InsertMany(k.ctx, items), "InsertMany with an existing id",
			resource.ErrExists)
		k.noneStored(items, at)
	}
	k.sameItem(there, k.get(there.ID), "Get after a rejected InsertMany")
}

// insertManyDeleted has the id of a deleted item among the others.
func insertManyDeleted(k *kit) {
	dead := k.insert(k.newID())
	k.remove(dead)
	items := k.newItems(12)
	items[5] = resource.Item[any]{ID: dead.ID, Value: k.identified(k.fresh(), dead.ID)}
	k.wantError(k.ops.InsertMany(k.ctx, items), "InsertMany with a deleted id", resource.ErrGone,
		resource.ErrExists)
	k.noneStored(items, -1)
}

// insertManyTransaction reads the inserted items in the same transaction, and after it.
func insertManyTransaction(k *kit) {
	items := k.newItems(12)
	ids := make([]string, len(items))
	for i := range items {
		ids[i] = items[i].ID
	}
	var within []resource.Item[any]
	err := k.inTx(k.ctx, func(ctx context.Context) (err error) {
		if err := k.ops.InsertMany(ctx, items); err != nil {
			return err
		}
		within = within[:0]
		for _, id := range ids {
			it, err := k.ops.Get(ctx, id)
			if err != nil {
				return fmt.Errorf("get an item that was inserted in the same transaction: %w", err)
			}
			within = append(within, k.vet(it, "Get"))
		}
		if k.ops.GetMany == nil {
			return nil
		}
		many, err := k.drain(k.ops.GetMany(ctx, ids), "GetMany")
		if err == nil && k.sameSet(within, many, "GetMany in the transaction of InsertMany") {
			within = many
		}
		return err
	})
	k.must(err, "a transaction without a conflict")
	for _, it := range within {
		k.sameItem(it, k.get(it.ID), "Get after the commit")
	}
}

// noneStored checks that the items do not exist, except for the one at an index.
func (k *kit) noneStored(items []resource.Item[any], except int) {
	for i, it := range items {
		if i == except {
			continue
		}
		if _, err := k.ops.Get(k.ctx, it.ID); err == nil {
			k.errorf("InsertMany returned an error but stored item %d of %d", i, len(items))
			return
		}
	}
}

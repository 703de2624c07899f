package resourcetest

import (
	"context"
	"errors"
	"slices"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
)

// restoreCases test Restorer.
func restoreCases() []testCase {
	return []testCase{
		{
			name:  "restore-get",
			needs: restorer | deleter | filler,
			contract: "Restore returns a deleted item with the value that it had, and Get, List and Count " +
				"have it again. Its revision is one that it never had, so that a client that does not " +
				"know of the deletion cannot overwrite it.",
			run: restoreGet,
		},
		{
			name:  "restore-existing",
			needs: restorer | filler,
			contract: "Restore of an item that is not deleted returns ErrExists, and of an id that was " +
				"never used ErrNotFound. It changes nothing then.",
			run: restoreExisting,
		},
		{
			name:  "restore-unique",
			needs: restorer | deleter | filler,
			contract: "If another item has the value of a unique field of the deleted one, Restore returns " +
				"resource.Taken with the field's JSON name, and the item stays deleted.",
			run: restoreUnique,
		},
		{
			name:  "restore-race",
			needs: restorer | deleter | filler,
			contract: "If several callers restore an item concurrently, exactly one succeeds and the " +
				"others get ErrExists. Each success becomes an event, and one deletion is undone once.",
			run: restoreRace,
		},
		{
			name:  "restore-insert-race",
			needs: restorer | deleter | inserter,
			contract: "Of a concurrent Restore and Insert of one id, exactly one succeeds. If both were " +
				"acknowledged, one of the two values would be lost.",
			run: restoreInsertRace,
		},
		{
			name:  "restore-rollback",
			needs: restorer | deleter | filler | transactor,
			contract: "If the transaction of a Restore is rolled back, the item stays deleted: package " +
				"resource restores an item before the policy decides about it.",
			run: restoreRollback,
		},
	}
}

// restoreGet deletes and restores an item twice, with a change in between.
func restoreGet(k *kit) {
	items := k.fill(3, distinct)
	if len(items) < 3 {
		return
	}
	it, rest := items[0], items[1:]
	revs := []resource.Rev{it.Rev}
	for range 2 {
		if k.ops.Replace != nil {
			it = k.replace(it, k.changed(it.Value))
			revs = append(revs, it.Rev)
		}
		k.remove(it)
		restored, err := k.ops.Restore(k.ctx, it.ID)
		k.must(err, "Restore of a deleted item")
		k.vet(restored, "Restore")
		k.sameValue(it.Value, restored.Value, "Restore")
		if restored.ID != it.ID || slices.Contains(revs, restored.Rev) {
			k.errorf("Restore returned id %q with revision %q, want id %q with a new revision, not one of %q",
				restored.ID, restored.Rev, it.ID, revs)
		}
		k.sameItem(restored, k.get(it.ID), "Get after Restore")
		k.sameSet(append(slices.Clone(rest), restored), k.all(), "List after Restore")
		if k.ops.Count != nil {
			if n, err := k.ops.Count(k.ctx, query.Query{}); err != nil || n != len(items) {
				k.errorf("Count after Restore returned %d, %v, want %d", n, err, len(items))
			}
		}
		if k.ops.Deleted != nil {
			_, err := k.ops.Deleted(k.ctx, it.ID)
			k.wantError(err, "Deleted of a restored item", resource.ErrNotFound)
		}
		k.wantError(k.ops.Delete(k.ctx, it.ID, it.Rev), "Delete with the revision from before the deletion",
			resource.ErrStale)
		it, revs = restored, append(revs, restored.Rev)
	}
}

// restoreExisting reads the items after each attempt.
func restoreExisting(k *kit) {
	items := k.fill(2, distinct)
	if len(items) == 0 {
		return
	}
	_, err := k.ops.Restore(k.ctx, items[0].ID)
	k.wantError(err, "Restore of an item that is not deleted", resource.ErrExists)
	_, err = k.ops.Restore(k.ctx, k.newID())
	k.wantError(err, "Restore of an unknown id", resource.ErrNotFound)
	k.holds(items, "after rejected calls of Restore")
}

// restoreUnique takes the value of a deleted item, and restores the item when the value is free again.
func restoreUnique(k *kit) {
	if k.UniqueDeleted {
		k.notef("skipped: Options.UniqueDeleted is true")
		return
	}
	for _, f := range k.uniqueFields() {
		first := k.put(k.fresh())
		k.remove(first)
		second := k.put(k.sharing(f, first.Value))
		_, err := k.ops.Restore(k.ctx, first.ID)
		k.wantTaken(err, f, "Restore while another item has the "+f.Name)
		_, err = k.ops.Get(k.ctx, first.ID)
		k.wantError(err, "Get after a rejected Restore", k.gone()...)
		k.remove(second)
		restored, err := k.ops.Restore(k.ctx, first.ID)
		k.must(err, "Restore when the value is free again")
		k.remove(restored)
	}
}

// restoreRace has all writers restore the same items.
func restoreRace(k *kit) {
	items := k.deletedItems(max(5, k.Items/k.Writers))
	winners := k.duels(len(items), func(_, i int) error {
		_, err := k.ops.Restore(k.ctx, items[i].ID)
		return err
	}, resource.ErrExists)
	for _, won := range winners {
		if len(won) != 1 {
			k.fatalf("%d of %d concurrent calls of Restore succeeded, want 1", len(won), k.Writers)
		}
	}
}

// restoreInsertRace has half of the writers restore an item and the others insert one with its id.
func restoreInsertRace(k *kit) {
	items := k.deletedItems(max(5, k.Items/k.Writers))
	values := make([][]any, len(items))
	for i := range values {
		for range k.Writers {
			values[i] = append(values[i], k.identified(k.fresh(), items[i].ID))
		}
	}
	refused := []error{resource.ErrExists}
	if !k.Recreates {
		refused = append(refused, resource.ErrGone)
	}
	winners := k.duels(len(items), func(w, i int) error {
		var err error
		if w%2 == 0 {
			_, err = k.ops.Restore(k.ctx, items[i].ID)
		} else {
			_, err = k.ops.Insert(k.ctx, items[i].ID, values[i][w])
		}
		if errors.Is(err, resource.ErrNotFound) && w%2 == 0 {
			err = resource.ErrExists // Insert has replaced what could be restored
		}
		return err
	}, refused...)
	for i, won := range winners {
		if len(won) != 1 {
			k.fatalf("%d of %d concurrent calls of Restore and Insert succeeded, want 1", len(won), k.Writers)
		}
		k.get(items[i].ID)
	}
}

// deletedItems returns n items that were stored and deleted.
func (k *kit) deletedItems(n int) []resource.Item[any] {
	items := k.fill(n, distinct)
	for _, it := range items {
		k.remove(it)
	}
	return items
}

// restoreRollback restores an item in a transaction that fails.
func restoreRollback(k *kit) {
	items := k.deletedItems(1)
	if len(items) == 0 {
		return
	}
	failure := errors.New("rolled back on purpose")
	err := k.ops.Transactions().InTx(k.ctx, func(ctx context.Context) error {
		if _, err := k.ops.Restore(ctx, items[0].ID); err != nil {
			return err
		}
		return failure
	})
	k.wantError(err, "the transaction", failure)
	_, err = k.ops.Get(k.ctx, items[0].ID)
	k.wantError(err, "Get after the rollback of Restore", k.gone()...)
	_, err = k.ops.Restore(k.ctx, items[0].ID)
	k.must(err, "Restore after the rollback")
}

package resourcetest

import (
	"time"

	"github.com/stoa-go/stoa/resource"
)

// tombstoneCases test Tombstoner.
func tombstoneCases[T any]() []testCase[T] {
	return []testCase[T]{
		{
			name:  "tombstone-deleted",
			needs: tombstoner | deleter,
			contract: "Deleted returns when an item was deleted, and ErrNotFound while it is alive and if " +
				"it was never there. It decides between 404 (Not Found) and 410 (Gone).",
			run: tombstoneDeleted[T],
		},
		{
			name:  "tombstone-precedes-stale",
			needs: tombstoner | deleter | replacer,
			contract: "That an item is gone precedes that a revision is stale: Delete and Replace of a " +
				"deleted item return ErrGone whatever they name, so that a client which repeats its Delete " +
				"learns that it succeeded.",
			run: tombstonePrecedesStale[T],
		},
		{
			name:  "tombstone-second-life",
			needs: tombstoner | deleter | inserter,
			contract: "An item that lives again is not deleted: Deleted returns ErrNotFound for it. After " +
				"its second deletion the time is that of the second.",
			run: tombstoneSecondLife[T],
		},
	}
}

// tombstoneDeleted accepts a clock that is wrong by hours, but not a time that is zero or changes.
func tombstoneDeleted[T any](k *kit[T]) {
	items := k.fill(2, distinct)
	if len(items) < 2 {
		return
	}
	k.remove(items[0])
	when, err := k.ops.Deleted(k.ctx, items[0].ID)
	k.must(err, "Deleted of a deleted item")
	if away := time.Since(when).Abs(); away > 24*time.Hour {
		k.errorf("Deleted returned %v for an item that was deleted just now", when)
	}
	_, err = k.ops.Deleted(k.ctx, items[1].ID)
	k.wantError(err, "Deleted of an item that is alive", resource.ErrNotFound)
	_, err = k.ops.Deleted(k.ctx, k.newID())
	k.wantError(err, "Deleted of an unknown id", resource.ErrNotFound)
	again, err := k.ops.Deleted(k.ctx, items[0].ID)
	if err != nil || !again.Equal(when) {
		k.errorf("Deleted returned %v first and then %v, %v", when, again, err)
	}
}

// tombstonePrecedesStale uses all revisions that the item had and some that it did not have. The
// error is always the same.
func tombstonePrecedesStale[T any](k *kit[T]) {
	items := k.fill(1, distinct)
	if len(items) == 0 {
		return
	}
	first := items[0]
	it := k.replace(first, k.changed(first.Value))
	k.remove(it)
	for _, rev := range append(oddRevs(it.Rev), first.Rev, it.Rev) {
		k.wantError(k.ops.Delete(k.ctx, it.ID, rev),
			"Delete of a deleted item that named revision "+string(rev),
			resource.ErrGone)
		_, err := k.ops.Replace(k.ctx, it.ID, rev, it.Value)
		k.wantError(err, "Replace of a deleted item that named revision "+string(rev), resource.ErrGone)
	}
}

// tombstoneSecondLife checks each life and each deletion. It needs a store that accepts deleted ids
// again.
func tombstoneSecondLife[T any](k *kit[T]) {
	if !k.Recreates {
		k.notef("not tried: Options.Recreates is false")
		return
	}
	id := k.newID()
	for range 3 {
		it := k.insert(id)
		_, err := k.ops.Deleted(k.ctx, id)
		k.wantError(err, "Deleted of an item that lives again", resource.ErrNotFound)
		k.remove(it)
		_, err = k.ops.Deleted(k.ctx, id)
		k.must(err, "Deleted of an item that was deleted again")
		_, err = k.ops.Get(k.ctx, id)
		k.wantError(err, "Get of an item that was deleted again", resource.ErrGone)
	}
}

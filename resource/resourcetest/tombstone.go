package resourcetest

import (
	"time"

	"github.com/stoa-go/stoa/resource"
)

// tombstoneCases test Tombstoner.
func tombstoneCases() []testCase {
	return []testCase{
		{
			name:  "tombstone-deleted",
			needs: tombstoner | deleter,
			contract: "Deleted returns the time at which an item was deleted, and ErrNotFound if it " +
				"exists or never existed. The library uses it to choose between 404 (Not Found) and " +
				"410 (Gone).",
			run: tombstoneDeleted,
		},
		{
			name:  "tombstone-precedes-stale",
			needs: tombstoner | deleter | replacer,
			contract: "ErrGone precedes ErrStale: Delete and Replace of a deleted item return " +
				"ErrGone with any revision. A client that repeats its Delete then learns that it " +
				"succeeded.",
			run: tombstonePrecedesStale,
		},
		{
			name:  "tombstone-recreate",
			needs: tombstoner | deleter | inserter,
			contract: "Deleted returns ErrNotFound for an item that was created again. After its " +
				"second deletion it returns the time of the second.",
			run: tombstoneRecreate,
		},
	}
}

// tombstoneDeleted accepts a clock that is wrong by hours, but not a time that is zero or changes.
func tombstoneDeleted(k *kit) {
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
	k.wantError(err, "Deleted of an existing item", resource.ErrNotFound)
	_, err = k.ops.Deleted(k.ctx, k.newID())
	k.wantError(err, "Deleted of an unknown id", resource.ErrNotFound)
	again, err := k.ops.Deleted(k.ctx, items[0].ID)
	if err != nil || !again.Equal(when) {
		k.errorf("Deleted returned %v in the first call and %v, %v in the second", when, again, err)
	}
}

// tombstonePrecedesStale uses all revisions that the item had and some that it did not have. The
// error is always the same.
func tombstonePrecedesStale(k *kit) {
	items := k.fill(1, distinct)
	if len(items) == 0 {
		return
	}
	first := items[0]
	it := k.replace(first, k.changed(first.Value))
	k.remove(it)
	for _, rev := range append(oddRevs(it.Rev), first.Rev, it.Rev) {
		k.wantError(k.ops.Delete(k.ctx, it.ID, rev),
			"Delete of a deleted item with revision "+string(rev),
			resource.ErrGone)
		_, err := k.ops.Replace(k.ctx, it.ID, rev, it.Value)
		k.wantError(err, "Replace of a deleted item with revision "+string(rev), resource.ErrGone)
	}
}

// tombstoneRecreate checks Deleted after each insert and each deletion. It needs a store that
// accepts deleted ids again.
func tombstoneRecreate(k *kit) {
	if !k.Recreates {
		k.notef("skipped: Options.Recreates is false")
		return
	}
	id := k.newID()
	for range 3 {
		it := k.insert(id)
		_, err := k.ops.Deleted(k.ctx, id)
		k.wantError(err, "Deleted of an item that was created again", resource.ErrNotFound)
		k.remove(it)
		_, err = k.ops.Deleted(k.ctx, id)
		k.must(err, "Deleted of an item that was deleted again")
		_, err = k.ops.Get(k.ctx, id)
		k.wantError(err, "Get of an item that was deleted again", resource.ErrGone)
	}
}

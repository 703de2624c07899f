package resourcetest

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
)

// deleteCases test Deleter, also together with Inserter and Replacer.
func deleteCases() []testCase {
	return []testCase{
		{
			name:  "delete-get",
			needs: deleter,
			contract: "After Delete, Get, Replace and Delete return ErrGone if the store is a " +
				"Tombstoner, otherwise ErrNotFound or ErrGone, and List, Count and GetMany omit the " +
				"item.",
			run: deleteGet,
		},
		{
			name:  "delete-stale",
			needs: deleter,
			contract: "Delete names the revision that was read. If the item has another one, Delete " +
				"returns ErrStale and the item remains. Otherwise an acknowledged change would be " +
				"lost.",
			run: deleteStale,
		},
		{
			name:     "delete-unknown",
			needs:    deleter,
			contract: "Delete of an id that was never used returns ErrNotFound, with any revision.",
			run:      deleteUnknown,
		},
		{
			name:  "delete-race",
			needs: deleter | filler,
			contract: "If several callers delete an item concurrently, exactly one succeeds and the " +
				"others find it deleted. A caller may act on its success, for example refund a " +
				"payment.",
			run: deleteRace,
		},
		{
			name:  "delete-replace-race",
			needs: deleter | replacer | filler,
			contract: "Of a concurrent Delete and Replace that name the same revision, only one " +
				"succeeds. If both were acknowledged, an acknowledged change would be deleted unread.",
			run: deleteReplaceRace,
		},
		{
			name:  "delete-insert",
			needs: deleter | inserter,
			contract: "Insert of a deleted id either creates the item again, with a revision that it " +
				"never had, or returns ErrGone. A Tombstoner returns ErrGone unless " +
				"Options.Recreates is set. A revision from before the deletion must be stale: start " +
				"with resource.NewRev.",
			run: deleteInsert,
		},
	}
}

// gone returns the errors that a collection may return for a deleted item.
func (k *kit) gone() []error {
	if k.able.has(tombstoner) {
		return []error{resource.ErrGone}
	}
	return []error{resource.ErrNotFound, resource.ErrGone}
}

// deleteGet calls every method with the id of a deleted item: with its last revision, without a
// revision, and with a revision that the item never had.
func deleteGet(k *kit) {
	items := k.fill(3, distinct)
	if len(items) == 0 {
		return
	}
	it, rest := items[0], items[1:]
	k.remove(it)
	_, err := k.ops.Get(k.ctx, it.ID)
	k.wantError(err, "Get of a deleted item", k.gone()...)
	for _, rev := range []resource.Rev{it.Rev, "", resource.NewRev()} {
		k.wantError(k.ops.Delete(k.ctx, it.ID, rev), "Delete of a deleted item", k.gone()...)
		if k.ops.Replace != nil {
			_, err := k.ops.Replace(k.ctx, it.ID, rev, it.Value)
			k.wantError(err, "Replace of a deleted item", k.gone()...)
		}
	}
	k.sameSet(rest, k.all(), "List after Delete")
	if k.ops.Count != nil {
		if n, err := k.ops.Count(k.ctx, query.Query{}); err != nil || n != len(rest) {
			k.errorf("Count after Delete returned %d, %v, want %d", n, err, len(rest))
		}
	}
	if k.ops.GetMany != nil {
		got, err := k.drain(k.ops.GetMany(k.ctx, []string{it.ID}), "GetMany")
		if err != nil || len(got) > 0 {
			k.errorf("GetMany of a deleted item returned %d items, %v, want none", len(got), err)
		}
	}
}

// deleteStale is replaceStale for Delete. It reads the item after each attempt.
func deleteStale(k *kit) {
	items := k.fill(1, distinct)
	if len(items) == 0 {
		return
	}
	it := items[0]
	stale := oddRevs(it.Rev)
	if k.ops.Replace != nil {
		stale = append(stale, it.Rev)
		it = k.replace(it, k.changed(it.Value))
	}
	for _, rev := range stale {
		err := k.ops.Delete(k.ctx, it.ID, rev)
		k.wantError(err, fmt.Sprintf("Delete with revision %q of an item that has revision %q", rev, it.Rev),
			resource.ErrStale)
		k.sameItem(it, k.get(it.ID), "the item after a stale Delete")
	}
}

// deleteUnknown detects stores that report success for a statement that affected no row.
func deleteUnknown(k *kit) {
	items := k.fill(1, distinct)
	revs := oddRevs("1")
	for _, it := range items {
		revs = append(revs, it.Rev)
	}
	id := k.newID()
	for _, rev := range revs {
		k.wantError(k.ops.Delete(k.ctx, id, rev), "Delete of an unknown id", resource.ErrNotFound)
	}
	k.sameSet(items, k.all(), "List after Delete of an unknown id")
}

// deleteRace counts acknowledgements. A second delete does not change the data, but two callers
// that both receive success may both act on it.
func deleteRace(k *kit) {
	items := k.fill(k.Items, distinct)
	winners := k.duels(len(items), func(_, i int) error {
		return k.ops.Delete(k.ctx, items[i].ID, items[i].Rev)
	}, k.gone()...)
	for _, won := range winners {
		if len(won) != 1 {
			k.fatalf("%d of %d concurrent calls of Delete for one item succeeded, want 1",
				len(won), k.Writers)
		}
	}
}

// deleteReplaceRace calls Delete from even writers and Replace from odd ones, all with the same
// revision. Exactly one call may succeed, and Get must return the state that it left.
func deleteReplaceRace(k *kit) {
	items := k.fill(k.Items, distinct)
	winners := k.duels(len(items), func(w, i int) error {
		it := items[i]
		if w%2 == 0 {
			return k.ops.Delete(k.ctx, it.ID, it.Rev)
		}
		_, err := k.ops.Replace(k.ctx, it.ID, it.Rev, k.changed(it.Value))
		return err
	}, append(k.gone(), resource.ErrStale)...)
	for i, won := range winners {
		if len(won) != 1 {
			k.fatalf(
				"%d concurrent calls of Delete and Replace with one revision succeeded, want 1",
				len(won))
		}
		_, err := k.ops.Get(k.ctx, items[i].ID)
		if deleted := won[0]%2 == 0; deleted != (err != nil) {
			k.fatalf("after concurrent Delete and Replace Get returned %s; Delete succeeded: %v",
				quoted(err), deleted)
		}
	}
}

// deleteInsert inserts and deletes one id several times, each time with one more write. If Insert
// restarts the revision at 1, a revision repeats in the second round at the latest. An entity tag
// from before the deletion would then match.
func deleteInsert(k *kit) {
	id := k.newID()
	seen := map[resource.Rev]bool{}
	for round := range 4 {
		sent := k.identified(k.fresh(), id)
		it, err := k.ops.Insert(k.ctx, id, sent)
		if round > 0 && !k.mayRecreate(err) {
			return
		}
		k.must(err, "Insert")
		it = k.vet(it, "Insert")
		for old := range seen {
			k.checkOldRev(it, old)
		}
		for range round { // different numbers of writes, to detect a counter
			seen[it.Rev] = true
			if k.ops.Replace != nil {
				it = k.replace(it, k.changed(it.Value))
			}
		}
		seen[it.Rev] = true
		k.remove(it)
	}
}

// mayRecreate checks the error of Insert under a deleted id. It reports whether the item exists
// again.
func (k *kit) mayRecreate(err error) bool {
	switch {
	case k.able.has(tombstoner) && !k.Recreates:
		k.wantError(err, "Insert of a deleted id", resource.ErrGone)
		return false
	case !k.Recreates && err != nil:
		k.wantError(err, "Insert of a deleted id", resource.ErrGone)
		return false
	}
	return true
}

// checkOldRev checks that a revision from before the deletion is stale now.
func (k *kit) checkOldRev(it resource.Item[any], old resource.Rev) {
	if it.Rev == old {
		k.fatalf("item %q was created again with revision %q, which it had before it was deleted", it.ID, old)
	}
	if k.ops.Replace != nil {
		_, err := k.ops.Replace(k.ctx, it.ID, old, k.changed(it.Value))
		k.wantError(err, "Replace with a revision from before the deletion", resource.ErrStale)
	}
	k.wantError(k.ops.Delete(k.ctx, it.ID, old), "Delete with a revision from before the deletion",
		resource.ErrStale)
	k.sameItem(it, k.get(it.ID), "the item that was created again")
}

// sameSet is sameIDs for results in any order.
func (k *kit) sameSet(want, got []resource.Item[any], where string) bool {
	byID := func(items []resource.Item[any]) []resource.Item[any] {
		return slices.SortedFunc(slices.Values(items),
			func(a, b resource.Item[any]) int { return cmp.Compare(a.ID, b.ID) })
	}
	return k.sameIDs(byID(want), byID(got), where)
}

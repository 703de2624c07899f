package resourcetest

import (
	"fmt"

	"github.com/stoa-go/stoa/resource"
)

// insertCases test Inserter.
func insertCases() []testCase {
	return []testCase{
		{
			name:     "insert-get",
			needs:    inserter,
			contract: "Insert stores the value under the given id, and Get returns it.",
			run:      insertGet,
		},
		{
			name:  "insert-duplicate",
			needs: inserter,
			contract: "Insert of an existing id returns ErrExists and changes nothing. PUT with " +
				"If-None-Match and retried creations rely on it.",
			run: insertDuplicate,
		},
		{
			name:  "insert-race",
			needs: inserter,
			contract: "If several callers insert one id concurrently, exactly one succeeds and its " +
				"value is stored. The check and the write must be one atomic step: a unique index, a " +
				"conditional put, or one lock around both.",
			run: insertRace,
		},
	}
}

// insert inserts a fresh value, which must succeed.
func (k *kit) insert(id string) resource.Item[any] {
	sent := k.identified(k.fresh(), id)
	it, err := k.ops.Insert(k.ctx, id, sent)
	k.must(err, fmt.Sprintf("Insert of %q", id))
	it = k.vet(it, "Insert")
	if it.ID != id {
		k.errorf("Insert of %q stored item %q", id, it.ID)
	}
	k.sameValue(sent, it.Value, "the result of Insert")
	return it
}

// insertGet inserts items and gets them. insert checks the ids.
func insertGet(k *kit) {
	for range 5 {
		it := k.insert(k.newID())
		k.sameItem(it, k.get(it.ID), "Get after Insert")
	}
}

// insertDuplicate repeats the insert, because a store may fail first and overwrite later.
func insertDuplicate(k *kit) {
	first := k.insert(k.newID())
	for range 3 {
		_, err := k.ops.Insert(k.ctx, first.ID, k.identified(k.fresh(), first.ID))
		k.wantError(err, "Insert of an existing id", resource.ErrExists)
		k.sameItem(first, k.get(first.ID), "the first item after a second Insert")
	}
}

// insertRace compares the stored value with the one that the successful writer sent. In a store in
// which the last write wins while the first one succeeds, the number of successes alone is right.
func insertRace(k *kit) {
	ids := make([]string, k.Items)
	sent := make([][]any, k.Items)
	for i := range ids {
		ids[i] = k.newID()
		for range k.Writers {
			sent[i] = append(sent[i], k.identified(k.fresh(), ids[i]))
		}
	}
	winners := k.duels(len(ids), func(w, i int) error {
		_, err := k.ops.Insert(k.ctx, ids[i], sent[i][w])
		return err
	}, resource.ErrExists)
	for i, won := range winners {
		if len(won) != 1 {
			k.fatalf("%d of %d concurrent calls of Insert for one id succeeded, want 1",
				len(won), k.Writers)
		}
		k.sameValue(sent[i][won[0]], k.get(ids[i]).Value, "the item after concurrent calls of Insert")
	}
}

package resourcetest

import (
	"fmt"

	"github.com/stoa-go/stoa/resource"
)

// insertCases test Inserter.
func insertCases[T any]() []testCase[T] {
	return []testCase[T]{
		{
			name:     "insert-get",
			needs:    inserter,
			contract: "Insert stores the value under the id it was given, and Get finds it there.",
			run:      insertGet[T],
		},
		{
			name:  "insert-duplicate",
			needs: inserter,
			contract: "Insert under an id that is in use returns ErrExists and changes nothing. It is what " +
				"makes PUT with If-None-Match safe, and a repeated creation happen once.",
			run: insertDuplicate[T],
		},
		{
			name:  "insert-race",
			needs: inserter,
			contract: "Of several who insert the same id at once exactly one succeeds, and its value is " +
				"the one that is stored. Looking whether the id is free and storing must be one atomic " +
				"step: a unique index, a conditional put, or one lock around both.",
			run: insertRace[T],
		},
	}
}

// insert inserts a fresh value, which must succeed.
func (k *kit[T]) insert(id string) resource.Item[T] {
	sent := k.identified(k.fresh(), id)
	it, err := k.ops.Insert(k.ctx, id, sent)
	k.must(err, fmt.Sprintf("Insert of %q", id))
	it = k.vet(it, "Insert")
	if it.ID != id {
		k.errorf("Insert of %q stored item %q", id, it.ID)
	}
	k.sameValue(sent, it.Value, "what Insert returned")
	return it
}

// insertGet inserts items and gets them. insert checks the ids.
func insertGet[T any](k *kit[T]) {
	for range 5 {
		it := k.insert(k.newID())
		k.sameItem(it, k.get(it.ID), "Get after Insert")
	}
}

// insertDuplicate repeats the insert, because a store may fail first and overwrite later.
func insertDuplicate[T any](k *kit[T]) {
	first := k.insert(k.newID())
	for range 3 {
		_, err := k.ops.Insert(k.ctx, first.ID, k.identified(k.fresh(), first.ID))
		k.wantError(err, "Insert under an id in use", resource.ErrExists)
		k.sameItem(first, k.get(first.ID), "the first item after a second Insert")
	}
}

// insertRace compares the stored value with the one that the successful writer sent. In a store in
// which the last write wins while the first one succeeds, the number of successes alone is right.
func insertRace[T any](k *kit[T]) {
	ids := make([]string, k.Items)
	sent := make([][]T, k.Items)
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
			k.fatalf("%d of %d racing calls of Insert for one id were acknowledged, want 1",
				len(won), k.Writers)
		}
		k.sameValue(sent[i][won[0]], k.get(ids[i]).Value, "the item after racing calls of Insert")
	}
}

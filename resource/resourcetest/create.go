package resourcetest

import (
	"slices"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/schema"
)

// createCases test Creator.
func createCases[T any]() []testCase[T] {
	return []testCase[T]{
		{
			name:  "create-get",
			needs: creator,
			contract: "Create stores the value and returns it as stored, with the id it chose and its " +
				"revision; Get returns the same from then on.",
			run: createGet[T],
		},
		{
			name:  "create-race",
			needs: creator,
			contract: "Each Create takes an id that was never used before, whoever else creates at the " +
				"same time, and every acknowledged item is there afterwards.",
			run: createRace[T],
		},
		{
			name:  "create-id-reuse",
			needs: creator | deleter,
			contract: "The id of a deleted item is not given to another one. A client that kept the old id " +
				"would read and overwrite something else. (A SQLite rowid needs AUTOINCREMENT for that.)",
			run: createIDReuse[T],
		},
		{
			name:  "create-beside-insert",
			needs: creator | inserter,
			contract: "Create chooses around ids that were taken by Insert. It may fail, but it must not " +
				"put its item in the place of another.",
			run: createBesideInsert[T],
		},
	}
}

// createGet compares the value sent, the item that Create returned, and the item that Get returns.
// The last comparison detects a store that returns its argument but stores something else.
func createGet[T any](k *kit[T]) {
	for range 5 {
		sent := k.fresh()
		made := k.put(sent)
		k.sameValue(sent, made.Value, "what Create returned")
		got := k.get(made.ID)
		k.sameValue(sent, got.Value, "what Get returned after Create")
		k.sameItem(made, got, "Get after Create")
	}
}

// createRace calls Create from all writers at once. A store that reads a counter and then writes it
// gives two of them the same id. The second item then replaces the first, so the number of items is
// too small at the end, too.
func createRace[T any](k *kit[T]) {
	rounds := max(5, k.Items/k.Writers)
	sent := make([]T, rounds*k.Writers)
	for i := range sent {
		sent[i] = k.fresh()
	}
	made := make([]resource.Item[T], len(sent))
	k.duels(rounds, func(w, i int) (err error) {
		n := i*k.Writers + w
		made[n], err = k.ops.Create(k.ctx, sent[n])
		return err
	})
	used := map[string]bool{}
	for i, it := range made {
		it = k.vet(it, "Create")
		if used[it.ID] {
			k.errorf("two calls of Create were given the id %q", it.ID)
		}
		used[it.ID] = true
		k.sameValue(sent[i], k.get(it.ID).Value, "item "+it.ID)
	}
	if listed := k.all(); len(listed) != len(sent) {
		k.errorf("List gave %d items after %d acknowledged calls of Create", len(listed), len(sent))
	}
}

// createIDReuse deletes each item before it creates the next. This is the worst case for stores
// that add one to the largest id, because the largest id is the deleted one.
func createIDReuse[T any](k *kit[T]) {
	used := map[string]bool{}
	for range 5 {
		it := k.put(k.fresh())
		if used[it.ID] {
			k.errorf("Create gave id %q, which had been another item's before that was deleted", it.ID)
		}
		used[it.ID] = true
		k.remove(it)
	}
}

// createBesideInsert inserts the id that a counting store would choose next, and then creates
// items. Insert may reject an id. Create must not replace the inserted item.
func createBesideInsert[T any](k *kit[T]) {
	inserted := map[string]resource.Item[T]{}
	for range 3 {
		made := k.put(k.fresh())
		for _, id := range []string{successor(made.ID), k.newID()} {
			if !k.valid(id) {
				continue // for example the successor of a UUID
			}
			it, err := k.ops.Insert(k.ctx, id, k.identified(k.fresh(), id))
			if err == nil {
				inserted[id] = k.vet(it, "Insert")
			} else {
				k.wantError(err, "Insert of an id that Create may have taken", resource.ErrExists)
			}
		}
		for range 3 {
			it, err := k.tryPut(k.ctx, k.fresh())
			if err != nil {
				k.notef("Create beside an inserted id failed: %v", err)
				continue
			}
			if _, taken := inserted[it.ID]; taken {
				k.errorf("Create gave id %q, which an inserted item had", it.ID)
			}
		}
	}
	for id, want := range inserted {
		k.sameItem(want, k.get(id), "an inserted item beside created ones")
	}
}

// valid reports whether the type and the tags of the id field permit an id. The library rejects
// requests with other ids.
func (k *kit[T]) valid(id string) bool {
	if _, err := k.id.Parse(id); err != nil {
		return false
	}
	v := k.identified(k.fresh(), id)
	return !slices.ContainsFunc(k.typ.Validate(&v),
		func(bad schema.Violation) bool { return bad.Pointer == "/"+k.id.Name })
}

// successor returns the id that follows in a store that counts.
func successor(id string) string {
	digits := []byte(id)
	for i := len(digits) - 1; i >= 0 && digits[i] >= '0' && digits[i] <= '9'; i-- {
		if digits[i]++; digits[i] <= '9' {
			return string(digits)
		}
		digits[i] = '0'
	}
	return id + "1"
}

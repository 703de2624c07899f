package resourcetest

import (
	"slices"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/schema"
)

// createCases test Creator.
func createCases() []testCase {
	return []testCase{
		{
			name:  "create-get",
			needs: creator,
			contract: "Create stores the value and returns it as stored, with its id and revision. " +
				"Get then returns the same item.",
			run: createGet,
		},
		{
			name:  "create-race",
			needs: creator,
			contract: "Each Create uses an id that was never used before, also during concurrent " +
				"calls, and every acknowledged item is stored.",
			run: createRace,
		},
		{
			name:  "create-id-reuse",
			needs: creator | deleter,
			contract: "The id of a deleted item is never used again. Otherwise a client that kept " +
				"the id would read and overwrite a different item. (A SQLite rowid needs " +
				"AUTOINCREMENT.)",
			run: createIDReuse,
		},
		{
			name:  "create-beside-insert",
			needs: creator | inserter,
			contract: "Create does not use an id that Insert has used. It may return an error, but " +
				"must not overwrite the inserted item.",
			run: createBesideInsert,
		},
	}
}

// createGet compares the value sent, the item that Create returned, and the item that Get returns.
// The last comparison detects a store that returns its argument but stores something else.
func createGet(k *kit) {
	for range 5 {
		sent := k.fresh()
		made := k.put(sent)
		k.sameValue(sent, made.Value, "the result of Create")
		got := k.get(made.ID)
		k.sameValue(sent, got.Value, "the result of Get after Create")
		k.sameItem(made, got, "Get after Create")
	}
}

// createRace calls Create from all writers at once. A store that reads a counter and then writes it
// gives two of them the same id. The second item then replaces the first, so the number of items is
// too small at the end, too.
func createRace(k *kit) {
	rounds := max(5, k.Items/k.Writers)
	sent := make([]any, rounds*k.Writers)
	for i := range sent {
		sent[i] = k.fresh()
	}
	made := make([]resource.Item[any], len(sent))
	k.duels(rounds, func(w, i int) (err error) {
		n := i*k.Writers + w
		made[n], err = k.ops.Create(k.ctx, sent[n])
		return err
	})
	used := map[string]bool{}
	for i, it := range made {
		it = k.vet(it, "Create")
		if used[it.ID] {
			k.errorf("two calls of Create returned id %q", it.ID)
		}
		used[it.ID] = true
		k.sameValue(sent[i], k.get(it.ID).Value, "item "+it.ID)
	}
	if listed := k.all(); len(listed) != len(sent) {
		k.errorf("List returned %d items after %d acknowledged calls of Create", len(listed), len(sent))
	}
}

// createIDReuse deletes each item before it creates the next. This is the worst case for stores
// that add one to the largest id, because the largest id is the deleted one.
func createIDReuse(k *kit) {
	used := map[string]bool{}
	for range 5 {
		it := k.put(k.fresh())
		if used[it.ID] {
			k.errorf("Create returned id %q, the id of a deleted item", it.ID)
		}
		used[it.ID] = true
		k.remove(it)
	}
}

// createBesideInsert inserts the id that a counting store would choose next, and then creates
// items. Insert may reject an id. Create must not replace the inserted item.
func createBesideInsert(k *kit) {
	inserted := map[string]resource.Item[any]{}
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
				k.notef("Create after Insert of the next id failed: %v", err)
				continue
			}
			if _, taken := inserted[it.ID]; taken {
				k.errorf("Create returned id %q, which an inserted item has", it.ID)
			}
		}
	}
	for id, want := range inserted {
		k.sameItem(want, k.get(id), "an inserted item after calls of Create")
	}
}

// valid reports whether the type and the tags of the id field permit an id. The library rejects
// requests with other ids.
func (k *kit) valid(id string) bool {
	if _, err := k.id.Parse(id); err != nil {
		return false
	}
	v := k.identified(k.fresh(), id)
	return !slices.ContainsFunc(k.typ.Validate(v),
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

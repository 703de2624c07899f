package resourcetest

import (
	"fmt"
	"reflect"

	"github.com/stoa-go/stoa/resource"
)

// replaceCases test Replacer.
func replaceCases() []testCase {
	return []testCase{
		{
			name:  "replace-get",
			needs: replacer,
			contract: "Replace stores the value and returns it as stored, with its new revision. Get " +
				"then returns the same item. Nothing of the previous value remains.",
			run: replaceGet,
		},
		{
			name:  "replace-in-place",
			needs: replacer,
			contract: "Replace compares the value with what is stored, and not with what Get returned. " +
				"A caller may change that in place, also elements of its lists and maps, and decorators " +
				"may pass another value than the core.",
			run: replaceInPlace,
		},
		{
			name:  "replace-stale",
			needs: replacer,
			contract: "A write names the revision it read. If the item has another one, Replace " +
				"returns ErrStale and changes nothing. The same applies to a revision that the store " +
				"never returned. Otherwise an acknowledged change of another client would be lost.",
			run: replaceStale,
		},
		{
			name:  "replace-unknown",
			needs: replacer,
			contract: "Replace of an unknown id returns ErrNotFound and creates nothing, with any " +
				"revision.",
			run: replaceUnknown,
		},
		{
			name:  "replace-revisions",
			needs: replacer,
			contract: "Every write gives the item a revision that it never had, also a write that " +
				"restores an earlier value. A hash of the content and a coarse timestamp repeat, and " +
				"a client with the old revision would overwrite changes that it has not read.",
			run: replaceRevisions,
		},
		{
			name:  "replace-race",
			needs: replacer,
			contract: "Comparing the revision and writing are one atomic step. Acknowledged writes " +
				"then form one chain: each names the revision that the one before returned. If two " +
				"name the same one, an acknowledged write was lost. (UPDATE ... WHERE id = ? AND rev " +
				"= ?, and check the number of rows.)",
			run: replaceRace,
		},
		{
			name:  "replace-duel",
			needs: replacer,
			contract: "If several callers replace an item concurrently with the same revision, " +
				"exactly one succeeds and its value is stored. The others return ErrStale.",
			run: replaceDuel,
		},
	}
}

// replaceGet replaces each item several times, at the end with values that are mostly null or
// empty. Stores that omit empty columns keep the old content.
func replaceGet(k *kit) {
	for _, it := range k.fill(2, distinct) {
		for range 3 {
			sent := k.changed(it.Value)
			next := k.replace(it, sent)
			k.sameValue(sent, next.Value, "the result of Replace")
			if next.ID != it.ID {
				k.errorf("Replace of item %q returned item %q", it.ID, next.ID)
			}
			it = k.get(it.ID)
			k.sameItem(next, it, "Get after Replace")
		}
	}
	sparse := k.put(k.fresh())
	for range 4 { // nulls and empty values replace others
		sent := k.replacement(k.styled(clustered), sparse.Value)
		sparse = k.replace(sparse, sent)
		k.sameValue(sent, k.get(sparse.ID).Value, "an item after Replace with fewer fields set")
	}
}

// replaceInPlace writes values that share the memory of the item that was read: as a command does, and as
// a decorator does in a request.
func replaceInPlace(k *kit) {
	for _, it := range k.fill(3, distinct) {
		it = k.get(it.ID)
		for range 3 {
			sent := k.changed(it.Value)
			overwrite(reflect.ValueOf(it.Value).Elem(), reflect.ValueOf(sent).Elem())
			next := k.replace(it, it.Value)
			k.sameValue(sent, next.Value, "the result of Replace with an item that was changed in place")
			it = k.get(it.ID)
			k.sameItem(next, it, "Get after Replace with an item that was changed in place")
		}
		k.replaceInRequest(it)
	}
}

// replaceInRequest puts an item, and a decorator replaces it by another value in the memory of the item
// that the request has read.
func (k *kit) replaceInRequest(it resource.Item[any]) {
	put := k.clone(k.changed(it.Value))
	for _, f := range k.typ.Fields {
		if f.ReadOnly { // the resource or the database sets it
			k.copyField(f, put, it.Value)
		}
	}
	if k.typ.Equal(put, it.Value) {
		return // each field is readOnly: the request replaces nothing
	}
	doc, err := k.typ.AppendFull(nil, put)
	k.must(err, "Encoding an item")
	var sent any
	err = k.ops.put(k.ctx, k.setup, it.ID, doc, func(read, v any) {
		sent = k.changed(v)
		overwrite(reflect.ValueOf(read).Elem(), reflect.ValueOf(sent).Elem())
	})
	k.must(err, "Put of an item")
	k.sameValue(sent, k.get(it.ID).Value, "an item after a decorator of Replace has changed it in place")
}

// overwrite sets to to from. It keeps the memory that to refers to, if it can.
func overwrite(to, from reflect.Value) {
	switch to.Kind() {
	case reflect.Pointer:
		if !to.IsNil() && !from.IsNil() {
			overwrite(to.Elem(), from.Elem())
			return
		}
	case reflect.Slice:
		if to.Len() == from.Len() {
			reflect.Copy(to, from)
			return
		}
	case reflect.Map:
		if !to.IsNil() && !from.IsNil() && to.Pointer() != from.Pointer() {
			to.Clear()
			for each := from.MapRange(); each.Next(); {
				to.SetMapIndex(each.Key(), each.Value())
			}
			return
		}
	case reflect.Struct:
		if exported(to.Type()) {
			for i := range to.NumField() {
				overwrite(to.Field(i), from.Field(i))
			}
			return
		}
	}
	to.Set(from)
}

// exported reports whether all fields of a struct can be set.
func exported(t reflect.Type) bool {
	for i := range t.NumField() {
		if !t.Field(i).IsExported() {
			return false
		}
	}
	return true
}

// oddRevs returns revisions that a store never returns, derived from an existing one.
func oddRevs(current resource.Rev) []resource.Rev {
	return []resource.Rev{
		"", "0", "-1", "x", " ", current + "x", current + " ", "x" + current, current + "\x00",
		"\xff\xfe\x00", "*", `"` + current + `"`, "W/" + current, "99999999999999999999999999",
		"' OR '1'='1", current + current, resource.NewRev(),
	}
}

// replaceStale tries earlier revisions of the item, that of another item, and many that resemble
// the current one. After each the item must be unchanged, even if the error was correct.
func replaceStale(k *kit) {
	items := k.fill(2, distinct)
	if len(items) == 0 {
		return
	}
	first, other := items[0], items[len(items)-1]
	second := k.replace(first, k.changed(first.Value))
	third := k.replace(second, k.changed(second.Value))
	stale := append(oddRevs(third.Rev), first.Rev, second.Rev, other.Rev)
	for _, rev := range stale {
		if rev == third.Rev {
			continue
		}
		_, err := k.ops.Replace(k.ctx, third.ID, rev, k.changed(third.Value))
		what := fmt.Sprintf("Replace with revision %q of an item that has revision %q", rev, third.Rev)
		k.wantError(err, what, resource.ErrStale)
		k.sameItem(third, k.get(third.ID), "the item after a stale Replace")
	}
}

// replaceUnknown uses the revision of another item, which an UPDATE without the id in its condition
// would find.
func replaceUnknown(k *kit) {
	items := k.fill(1, distinct)
	id := k.newID()
	revs := oddRevs("1")
	for _, it := range items {
		revs = append(revs, it.Rev)
	}
	for _, rev := range revs {
		_, err := k.ops.Replace(k.ctx, id, rev, k.identified(k.fresh(), id))
		k.wantError(err, fmt.Sprintf("Replace of an unknown id with revision %q", rev),
			resource.ErrNotFound)
	}
	if _, err := k.ops.Get(k.ctx, id); err == nil {
		k.errorf("Replace of an unknown id created the item")
	}
	k.sameIDs(items, k.all(), "List after Replace of an unknown id")
}

// replaceRevisions alternates quickly between two values. A hash of the content repeats at the
// third write, and a time in milliseconds within the first few.
func replaceRevisions(k *kit) {
	items := k.fill(1, distinct)
	if len(items) == 0 {
		return
	}
	it := items[0]
	seen := map[resource.Rev]int{it.Rev: 0}
	alternating := [2]any{k.changed(it.Value), it.Value}
	for write := range max(20, k.Items/4) {
		it = k.replace(it, alternating[write%2])
		if earlier, again := seen[it.Rev]; again {
			k.fatalf("write %d returned revision %q, which the item had after write %d",
				write+1, it.Rev, earlier)
		}
		seen[it.Rev] = write + 1
		k.sameItem(it, k.get(it.ID), "Get after a write")
	}
}

// replaceRace is the write loop of package resource without its lock: read, change, compare and
// swap, retry if stale. A second item detects writes to all rows.
func replaceRace(k *kit) {
	items := k.fill(2, distinct)
	if len(items) == 0 {
		return
	}
	chain := newChain(items[0])
	k.race(k.Writers, func(int) {
		for range max(1, k.Items/k.Writers) {
			k.lengthen(chain)
		}
	})
	k.checkChain(chain)
	if len(items) > 1 {
		k.sameItem(items[1], k.get(items[1].ID), "an item that was not written")
	}
}

// replaceDuel does not read. All writers use the current revision at the same moment, which hits
// short windows between comparison and write that replaceRace rarely hits.
func replaceDuel(k *kit) {
	items := k.fill(k.Items, distinct)
	sent := make([][]any, len(items))
	for i, it := range items {
		for range k.Writers {
			sent[i] = append(sent[i], k.changed(it.Value))
		}
	}
	winners := k.duels(len(items), func(w, i int) error {
		_, err := k.ops.Replace(k.ctx, items[i].ID, items[i].Rev, sent[i][w])
		return err
	}, resource.ErrStale)
	for i, won := range winners {
		if len(won) != 1 {
			k.fatalf("%d of %d concurrent calls of Replace with one revision succeeded, want 1",
				len(won), k.Writers)
		}
		k.sameValue(sent[i][won[0]], k.get(items[i].ID).Value, "the item after concurrent calls of Replace")
	}
}

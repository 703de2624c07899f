package resourcetest

import (
	"fmt"
	"maps"
	"slices"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
)

// manyCases test MultiGetter, BatchLister and BatchCounter.
func manyCases() []testCase {
	return []testCase{
		{
			name:  "getmany-get",
			needs: multiGetter,
			contract: "GetMany returns the items with these ids, each once and as Get returns it, in " +
				"any order. It omits ids without an item. No ids return no items. There may be more " +
				"ids than parameters in one SQL statement.",
			run: getManyGet,
		},
		{
			name:  "listby-list",
			needs: grouper | filterer | sorter,
			contract: "ListByKeys returns for each key what List returns if the field equals the " +
				"key: the first Limit items of each key, not of all keys together, in the order of " +
				"Sort within a key. A key without items returns none.",
			run: listByList,
		},
		{
			name:  "countby-list",
			needs: batchCounter | filterer,
			contract: "CountByKeys returns for each key the number of items that List returns if the " +
				"field equals the key. A key without items is absent or 0, and no other key is present.",
			run: countByList,
		},
	}
}

// getManyGet requests ids in random order, some or all, with and without unknown ones, up to two
// thousand. Older versions of SQLite take 999 parameters, and SQL Server takes 2,100.
func getManyGet(k *kit) {
	stored := map[string]resource.Item[any]{}
	for _, it := range k.fill(max(20, k.Items/2), distinct) {
		stored[it.ID] = it
	}
	for _, size := range []int{0, 1, 3, len(stored)} {
		ids := slices.Sorted(maps.Keys(stored))
		k.rng.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
		k.checkGetMany(ids[:min(size, len(ids))], 0, stored)
		k.checkGetMany(ids[:min(size, len(ids))], 1+size*20, stored)
	}
}

// checkGetMany requests ids together with unknown ones.
func (k *kit) checkGetMany(ids []string, unknown int, stored map[string]resource.Item[any]) {
	asked := slices.Clone(ids)
	for range unknown {
		id := k.newID()
		if _, known := stored[id]; !known && !slices.Contains(ids, id) {
			asked = append(asked, id)
		}
	}
	k.rng.Shuffle(len(asked), func(i, j int) { asked[i], asked[j] = asked[j], asked[i] })
	got, err := k.drain(k.ops.GetMany(k.ctx, asked), "GetMany")
	k.must(err, "GetMany")
	want := make([]resource.Item[any], len(ids))
	for i, id := range ids {
		want[i] = stored[id]
	}
	if !k.sameSet(want, got, "GetMany") {
		return
	}
	for _, it := range got {
		k.sameItem(stored[it.ID], it, "GetMany compared with what was stored")
	}
}

// listByList compares each key with query.Select. Stores often get the limit wrong: it applies to
// each key, and a LIMIT clause applies to all keys together. A window function or a lateral join is
// correct.
func listByList(k *kit) {
	items := k.inOrder(k.fill(k.Items/2, clustered))
	known := k.withOthers(items)
	s := k.collectSamples(known)
	sorts := k.sorts()
	for _, field := range k.keyFields() {
		for _, limit := range []int{0, 1, 3} {
			for range 3 {
				q := k.sorted(sorts[k.rng.IntN(len(sorts))])
				q.Limit = limit
				if k.rng.IntN(2) == 0 {
					q.Filter = k.tree(s, 1)
				}
				k.checkListBy(field, k.keys(field, s[field], known), q, items)
			}
		}
	}
}

// keyFields returns the fields that ListByKeys can get. The texts of equal decimals differ, so they are
// no keys.
func (k *kit) keyFields() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(k.Support.Filter)), func(field string) bool {
		f := k.typ.Field(field)
		return !slices.Contains(k.Support.Filter[field], query.Eq) || f.IsDecimal() || f.IsDuration()
	})
}

// countByList compares the count of each key with the length of query.Select.
func countByList(k *kit) {
	items := k.fill(k.Items/2, clustered)
	known := k.withOthers(items)
	s := k.collectSamples(known)
	for _, field := range k.keyFields() {
		keys := k.keys(field, s[field], known)
		asked := slices.Sorted(maps.Keys(keys))
		for range 3 {
			var q query.Query
			if k.rng.IntN(3) > 0 {
				q.Filter = k.tree(s, 1)
			}
			got, err := k.ops.CountByKeys(k.ctx, field, asked, q)
			k.must(err, "CountByKeys "+field+" "+show(q))
			for _, key := range asked {
				each := query.Query{Filter: query.And(q.Filter, query.Where(field, query.Eq, keys[key]))}
				if want := len(query.Select(each, items, k.fieldOf)); got[key] != want {
					k.errorf("CountByKeys %s returned %d for key %q, %s, but List returns %d items",
						field, got[key], key, show(q), want)
				}
			}
			for key := range got {
				if _, ok := keys[key]; !ok {
					k.errorf("CountByKeys %s returned key %q, which was not requested", field, key)
				}
			}
		}
	}
}

// keys returns the text form of each value, from an item that has it. Two values with the same
// text, such as null and an empty string, are not a key.
func (k *kit) keys(field string, values []any, known []resource.Item[any]) map[string]any {
	keys := map[string]any{}
	for _, value := range values {
		i := slices.IndexFunc(known, func(it resource.Item[any]) bool {
			return query.Compare(k.fieldOf(&it, field), value) == 0
		})
		if text := k.typ.Field(field).Text(known[i].Value); text != "" {
			keys[text] = value
		}
	}
	return keys
}

// checkListBy compares one call with the expected items of each key.
func (k *kit) checkListBy(field string, keys map[string]any, q query.Query, items []resource.Item[any]) {
	asked := slices.Sorted(maps.Keys(keys))
	k.rng.Shuffle(len(asked), func(i, j int) { asked[i], asked[j] = asked[j], asked[i] })
	listed, err := k.drain(k.ops.ListByKeys(k.ctx, field, asked, q), "ListByKeys")
	k.must(err, "ListByKeys "+field+" "+show(q))
	got := map[string][]resource.Item[any]{}
	for i := range listed {
		key := k.typ.Field(field).Text(listed[i].Value)
		got[key] = append(got[key], listed[i])
	}
	for _, key := range asked {
		each := q
		each.Filter = query.And(q.Filter, query.Where(field, query.Eq, keys[key]))
		k.sameIDs(k.expect(each, items), got[key],
			fmt.Sprintf("ListByKeys %s, for key %q, %s", field, key, show(q)), q.Sort...)
		delete(got, key)
	}
	for key := range got {
		k.errorf("ListByKeys %s returned items of key %q, which was not requested", field, key)
	}
}

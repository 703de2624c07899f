package resourcetest

import (
	"slices"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
)

// pageCases test List from a position.
func pageCases() []testCase {
	return []testCase{
		{
			name:  "page-walk",
			needs: sorter,
			contract: "Query.After has one value for each sort key, those of the last item that was " +
				"read, and the list continues after it. The pages of any size together are the whole " +
				"list. (Compare all keys, not only the first: (a, id) > (?, ?). Mind nulls and " +
				"descending keys.)",
			run: pageWalk,
		},
		{
			name:  "page-deleted",
			needs: sorter | deleter,
			contract: "Query.After is a position, not an item. The list continues at the position, " +
				"also if the item has been deleted or changed.",
			run: pageDeleted,
		},
		{
			name:  "page-changes",
			needs: filler | deleter,
			contract: "While a client reads the pages, others create and delete items. Every item " +
				"that exists throughout is returned exactly once, and no item twice. OFFSET cannot " +
				"guarantee that; a position can.",
			run: pageChanges,
		},
		{
			name:  "page-natural",
			needs: natural,
			contract: "A store with natural order returns a token in Item.Next, and Query.Token " +
				"continues after that item. The pages of any size together are the whole list.",
			run: pageNatural,
		},
	}
}

// after returns the query that continues after an item.
func (k *kit) after(q query.Query, it resource.Item[any]) query.Query {
	if k.able.has(natural) {
		q.Token = it.Next
		return q
	}
	q.After = make([]any, len(q.Sort))
	for i, o := range q.Sort {
		q.After[i] = k.fieldOf(&it, o.Field)
	}
	return q
}

// walk reads all pages. between is called after each, with the items so far. The first item that is
// returned again ends the case: a store that ignores the position would return the same page forever.
func (k *kit) walk(q query.Query, most int, between func(seen []resource.Item[any])) []resource.Item[any] {
	var seen []resource.Item[any]
	known := map[string]bool{}
	for range most {
		q.Limit = 1 + k.rng.IntN(9)
		page := k.list(q)
		if len(page) > q.Limit {
			k.fatalf("List %s returned %d items, want at most Limit", show(q), len(page))
		}
		for _, it := range page {
			if known[it.ID] {
				k.fatalf("List %s returned item %q, which an earlier page has returned; "+
					"a page contains only items after its position", show(q), it.ID)
			}
			known[it.ID] = true
		}
		seen = append(seen, page...)
		if len(page) < q.Limit {
			return seen
		}
		last := page[len(page)-1]
		if k.able.has(natural) && last.Next == "" {
			return seen
		}
		q = k.after(q, last)
		if between != nil {
			between(seen)
		}
	}
	k.fatalf("the pages of List %s did not end after %d items", show(q), len(seen))
	return nil
}

// pageWalk uses a random size for each page, as clients may.
func pageWalk(k *kit) {
	items := k.fill(max(20, k.Items/2), clustered)
	for _, sort := range k.sorts() {
		q := k.sorted(sort)
		got := k.walk(q, len(items)+2, nil)
		if !k.sameIDs(k.expect(q, items), got, "the pages of List "+show(q), q.Sort...) {
			return // other orders would fail in the same way
		}
	}
}

// pageDeleted deletes the last item of the previous page.
func pageDeleted(k *kit) {
	items := k.fill(20, clustered)
	for _, sort := range k.sorts() {
		if len(items) < 3 {
			return
		}
		q := k.sorted(sort)
		whole := k.list(q)
		i := k.rng.IntN(len(whole) - 1)
		q = k.after(q, whole[i])
		k.remove(whole[i])
		items = slices.DeleteFunc(items, func(it resource.Item[any]) bool { return it.ID == whole[i].ID })
		k.sameIDs(whole[i+1:], k.list(q), "List after the position of a deleted item, "+show(q), q.Sort...)
	}
}

// pageChanges changes items between pages. The changes are the same in each run.
func pageChanges(k *kit) {
	for _, sort := range k.sorts() {
		q := query.Query{}
		if k.able.has(sorter) {
			q = k.sorted(sort)
		}
		steady, passing := k.mixed(max(20, k.Items/4))
		churn := func([]resource.Item[any]) {
			for range k.rng.IntN(3) {
				passing = append(passing, k.put(k.styled(clustered)))
			}
			for range k.rng.IntN(4) {
				if len(passing) == 0 {
					break
				}
				i := k.rng.IntN(len(passing))
				k.remove(passing[i])
				passing = slices.Delete(passing, i, i+1)
			}
		}
		seen := k.walk(q, 10*k.Items+100, churn)
		k.checkWalk(steady, seen, show(q))
		for _, it := range slices.Concat(steady, passing) {
			k.remove(it)
		}
	}
}

// mixed stores items, some of which are deleted later.
func (k *kit) mixed(n int) (steady, passing []resource.Item[any]) {
	for i, it := range k.fill(n, clustered) {
		if i%2 == 0 {
			steady = append(steady, it)
		} else {
			passing = append(passing, it)
		}
	}
	return steady, passing
}

// checkWalk checks that items which were not deleted appear. That no item appears twice is checked
// by walk. The first missing item ends the case.
func (k *kit) checkWalk(steady, seen []resource.Item[any], how string) {
	known := map[string]bool{}
	for _, it := range seen {
		known[it.ID] = true
	}
	for _, it := range steady {
		if !known[it.ID] {
			k.fatalf("the pages of List %[2]s do not contain item %[1]q, which existed throughout",
				it.ID, how)
		}
	}
}

// pageNatural takes the order from the whole list and checks that the pages agree with it.
func pageNatural(k *kit) {
	items := k.fill(max(20, k.Items/2), distinct)
	whole := k.list(query.Query{})
	k.sameSet(items, whole, "List")
	for range 5 {
		k.sameIDs(whole, k.walk(query.Query{}, len(items)+2, nil), "the pages of List")
	}
}

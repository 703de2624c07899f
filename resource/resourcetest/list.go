package resourcetest

import (
	"context"
	"runtime"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
)

// listCases test List without a position.
func listCases() []testCase {
	return []testCase{
		{
			name: "list-get",
			contract: "List returns every item once, with the same id, revision, modification time " +
				"and value as Get. A client may write an item with the revision from a list.",
			run: listGet,
		},
		{
			name:  "list-sort",
			needs: sorter,
			contract: "A list has the order of Query.Sort. Its last key is the id, so that every " +
				"list has exactly one order. Null sorts before all other values, and after them if " +
				"the order is descending. Strings compare by code point, not by locale. False sorts " +
				"before true.",
			run: listSort,
		},
		{
			name: "list-limit",
			contract: "Query.Limit is the maximum number of items. Zero means no limit. The items " +
				"are the first ones of the whole list.",
			run: listLimit,
		},
		{
			name: "list-stop",
			contract: "The consumer of an iterator may stop early. The iterator then releases its " +
				"locks, rows, connections and goroutines. (Call defer rows.Close() inside the " +
				"iterator's function.)",
			run: listStop,
		},
	}
}

// listGet stores values with nulls, replaces one item, so that revisions differ in age, and
// compares all items. Lists often use a different statement than Get, with other columns.
func listGet(k *kit) {
	items := k.fill(max(10, k.Items/4), clustered)
	listed := k.all()
	k.sameSet(items, listed, "List")
	k.sameSet(items, k.list(query.Query{}), "List with the zero Query")
	if len(items) == 0 {
		k.notef("skipped: the collection is read-only and empty, so no item of a list was compared")
	}
	if k.ops.Replace != nil && len(listed) > 1 {
		k.replace(listed[1], k.changed(listed[1].Value))
		listed = k.all()
	}
	for _, it := range listed {
		got := k.get(it.ID)
		k.sameItem(got, it, "List compared with Get")
		if !got.Modified.Equal(it.Modified) && !got.Modified.IsZero() && !it.Modified.IsZero() {
			k.errorf("item %q has Modified %v in Get and %v in List",
				it.ID, got.Modified, it.Modified)
		}
	}
}

// sorts returns the orders to test: each sort key in both directions, and some pairs.
func (k *kit) sorts() [][]query.Order {
	sorts := [][]query.Order{nil, k.byKey(true)}
	keys := k.Support.Sort
	for i, field := range keys {
		sorts = append(sorts, []query.Order{{Field: field}}, []query.Order{{Field: field, Desc: true}})
		if next := keys[(i+1)%len(keys)]; next != field {
			sorts = append(sorts, []query.Order{{Field: field, Desc: k.rng.IntN(2) == 0},
				{Field: next, Desc: true}})
		}
	}
	return sorts
}

// sorted returns a query with these keys, and with those of the id unless they are among them.
func (k *kit) sorted(sort []query.Order) query.Query { return k.ordered(query.Query{Sort: sort}) }

// expect returns the result of a query on the items of the collection.
func (k *kit) expect(q query.Query, items []resource.Item[any]) []resource.Item[any] {
	if k.CompareText == nil {
		return query.Select(q, items, k.fieldOf)
	}
	// Texts are replaced by their ranks, so that query.Select sorts them in the order of the store.
	var texts []string
	for i := range items {
		for _, o := range q.Sort {
			if s, ok := query.Canonical(k.fieldOf(&items[i], o.Field)).(string); ok {
				texts = append(texts, s)
			}
		}
	}
	slices.SortFunc(texts, k.CompareText)
	rank := func(v any) any {
		if s, ok := query.Canonical(v).(string); ok {
			n, found := slices.BinarySearchFunc(texts, s, k.CompareText)
			if !found { // a position of an item that has been deleted is between two ranks
				return float64(n) - 0.5
			}
			return float64(n)
		}
		return v
	}
	ranked := query.Query{Sort: q.Sort, Limit: q.Limit}
	for _, v := range q.After {
		ranked.After = append(ranked.After, rank(v))
	}
	matches := query.Select(query.Query{Filter: q.Filter}, items, k.fieldOf)
	return query.Select(ranked, matches, func(it *resource.Item[any], name string) any {
		return rank(k.fieldOf(it, name))
	})
}

// listSort uses values of which many are equal or null, and compares with query.Select, item by
// item.
func listSort(k *kit) {
	items := k.fill(k.Items, clustered)
	for _, sort := range k.sorts() {
		q := k.sorted(sort)
		k.sameIDs(k.expect(q, items), k.list(q), "List "+show(q), q.Sort...)
	}
}

// listLimit tests limits next to the number of items, to find off-by-one errors.
func listLimit(k *kit) {
	items := k.fill(20, clustered)
	whole := k.all()
	for _, limit := range []int{0, 1, 2, 7, len(items) - 1, len(items), len(items) + 1, 1 << 30} {
		if limit < 0 {
			continue
		}
		q := k.ordered(query.Query{Limit: limit})
		want := whole
		if limit > 0 {
			want = whole[:min(limit, len(whole))]
		}
		k.sameIDs(want, k.list(q), "List "+show(q))
	}
}

// listStop stops many lists and counts the goroutines that remain: those with the pprof label of
// the caller, and all others except tests, because a server in this process may work for the list.
// It stops so many lists that leaks outnumber the goroutines of concurrent tests. A lock that is
// not released blocks the next write until the case times out.
func listStop(k *kit) {
	k.fill(20, distinct)
	k.stopLists("List", func(ctx context.Context, q query.Query) error {
		for _, err := range k.ops.List(ctx, q) {
			return err
		}
		return nil
	})
	for _, l := range k.fastLists() {
		k.stopLists(l.name, func(ctx context.Context, q query.Query) error {
			for _, err := range l.call(ctx, q) {
				return err
			}
			return nil
		})
	}
}

// stopLists calls list many times, which stops after the first item.
func (k *kit) stopLists(name string, list func(ctx context.Context, q query.Query) error) {
	const rounds = 200
	label := "list-stop-" + string(resource.NewRev())
	_, before := goroutines(label)
	pprof.Do(k.ctx, pprof.Labels("resourcetest", label), func(ctx context.Context) {
		for range rounds {
			k.must(list(ctx, k.ordered(query.Query{})), name)
		}
	})
	for _, it := range k.list(k.ordered(query.Query{Limit: 1})) {
		if k.ops.Replace != nil { // blocks if a lock was not released
			it = k.replace(it, k.changed(it.Value))
		}
		k.get(it.ID)
	}
	more := func() int {
		labelled, all := goroutines(label)
		return max(labelled, all-before)
	}
	if n := settled(more, rounds/2, min(k.patience/4, time.Minute)); n > rounds/2 {
		k.errorf("%d calls of %s that were stopped early leaked %d goroutines", rounds, name, n)
	}
}

// goroutines returns the number of goroutines with a label, which they inherit, and the number of
// all except tests.
func goroutines(label string) (labelled, all int) {
	var profile strings.Builder
	if err := pprof.Lookup("goroutine").WriteTo(&profile, 1); err != nil {
		return 0, runtime.NumGoroutine()
	}
	alike, theirs, test := 0, false, false // in stack and labels
	count := func() {
		if theirs {
			labelled += alike
		}
		if !test {
			all += alike
		}
	}
	for line := range strings.Lines(profile.String()) {
		if n, _, ok := strings.Cut(line, " @ "); ok {
			count()
			alike, _ = strconv.Atoi(n)
			theirs, test = false, false
		}
		theirs = theirs || strings.HasPrefix(line, "# labels:") && strings.Contains(line, label)
		test = test || strings.Contains(line, "testing.tRunner")
	}
	count()
	return labelled, all
}

// settled returns the number of goroutines, once it is at most most or after a timeout.
func settled(number func() int, most int, patience time.Duration) (n int) {
	end := time.Now().Add(patience)
	for wait := 10 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		if n = number(); n <= most || time.Now().After(end) {
			return n
		}
		time.Sleep(wait)
	}
}

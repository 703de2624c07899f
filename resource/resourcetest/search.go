package resourcetest

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/schema"
)

// searchCases test Search, and Count and Aggregate with a search.
func searchCases() []testCase {
	return []testCase{
		{
			name:  "search-match",
			needs: searcher,
			contract: "A search returns the items for which query.Search.Match and query.Match return " +
				"true, in the order of Query.Sort. Words are sequences of letters and digits and are " +
				"compared in lower case. Words of a phrase are adjacent words of one field. Count " +
				"returns their number.",
			run: searchMatch,
		},
		{
			name:  "search-rank",
			needs: searcher,
			contract: "The key query.Rank sorts by the rank in Item.Keys, which is not negative and never " +
				"NaN. An item has the same rank in each page, and the pages of any size together are the " +
				"whole list, in both directions. The ranks of stores may differ.",
			run: searchRank,
		},
		{
			name:  "search-changes",
			needs: searcher | filler | deleter,
			contract: "The rank of an item depends on the item alone. Otherwise it would show how many " +
				"items have a word that the caller may not see, and pages would change if another item " +
				"is written.",
			run: searchChanges,
		},
		{
			name:  "search-groups",
			needs: searcher | aggregates,
			contract: "With a Search, Aggregate returns what query.Summarize returns for the items that " +
				"Search finds. A store that ignores it shows groups of items that were not found.",
			run: searchGroups,
		},
		{
			name:  "search-write",
			needs: searcher | filler | replacer | deleter,
			contract: "A search finds an item by its current texts: as soon as a write has returned, and " +
				"no longer by those that were replaced or deleted.",
			run: searchWrite,
		},
	}
}

// searchGroups compares the groups of random searches with the reference.
func searchGroups(k *kit) {
	items := k.fillSearchable(max(20, k.Items/4))
	texts := k.wordsIn(items)
	if len(texts) == 0 || k.Stems {
		return
	}
	s := k.collectSamples(k.withOthers(items))
	for i := range 30 {
		a := k.randomAggregation(true)
		a.Search = k.search(texts)
		if k.able.has(filterer) && i%3 == 0 {
			a.Filter = k.boundedTree(s, 1)
		}
		if !k.checkGroups(a, items) {
			return
		}
	}
}

// searchTexts are texts for searches. Their words repeat in several orders, cases and scripts.
var searchTexts = []string{"green tea", "Green Tea, black tea", "black tea with MILK", "teapot",
	"tea; green-tea!",
	"e-mail ann@example.com", "(milk) & honey", "são paulo", "São Tomé e Príncipe", "Ελλάδα και Κρήτη",
	"ΟΔΟΣ οδος οδοσ", "Москва москва", "東京 大阪", "1984 and 007 agents", "v2 v2 v2", "a b c a b d", "milk", "",
	"don't «quote» “me”"}

// searchable returns a value with a text in each searched field that has no other constraint.
func (k *kit) searchable() any {
	v := k.styled(clustered)
	if k.New != nil {
		return v
	}
	for _, name := range k.Support.Search {
		f := k.typ.Field(name)
		lo, hi := lengths(f)
		free := f.Type.Kind == schema.String && f.Pattern == nil && f.Format == "" && len(f.Enum) == 0
		if !free || f.Unique || k.isKey(f) || f.ReadOnly || k.rng.IntN(4) == 0 {
			continue
		}
		text := searchTexts[k.rng.IntN(len(searchTexts))]
		if k.rng.IntN(2) == 0 {
			text += " " + searchTexts[k.rng.IntN(len(searchTexts))]
		}
		k.must(f.SetText(v, fit(text, lo, hi)), fmt.Sprintf("Setting the field %s to %q", name, text))
	}
	return v
}

// fillSearchable stores n values for searches, or returns the existing items.
func (k *kit) fillSearchable(n int) []resource.Item[any] {
	if !k.able.has(filler) {
		return k.all()
	}
	items := make([]resource.Item[any], n)
	for i := range items {
		items[i] = k.put(k.searchable())
	}
	return items
}

// wordsIn returns the words of the searched fields of items.
func (k *kit) wordsIn(items []resource.Item[any]) (all [][]string) {
	for i := range items {
		for _, name := range k.Support.Search {
			text, _ := k.fieldOf(&items[i], name).(string)
			if len(text) > 1000 {
				continue
			}
			s, err := query.ParseSearch(`"` + strings.ReplaceAll(text, `"`, " ") + `"`)
			if err == nil && len(s.Any) > 0 {
				all = append(all, s.Any[0][0].Words)
			}
		}
	}
	return all
}

// term generates a term of words in texts.
func (k *kit) term(texts [][]string) query.Term {
	words := texts[k.rng.IntN(len(texts))]
	from := k.rng.IntN(len(words))
	t := query.Term{Words: words[from : from+1]}
	switch k.rng.IntN(6) {
	case 0, 1:
		t.Words = words[from:min(len(words), from+1+k.rng.IntN(3))]
	case 2: // probably no phrase
		t.Words = []string{words[from], words[k.rng.IntN(len(words))]}
	case 3:
		t.Words = slices.Clone(t.Words)
		letters := []rune(t.Words[0])
		t.Words[0] = string(letters[:1+k.rng.IntN(len(letters))])
		t.Prefix = k.rng.IntN(4) > 0
	}
	return t
}

// search generates a search.
func (k *kit) search(texts [][]string) query.Search {
	s := query.Search{Fields: k.Support.Search}
	for range 1 + k.rng.IntN(2)*k.rng.IntN(3) {
		terms := []query.Term{k.term(texts)}
		for range k.rng.IntN(3) {
			t := k.term(texts)
			t.Not = k.rng.IntN(3) == 0
			terms = append(terms, t)
		}
		k.rng.Shuffle(len(terms), func(i, j int) { terms[i], terms[j] = terms[j], terms[i] })
		s.Any = append(s.Any, terms)
	}
	return s
}

// found returns the result of a search, which must succeed.
func (k *kit) found(q query.Query) []resource.Item[any] {
	where := fmt.Sprintf("Search for %q %s", q.Search, show(q))
	var all []resource.Item[any]
	err := drainTo(k, k.ops.Search(k.ctx, q), where, func(it resource.Item[any]) {
		it = k.vet(it, where)
		if byRank(q) {
			if rank := rankOf(it); !(rank >= 0) { // also for NaN
				k.errorf("%s returned item %q with the keys %v, want its rank", where, it.ID, it.Keys)
			}
		}
		all = append(all, it)
	})
	k.must(err, where)
	return all
}

// byRank reports whether a query is sorted by rank.
func byRank(q query.Query) bool {
	return slices.ContainsFunc(q.Sort, func(o query.Order) bool { return o.Field == query.Rank })
}

// rankOf returns the rank of an item in the order of the rank, and NaN if it has none.
func rankOf(it resource.Item[any]) float64 {
	if len(it.Keys) == 1 {
		if rank, ok := it.Keys[0].(float64); ok {
			return rank
		}
	}
	return math.NaN()
}

// searchMatch compares random searches with the reference.
func searchMatch(k *kit) {
	items := k.inOrder(k.fillSearchable(max(30, k.Items/4)))
	texts := k.wordsIn(items)
	if len(texts) == 0 {
		k.notef("no item has a word in a searched field; searches were not tested")
		return
	}
	s := k.collectSamples(k.withOthers(items))
	sorts := k.sorts()
	for i := range max(60, k.Items) {
		q := k.sorted(sorts[i%len(sorts)])
		q.Search = k.search(texts)
		if k.able.has(filterer) && i%3 == 0 {
			q.Filter = k.boundedTree(s, 1)
		}
		where := fmt.Sprintf("Search for %q %s", q.Search, show(q))
		want := k.expect(q, items)
		if !k.Stems && !k.sameIDs(want, k.found(q), where, q.Sort...) {
			return
		}
		if k.Stems {
			want = k.found(q)
		}
		if !k.able.has(counter) {
			continue
		}
		n, err := k.ops.Count(k.ctx, query.Query{Filter: q.Filter, Search: q.Search})
		k.must(err, "Count")
		if n != len(want) {
			k.errorf("Count for %q %s returned %d, but Search returns %d items",
				q.Search, show(q), n, len(want))
			return
		}
	}
}

// ranked returns a query in the order of the rank.
func (k *kit) ranked(s query.Search, desc bool) query.Query {
	q := k.ordered(query.Query{Sort: []query.Order{{Field: query.Rank, Desc: desc}}})
	q.Search = s
	return q
}

// searchRank reads lists by rank, whole and in pages.
func searchRank(k *kit) {
	items := k.fillSearchable(max(20, k.Items/4))
	texts := k.wordsIn(items)
	if len(texts) == 0 {
		return
	}
	for i := range 20 {
		q := k.ranked(k.search(texts), i%4 > 0)
		whole := k.found(q)
		where := fmt.Sprintf("Search for %q %s", q.Search, show(q))
		if n := len(k.expect(query.Query{Search: q.Search}, items)); n != len(whole) && !k.Stems {
			k.fatalf("%s returned %d items, want %d", where, len(whole), n)
		}
		ordered := slices.IsSortedFunc(whole, func(a, b resource.Item[any]) int {
			return k.compareFound(q, a, b)
		})
		if !ordered {
			k.fatalf("%s is not in the order of the ranks: %s", where, showRanks(whole))
		}
		pages := k.walkFound(q, len(whole))
		if a, b := showRanks(whole), showRanks(pages); a != b {
			k.fatalf("the pages of %s differ from the whole list:\n%s\n%s", where, b, a)
		}
	}
}

// compareFound compares two items by the sort keys of q.
func (k *kit) compareFound(q query.Query, a, b resource.Item[any]) int {
	value := func(f *resource.Item[any], field string) any {
		if field == query.Rank {
			return rankOf(*f)
		}
		return k.fieldOf(f, field)
	}
	for _, o := range q.Sort {
		c := query.Compare(value(&a, o.Field), value(&b, o.Field))
		if o.Desc {
			c = -c
		}
		if c != 0 {
			return c
		}
	}
	return 0
}

// walkFound reads at most n items in pages of a random size, and one more.
func (k *kit) walkFound(q query.Query, n int) (seen []resource.Item[any]) {
	for len(seen) <= n {
		q.Limit = 1 + k.rng.IntN(5)
		page := k.found(q)
		if len(page) > q.Limit {
			k.fatalf("Search returned %d items, want at most Limit %d", len(page), q.Limit)
		}
		if seen = append(seen, page...); len(page) < q.Limit {
			return seen
		}
		last := page[len(page)-1]
		q.After = make([]any, len(q.Sort))
		for i, o := range q.Sort {
			if q.After[i] = rankOf(last); o.Field != query.Rank {
				q.After[i] = k.fieldOf(&last, o.Field)
			}
		}
	}
	return seen
}

// showRanks returns the ids and ranks.
func showRanks(found []resource.Item[any]) string {
	var b strings.Builder
	for _, f := range found {
		fmt.Fprintf(&b, "%s=%v ", f.ID, rankOf(f))
	}
	return b.String()
}

// searchChanges compares the ranks of items before and after others were written.
func searchChanges(k *kit) {
	items := k.fillSearchable(20)
	texts := k.wordsIn(items)
	if len(texts) == 0 {
		return
	}
	for range 8 {
		q := k.ranked(k.search(texts), true)
		before := k.found(q)
		others := k.fillSearchable(1 + k.rng.IntN(8))
		isOther := func(f resource.Item[any]) bool {
			return slices.ContainsFunc(others, func(it resource.Item[any]) bool { return it.ID == f.ID })
		}
		after := slices.DeleteFunc(k.found(q), isOther)
		if a, b := showRanks(before), showRanks(after); a != b {
			k.fatalf("Search for %q returned other ranks after other items were stored:\n%s\n%s",
				q.Search, a, b)
		}
		for _, it := range others {
			k.remove(it)
		}
	}
}

// searchWrite searches after each write.
func searchWrite(k *kit) {
	items := k.fillSearchable(12)
	texts := k.wordsIn(items)
	if len(texts) == 0 || k.Stems {
		return
	}
	check := func(what string) {
		for range 4 {
			q := k.ordered(query.Query{})
			q.Search = k.search(texts)
			where := fmt.Sprintf("Search for %q %s", q.Search, what)
			k.sameIDs(k.expect(q, items), k.found(q), where)
		}
	}
	for range 12 {
		i := k.rng.IntN(len(items))
		items[i] = k.replace(items[i], k.replacement(k.searchable(), items[i].Value))
		check("after a replacement")
	}
	for len(items) > 6 {
		k.remove(items[len(items)-1])
		items = items[:len(items)-1]
		check("after a deletion")
	}
	if !k.able.has(transactor) {
		return
	}
	runner := k.ops.Transactions()
	if runner == nil {
		return
	}
	_ = runner.InTx(k.ctx, func(ctx context.Context) error {
		it := items[0]
		if _, err := k.ops.Replace(ctx, it.ID, it.Rev, k.replacement(k.searchable(), it.Value)); err != nil {
			return err
		}
		return errRollback
	})
	check("after a rollback")
}

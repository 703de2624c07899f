package relationtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
)

// nestedRelations are relations to many, by the name of their resource. Those of orders to tags and buyers,
// and of tags, are through links.
var nestedRelations = [][2]string{{"companies", "customers"}, {"customers", "orders"}, {"orders", "lines"},
	{"orders", "tags"}, {"orders", "buyers"}, {"tags", "orders"}}

// testNested compares random pages of related items, which a store lists by many keys at once, with their
// totals, and all pages of one item.
func (w *world) testNested(t *testing.T, o Options) {
	t.Helper()
	rnd := rand.New(rand.NewPCG(o.Seed, 22))
	for range max(o.Requests/10, 2*len(nestedRelations)) {
		path := nestedRelations[rnd.IntN(len(nestedRelations))]
		r, rel := w.resources[path[0]], w.kinds[path[0]].relations[path[1]]
		ctx, seesAll := t.Context(), rnd.IntN(3) == 0
		if seesAll {
			ctx = context.WithValue(ctx, seesAllKey{}, true)
		}
		parents, err := r.List(ctx, query.Query{Limit: 5}, resource.Position{})
		if err != nil {
			t.Fatal(err)
		}
		sorts := w.kinds[rel.target].sorts
		q := query.Query{Limit: 1 + rnd.IntN(8), Sort: []query.Order{
			{Field: sorts[rnd.IntN(len(sorts))], Desc: rnd.IntN(2) == 0}}}
		if rnd.IntN(3) == 0 {
			q.Filter = w.randomFilter(rnd, rel.target, 2)
		}
		want := make([][]string, len(parents.Entries))
		for i := range parents.Entries {
			want[i] = w.expectedOf(parents.Entries[i].Value, &rel, q, seesAll)
		}
		what := fmt.Sprintf("%v %s, caller sees all: %t", path,
			query.Query{Filter: q.Filter, Sort: q.Sort, Limit: q.Limit}.Values(), seesAll)
		w.checkFirst(ctx, t, path, parents.Entries, q, want, what)
		i := rnd.IntN(len(parents.Entries))
		w.checkPages(ctx, t, path, parents.Entries[i:i+1], q, want[i], what)
		parents.Release()
	}
}

// expectedOf returns the ids of the items that a caller gets of a relation of an item.
func (w *world) expectedOf(v any, rel *relation, q query.Query, seesAll bool) []string {
	related := map[string]bool{}
	for _, to := range w.related(v, rel, seesAll) {
		related[fmt.Sprint(query.FieldOf(to, "id"))] = true
	}
	ids := []string{}
	for _, id := range w.expected(rel.target, q, seesAll) {
		if related[id] {
			ids = append(ids, id)
		}
	}
	return ids
}

// nestedPage is a page of an item.
type nestedPage struct {
	IDs   []string
	More  bool
	Total int // 0 if the related resource has no totals
}

// hasTotals reports whether the related items can be counted, which Authorize prevents.
func (w *world) hasTotals(path [2]string) bool {
	return w.resources[w.kinds[path[0]].relations[path[1]].target].Describe().Counts
}

// checkFirst compares the first pages of several items.
func (w *world) checkFirst(ctx context.Context, t *testing.T, path [2]string, from []resource.Entry,
	q query.Query, all [][]string, what string) {
	t.Helper()
	p, err := w.resources[path[0]].FollowPages(ctx, path[1], from,
		resource.RelatedQuery{Query: q, Total: w.hasTotals(path)})
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	defer p.Release()
	var want, got []nestedPage
	for i, ids := range all {
		n := min(len(ids), q.Limit)
		page := nestedPage{IDs: ids[:n], More: len(ids) > n}
		if w.hasTotals(path) {
			page.Total = len(ids)
		}
		want = append(want, page)
		got = append(got, nestedPage{idsOf(&p, i), p.NextOf(i) != "", p.TotalOf(i)})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("first pages of %s (-want +got):\n%s", what, diff)
	}
}

// checkPages compares all pages of one item.
func (w *world) checkPages(ctx context.Context, t *testing.T, path [2]string, from []resource.Entry,
	q query.Query, want []string, what string) {
	t.Helper()
	got := []string{}
	related := resource.RelatedQuery{Query: q, Total: w.hasTotals(path)}
	for {
		p, err := w.resources[path[0]].FollowPages(ctx, path[1], from, related)
		if err != nil {
			t.Fatalf("pages of %s: %v", what, err)
		}
		got = append(got, idsOf(&p, 0)...)
		if total := p.TotalOf(0); related.Total && total != len(want) {
			t.Errorf("pages of %s: total %d, want %d", what, total, len(want))
		}
		related.After = p.NextOf(0)
		p.Release()
		if related.After == "" {
			break
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("pages of %s (-want +got):\n%s", what, diff)
	}
}

// idsOf returns the ids of the page of an item.
func idsOf(p *resource.Page, i int) []string {
	ids := []string{}
	for _, end := range p.Ends(i) {
		ids = append(ids, p.Entries[end].ID)
	}
	return ids
}

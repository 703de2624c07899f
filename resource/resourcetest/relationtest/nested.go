package relationtest

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
)

// testNested compares sorted pages of related items, which a store lists by many keys at once.
func (w *world) testNested(t *testing.T, o Options) {
	t.Helper()
	rnd := rand.New(rand.NewPCG(o.Seed, 22))
	for range o.Requests / 10 {
		path := [][2]string{{"companies", "customers"}, {"customers", "orders"}, {"orders", "lines"},
			{"tags", "orders"}}[rnd.IntN(4)]
		r, rel := w.resources[path[0]], w.kinds[path[0]].relations[path[1]]
		parents, err := r.List(t.Context(), query.Query{Limit: 5}, resource.Position{})
		if err != nil {
			t.Fatal(err)
		}
		sorts := w.kinds[rel.target].sorts
		q := query.Query{Limit: 1 + rnd.IntN(8), Sort: []query.Order{
			{Field: sorts[rnd.IntN(len(sorts))], Desc: rnd.IntN(2) == 0}}}
		related := resource.RelatedQuery{Query: q}
		p, err := w.catalog.FollowPages(t.Context(), r, path[1], parents.Entries, related)
		if err != nil {
			t.Fatalf("%v %+v: %v", path, q, err)
		}
		want, got := map[string][]string{}, map[string][]string{}
		for i := range parents.Entries {
			id := parents.Entries[i].ID
			of := q
			of.Filter = query.Where(rel.by, query.Eq, query.FieldOf(parents.Entries[i].Value, "id"))
			if rel.through != nil {
				of.Filter = query.Some("tags", query.Where("id", query.Eq, id))
			}
			all := w.expected(rel.target, of, false)
			want[id] = all[:min(len(all), q.Limit)]
			got[id] = []string{}
			for _, end := range p.Ends(i) {
				got[id] = append(got[id], p.Entries[end].ID)
			}
			if more := p.NextOf(i) != ""; more != (len(all) > q.Limit) {
				got[id] = append(got[id], fmt.Sprintf("another page: %t", more))
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%v sorted by %+v (-want +got):\n%s", path, q.Sort, diff)
		}
		p.Release()
		parents.Release()
	}
}

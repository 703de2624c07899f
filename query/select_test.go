package query_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
)

// city has a nullable population, and a name that several cities share.
type city struct {
	ID         string
	Name       string
	Population *int
}

func (c *city) field(name string) any {
	switch name {
	case "id":
		return c.ID
	case "name":
		return c.Name
	case "population":
		return c.Population
	}
	return nil
}

func cityField(c *city, name string) any { return c.field(name) }

func ids(cities []city) []string {
	var list []string
	for _, c := range cities {
		list = append(list, c.ID)
	}
	return list
}

func TestSelect(t *testing.T) {
	t.Parallel()
	cities := []city{
		{"4", "Ulm", new(120)},
		{"2", "Bonn", new(330)},
		{"3", "Ulm", nil},
		{"5", "Kiel", new(250)},
		{"1", "Bonn", new(330)},
	}
	asc := func(fields ...string) (keys []query.Order) {
		for _, f := range fields {
			keys = append(keys, query.Order{Field: f})
		}
		return keys
	}
	desc := func(field string) []query.Order { return []query.Order{{Field: field, Desc: true}, {Field: "id"}} }
	tests := []struct {
		name string
		q    query.Query
		want []string
	}{
		{"zero query", query.Query{}, []string{"4", "2", "3", "5", "1"}},
		{"limit without a sort", query.Query{Limit: 2}, []string{"4", "2"}},
		{"limit beyond the end", query.Query{Limit: 9}, []string{"4", "2", "3", "5", "1"}},
		{"negative limit", query.Query{Limit: -1}, []string{"4", "2", "3", "5", "1"}},
		{
			"filter without a sort",
			query.Query{Filter: query.Where("name", query.Eq, "Ulm"), Limit: 5},
			[]string{"4", "3"},
		},
		{"nothing", query.Query{Filter: query.Or()}, nil},
		{"by id", query.Query{Sort: asc("id")}, []string{"1", "2", "3", "4", "5"}},
		{"null first", query.Query{Sort: asc("population", "id")}, []string{"3", "4", "5", "1", "2"}},
		{"null last", query.Query{Sort: desc("population")}, []string{"1", "2", "5", "4", "3"}},
		{"stable", query.Query{Sort: asc("name")}, []string{"2", "1", "5", "4", "3"}},
		{
			"stable where descending",
			query.Query{Sort: []query.Order{{Field: "name", Desc: true}}},
			[]string{"4", "3", "5", "2", "1"},
		},
		{"limit with a sort", query.Query{Sort: asc("id"), Limit: 2}, []string{"1", "2"}},
		{"limit one", query.Query{Sort: desc("population"), Limit: 1}, []string{"1"}},
		{
			"after an item",
			query.Query{Sort: asc("name", "id"), After: []any{"Bonn", "1"}},
			[]string{"2", "5", "3", "4"},
		},
		{
			"after a position without an item",
			query.Query{Sort: asc("name", "id"), After: []any{"Bonn", "15"}},
			[]string{"2", "5", "3", "4"},
		},
		{
			"after, descending",
			query.Query{Sort: desc("population"), After: []any{330, "2"}},
			[]string{"5", "4", "3"},
		},
		{
			"after null",
			query.Query{Sort: asc("population", "id"), After: []any{nil, "3"}},
			[]string{"4", "5", "1", "2"},
		},
		{"after, to null", query.Query{Sort: desc("population"), After: []any{120, "4"}}, []string{"3"}},
		{"after the last", query.Query{Sort: asc("id"), After: []any{"5"}}, nil},
		{
			"after, with a limit",
			query.Query{Sort: asc("id"), After: []any{"1"}, Limit: 2},
			[]string{"2", "3"},
		},
		{"after with too few values", query.Query{Sort: asc("name", "id"), After: []any{"A"}}, nil},
		{"after with too many values", query.Query{Sort: asc("id"), After: []any{"1", "1"}}, nil},
		{"after without a sort", query.Query{After: []any{"1"}}, nil},
		{"token of another store", query.Query{Token: "x", Limit: 1}, []string{"4"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, ids(query.Select(tt.q, cities, cityField))); diff != "" {
				t.Errorf("Select (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSelectLeavesItemsAlone(t *testing.T) {
	t.Parallel()
	cities := []city{{ID: "2"}, {ID: "1"}}
	for _, q := range []query.Query{{}, {Sort: []query.Order{{Field: "id"}}}} {
		got := query.Select(q, cities, cityField)
		got[0].ID, got[1].ID = "x", "y"
		if diff := cmp.Diff([]city{{ID: "2"}, {ID: "1"}}, cities); diff != "" {
			t.Errorf("items after Select with sort %v (-want +got):\n%s", q.Sort, diff)
		}
	}
}

func TestSelectStopsAtTheLimit(t *testing.T) {
	t.Parallel()
	looked := 0
	query.Select(query.Query{Filter: query.Where("id", query.Ne, ""), Limit: 2}, make([]city, 100),
		func(*city, string) any { looked++; return "x" })
	if looked != 2 {
		t.Errorf("Select looked at %d items for 2", looked)
	}
}

// naive is a simple implementation of Select.
func naive(q query.Query, items []city) []city {
	var matching []city
	for _, c := range items {
		if query.Match(q.Filter, c.field) {
			matching = append(matching, c)
		}
	}
	position := func(c city) []any {
		var keys []any
		for _, o := range q.Sort {
			keys = append(keys, query.Canonical(c.field(o.Field)))
		}
		return keys
	}
	compare := func(a, b []any) int {
		for i, o := range q.Sort {
			if c := query.Compare(a[i], b[i]); c != 0 && o.Desc {
				return -c
			} else if c != 0 {
				return c
			}
		}
		return 0
	}
	slices.SortStableFunc(matching, func(a, b city) int { return compare(position(a), position(b)) })
	if q.After != nil {
		matching = slices.DeleteFunc(matching,
			func(c city) bool { return compare(position(c), q.After) <= 0 })
	}
	if q.Limit > 0 && len(matching) > q.Limit {
		matching = matching[:q.Limit]
	}
	return matching
}

func TestSelectAgreesWithANaiveOne(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 11))
	keys := []string{"name", "population", "id"}
	for round := range 2000 {
		items := randomCities(r)
		q := query.Query{Limit: r.IntN(12) - 1}
		for _, i := range r.Perm(len(keys))[:r.IntN(len(keys)+1)] {
			q.Sort = append(q.Sort, query.Order{Field: keys[i], Desc: r.IntN(2) == 0})
		}
		if r.IntN(2) == 0 {
			q.Filter = query.Not(query.Where("population", query.Lt, r.IntN(8)))
		}
		if len(items) > 0 && len(q.Sort) > 0 && r.IntN(2) == 0 {
			at := items[r.IntN(len(items))]
			for _, o := range q.Sort {
				q.After = append(q.After, query.Canonical(at.field(o.Field)))
			}
		}
		if diff := cmp.Diff(ids(naive(q, items)), ids(query.Select(q, items, cityField))); diff != "" {
			t.Fatalf("round %d, Select(%+v) (-want +got):\n%s", round, q, diff)
		}
	}
}

func randomCities(r *rand.Rand) []city {
	items := make([]city, r.IntN(60))
	for i := range items {
		items[i] = city{ID: fmt.Sprint(i), Name: string(rune('a' + r.IntN(4)))}
		if p := r.IntN(9); p > 0 {
			items[i].Population = &p
		}
	}
	return items
}

// TestSelectPageByPage: reading page by page returns each item once, in the order of one large
// page.
func TestSelectPageByPage(t *testing.T) {
	t.Parallel()
	items := randomCities(rand.New(rand.NewPCG(3, 3)))
	q := query.Query{Sort: []query.Order{{Field: "population", Desc: true}, {Field: "name"}, {Field: "id"}}}
	want := ids(query.Select(q, items, cityField))
	if len(want) != len(items) {
		t.Fatalf("%d of %d items", len(want), len(items))
	}
	var got []string
	q.Limit = 7
	for range len(items) {
		part := query.Select(q, items, cityField)
		got = append(got, ids(part)...)
		if len(part) < q.Limit {
			break
		}
		last := part[len(part)-1]
		q.After = []any{query.Canonical(last.Population), last.Name, last.ID}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
}

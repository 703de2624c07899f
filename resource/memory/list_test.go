package memory_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
)

// place has fields of many kinds and few values, so that there are long runs of equal ones.
type place struct {
	ID         string     `json:"id"`
	Country    string     `json:"country"`
	Kind       *string    `json:"kind"`
	Population int64      `json:"population"`
	Lat        float64    `json:"lat"`
	Capital    bool       `json:"capital"`
	Founded    *time.Time `json:"founded"`
}

func randomPlace(rng *rand.Rand) place {
	p := place{
		Country:    string(rune('A' + rng.IntN(5))),
		Population: int64(rng.IntN(50)) - 10,
		Lat:        float64(rng.IntN(8)) / 4,
		Capital:    rng.IntN(10) == 0,
	}
	if rng.IntN(3) > 0 {
		kind := []string{"city", "town", "townlet", ""}[rng.IntN(4)]
		p.Kind = &kind
	}
	if rng.IntN(2) == 0 {
		founded := time.Date(1000+rng.IntN(20), 1, 1, 0, 0, 0, 0, time.FixedZone("", 3600*rng.IntN(3)))
		p.Founded = &founded
	}
	return p
}

var placeFields = []string{"id", "country", "kind", "population", "lat", "capital", "founded"}

func field(it *resource.Item[place], name string) any { return query.FieldOf(&it.Value, name) }

// randomFilter compares fields with values that some item has.
func randomFilter(rng *rand.Rand, items []resource.Item[place], depth int) query.Filter {
	if depth > 0 && rng.IntN(2) == 0 {
		a, b := randomFilter(rng, items, depth-1), randomFilter(rng, items, depth-1)
		switch rng.IntN(4) {
		case 0:
			return query.Or(a, b)
		case 1:
			return query.Not(a)
		}
		return query.And(a, b)
	}
	name := placeFields[rng.IntN(len(placeFields))]
	value := func() any { return field(&items[rng.IntN(len(items))], name) }
	switch op := []query.Op{query.Eq, query.Eq, query.Ne, query.In, query.NotIn, query.Lt, query.Lte,
		query.Gt, query.Gte,
		query.Contains, query.StartsWith, query.IsNull, ""}[rng.IntN(13)]; op {
	case "":
		return query.Filter{}
	case query.IsNull:
		return query.Where(name, op, rng.IntN(2) == 0)
	case query.In, query.NotIn:
		return query.Where(name, op, []any{value(), value(), value()}[:rng.IntN(4)])
	default:
		return query.Where(name, op, value())
	}
}

func randomQuery(rng *rand.Rand, items []resource.Item[place]) query.Query {
	q := query.Query{Limit: []int{0, 1, 3, 10, 100}[rng.IntN(5)]}
	if rng.IntN(3) > 0 {
		q.Filter = randomFilter(rng, items, 2)
	}
	for _, i := range rng.Perm(len(placeFields))[:rng.IntN(3)] {
		if placeFields[i] != "id" {
			q.Sort = append(q.Sort, query.Order{Field: placeFields[i], Desc: rng.IntN(2) == 0})
		}
	}
	q.Sort = append(q.Sort, query.Order{Field: "id", Desc: rng.IntN(2) == 0})
	if rng.IntN(2) == 0 {
		at := &items[rng.IntN(len(items))]
		for _, o := range q.Sort {
			q.After = append(q.After, field(at, o.Field))
		}
	}
	return q
}

// TestListAgainstSelect compares random queries, while a store changes at random, with [query.Select] over a slice.
// The stores keep different fields in order, and so read in different ways.
func TestListAgainstSelect(t *testing.T) {
	t.Parallel()
	indexes := [][]string{nil, {"population"}, {"country", "kind"}, {"lat", "founded", "capital"},
		placeFields}
	for seed, index := range indexes {
		t.Run(strings.Join(index, ","), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(uint64(seed), 5))
			s := memory.New(&memory.Options[place]{Index: index})
			items := map[string]resource.Item[place]{}
			for round := range 8 {
				changeRandomly(t, s, items, rng, 100)
				all := sortedByID(items)
				for range 50 {
					q := randomQuery(rng, all)
					compareList(t, s, all, q)
					compareListBy(t, s, all, q, rng)
				}
				if t.Failed() {
					t.Fatalf("in round %d", round)
				}
			}
		})
	}
}

// changeRandomly does the same to the store and to items.
func changeRandomly(t *testing.T, s *memory.Store[place], items map[string]resource.Item[place],
	rng *rand.Rand, n int) {
	t.Helper()
	for range n {
		id := strconv.Itoa(rng.IntN(1_000))
		old, found := items[id]
		var err error
		var item resource.Item[place]
		switch {
		case !found:
			item, err = s.Insert(t.Context(), id, randomPlace(rng))
			if err == resource.ErrGone {
				continue
			}
		case rng.IntN(4) == 0:
			err = s.Delete(t.Context(), id, old.Rev)
		default:
			item, err = s.Replace(t.Context(), id, old.Rev, randomPlace(rng))
		}
		if err != nil {
			t.Fatalf("changing %s: %v", id, err)
		}
		items[id] = item
		if item.ID == "" {
			delete(items, id)
		}
	}
}

func sortedByID(items map[string]resource.Item[place]) []resource.Item[place] {
	var all []resource.Item[place]
	for _, item := range items {
		all = append(all, item)
	}
	slices.SortFunc(all, func(a, b resource.Item[place]) int { return strings.Compare(a.ID, b.ID) })
	return all
}

// versions returns the ids and revisions, which are cheaper to compare than the items.
func versions(items []resource.Item[place]) string {
	var b strings.Builder
	for _, item := range items {
		fmt.Fprintf(&b, "%s at %s\n", item.ID, item.Rev)
	}
	return b.String()
}

func compareList(t *testing.T, s *memory.Store[place], all []resource.Item[place], q query.Query) {
	t.Helper()
	got, err := collect(s.List(t.Context(), q))
	wantErr(t, fmt.Sprintf("List(%+v)", q), err, nil)
	if diff := cmp.Diff(versions(query.Select(q, all, field)), versions(got)); diff != "" {
		t.Errorf("List(%+v) (-want +got):\n%s", q, diff)
	}
	count, err := s.Count(t.Context(), query.Query{Filter: q.Filter})
	want := len(query.Select(query.Query{Filter: q.Filter}, all, field))
	if err != nil || count != want {
		t.Errorf("Count(%+v) is %d, %v, want %d", q.Filter, count, err, want)
	}
}

func compareListBy(t *testing.T, s *memory.Store[place], all []resource.Item[place], q query.Query,
	rng *rand.Rand) {
	t.Helper()
	q.After = nil
	name := []string{"country", "population", "capital", "id", "kind"}[rng.IntN(5)]
	keys := map[string][]string{"country": {"C", "A", "nowhere"}, "population": {"7", "5", "x", "7000"},
		"capital": {"true"}, "id": {"5", "17", "900"}, "kind": {"town", ""}}[name]
	got, err := collect(s.ListByKeys(t.Context(), name, keys, q))
	wantErr(t, fmt.Sprintf("ListBy(%s, %+v)", name, q), err, nil)
	var want []resource.Item[place]
	for _, key := range slices.Sorted(slices.Values(keys)) {
		var value any = key
		switch n, err := strconv.ParseInt(key, 10, 64); {
		case name == "population" && err != nil:
			continue
		case name == "population":
			value = n
		case name == "capital":
			value = true
		}
		ofKey := q
		ofKey.Filter = query.And(query.Where(name, query.Eq, value), q.Filter)
		want = append(want, query.Select(ofKey, all, field)...)
	}
	// The order between keys is free.
	byKey := func(a, b resource.Item[place]) int { return query.Compare(field(&a, name), field(&b, name)) }
	slices.SortStableFunc(want, byKey)
	slices.SortStableFunc(got, byKey)
	if diff := cmp.Diff(versions(want), versions(got)); diff != "" {
		t.Errorf("ListBy(%s, %v, %+v) (-want +got):\n%s", name, keys, q, diff)
	}
}

// TestListPages reads a store page by page and compares with one list.
func TestListPages(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 7))
	s := memory.New(&memory.Options[place]{Index: []string{"country", "population"}})
	changeRandomly(t, s, map[string]resource.Item[place]{}, rng, 2_000)
	for _, sort := range [][]query.Order{
		{{Field: "id", Desc: true}},
		{{Field: "country", Desc: true}, {Field: "id"}},
		{{Field: "population"}, {Field: "country"}, {Field: "id", Desc: true}},
		{{Field: "founded"}, {Field: "id"}},
	} {
		q := query.Query{Sort: sort}
		want := ids(t, s.List(t.Context(), q))
		var got []string
		for q.Limit = 7; ; {
			page, err := collect(s.List(t.Context(), q))
			wantErr(t, "List", err, nil)
			if len(page) == 0 {
				break
			}
			q.After = nil
			for _, item := range page {
				got = append(got, item.ID)
			}
			for _, o := range sort {
				q.After = append(q.After, field(&page[len(page)-1], o.Field))
			}
		}
		if diff := cmp.Diff(strings.Fields(want), got); diff != "" {
			t.Errorf("by %v, list and pages (-want +got):\n%s", sort, diff)
		}
	}
}

// TestListOddQueries are ones that the library does not ask, and others can.
func TestListOddQueries(t *testing.T) {
	t.Parallel()
	s := memory.New(&memory.Options[place]{Index: []string{"country"}})
	for i, country := range []string{"A", "B", "B", "A"} {
		_, err := s.Insert(t.Context(), strconv.Itoa(i), place{Country: country, Population: 5})
		wantErr(t, "Insert", err, nil)
	}
	tests := []struct {
		name string
		q    query.Query
		want string
	}{
		{"no sort", query.Query{}, "0 1 2 3"},
		{"after an id, no sort", query.Query{After: []any{"1"}}, "2 3"},
		{"negative limit", query.Query{Limit: -3}, "0 1 2 3"},
		{"keys after the id", query.Query{Sort: []query.Order{{Field: "id", Desc: true}, {Field: "lat"}}},
			"3 2 1 0"},
		{"without the id", query.Query{Sort: []query.Order{{Field: "country"}}}, "0 3 1 2"},
		{"after a value that is shared", query.Query{Sort: []query.Order{{Field: "country"}},
			After: []any{"A"}}, "1 2"},
		{"position too short", query.Query{Sort: []query.Order{{Field: "country"}, {Field: "id"}},
			After: []any{"A"}}, ""},
		{"position too long", query.Query{After: []any{"1", "2"}}, ""},
		{"position of another kind", query.Query{After: []any{int64(1)}}, "0 1 2 3"},
		{"by an unknown field", query.Query{Sort: []query.Order{{Field: "x"}, {Field: "id"}}}, "0 1 2 3"},
		{"filter of no meaning", query.Query{Filter: query.Filter{Op: "?", Field: "country"}}, ""},
		{"equal to a list", query.Query{Filter: query.Filter{Op: query.Eq, Field: "country",
			Value: []any{"A"}}}, ""},
		{"in no list", query.Query{Filter: query.Filter{Op: query.In, Field: "country", Value: "A"}}, ""},
		{"value not canonical",
			query.Query{Filter: query.Filter{Op: query.Eq, Field: "population", Value: 5}}, "0 1 2 3"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := ids(t, s.List(t.Context(), tt.q)); got != tt.want {
				t.Errorf("List is %q, want %q", got, tt.want)
			}
		})
	}
	if _, err := collect(s.ListByKeys(t.Context(), "x", []string{"1"}, query.Query{})); err == nil {
		t.Error("ListBy an unknown field gives no error")
	}
	for range s.ListByKeys(t.Context(), "country", []string{"A", "B"}, query.Query{}) {
		break // must end the iteration, or it panics
	}
	for range s.ListByKeys(t.Context(), "population", []string{"5", "6"}, query.Query{}) {
		break
	}
}

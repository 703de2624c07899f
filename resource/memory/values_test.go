package memory_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/memory"
)

// offer has a decimal, a duration and lists.
type offer struct {
	ID     string   `json:"id"`
	Price  string   `json:"price" format:"decimal"`
	Lasts  *string  `json:"lasts" format:"duration"`
	Tags   []string `json:"tags"`
	Scores *[]int   `json:"scores"`
}

func canonical[V any](parse func(string) (V, error), text string) V {
	v, err := parse(text)
	if err != nil {
		panic(err)
	}
	return v
}

// TestValues: decimals are ordered as numbers and durations by their length, with and without an
// index, and lists are filtered by an element.
func TestValues(t *testing.T) {
	t.Parallel()
	day, hours := "P1D", "PT23H"
	offers := []offer{
		{ID: "a", Price: "9.50", Lasts: &day, Tags: []string{"new", "red"}, Scores: &[]int{}},
		{ID: "b", Price: "10", Tags: nil},
		{ID: "c", Price: "-1", Lasts: &hours, Tags: []string{}, Scores: &[]int{7}},
	}
	price := canonical(query.ParseDecimal, "9.5")
	where := query.Where
	tests := []struct {
		name string
		q    query.Query
		want []string
	}{
		{"sort by decimal", query.Query{Sort: []query.Order{{Field: "price"}}}, []string{"c", "a", "b"}},
		{"after a decimal", query.Query{Sort: []query.Order{{Field: "price"}, {Field: "id"}}, After: []any{price, "a"}},
			[]string{"b"}},
		{"decimal in another spelling", query.Query{Filter: where("price", query.Eq, price)}, []string{"a"}},
		{"decimal and int", query.Query{Filter: where("price", query.Lt, 10)}, []string{"a", "c"}},
		{"sort by duration", query.Query{Sort: []query.Order{{Field: "lasts"}}}, []string{"b", "c", "a"}},
		{"duration in another spelling",
			query.Query{Filter: where("lasts", query.Gte, canonical(query.ParseDuration, "PT24H"))}, []string{"a"}},
		{"element", query.Query{Filter: where("tags", query.Contains, "red")}, []string{"a"}},
		{"int element", query.Query{Filter: where("scores", query.Contains, 7)}, []string{"c"}},
		{"no element", query.Query{Filter: query.Not(where("tags", query.Contains, "red"))}, []string{"b", "c"}},
		{"null list", query.Query{Filter: where("scores", query.IsNull, true)}, []string{"b"}},
		{"a nil list is empty", query.Query{Filter: where("tags", query.IsNull, true)}, nil},
	}
	for _, index := range [][]string{nil, {"price", "lasts"}} {
		store := memory.New(&memory.Options[offer]{Index: index})
		for _, o := range offers {
			if _, err := store.Insert(t.Context(), o.ID, o); err != nil {
				t.Fatal(err)
			}
		}
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				var got []string
				for it, err := range store.List(t.Context(), tt.q) {
					if err != nil {
						t.Fatal(err)
					}
					got = append(got, it.Value.ID)
				}
				if len(tt.q.Sort) == 0 {
					slices.Sort(got)
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("ids (-want +got):\n%s", diff)
				}
				// A store over a slice that reads fields without a schema has no decimals, but lists.
				if tt.q.Filter.Field != "tags" && tt.q.Filter.Field != "scores" {
					return
				}
				field := func(o *offer, name string) any { return query.FieldOf(o, name) }
				if selected := query.Select(tt.q, offers, field); len(selected) != len(tt.want) {
					t.Errorf("Select found %v", selected)
				}
			})
		}
	}
}

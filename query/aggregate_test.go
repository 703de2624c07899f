package query_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
)

func TestSummarize(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	rows := []item{
		{"status": "paid", "qty": 2, "total": decimal("0.1"), "weight": 0.5, "at": noon},
		{"status": "sent", "qty": nil, "total": nil, "weight": nil, "at": nil},
		{"status": "paid", "qty": 3, "total": decimal("0.20"), "weight": 1.25, "at": noon.Add(time.Hour)},
		{"status": nil, "qty": 3, "total": decimal("-7"), "weight": 2.0, "at": noon},
		{"status": "paid", "qty": 3, "total": decimal("0.1"), "weight": nil, "at": nil},
	}
	count := query.Aggregate{Func: query.Count}
	of := func(f query.Func, field string) query.Aggregate { return query.Aggregate{Func: f, Field: field} }
	all := func(field string) (all []query.Aggregate) {
		for _, f := range []query.Func{query.Distinct, query.Sum, query.Avg, query.Min, query.Max} {
			all = append(all, of(f, field))
		}
		return all
	}
	group := func(keys []any, values ...any) query.Group { return query.Group{Keys: keys, Values: values} }
	status := []string{"status"}
	paid := query.Where("status", query.Eq, "paid")
	tests := []struct {
		name string
		a    query.Aggregation
		want []query.Group
	}{
		{"count", query.Aggregation{Aggregates: []query.Aggregate{count}},
			[]query.Group{group([]any{}, int64(5))}},
		{"nothing", query.Aggregation{Filter: query.Or(), Aggregates: append(all("qty"), count)},
			[]query.Group{group([]any{}, int64(0), nil, nil, nil, nil, int64(0))}},
		{"nothing, grouped", query.Aggregation{Filter: query.Or(), Group: status}, nil},
		{"groups alone", query.Aggregation{Group: status},
			[]query.Group{{[]any{nil}, []any{}}, {[]any{"paid"}, []any{}}, {[]any{"sent"}, []any{}}}},
		{"integers", query.Aggregation{Group: status, Aggregates: all("qty")}, []query.Group{
			group([]any{nil}, int64(1), int64(3), decimal("3"), int64(3), int64(3)),
			group([]any{"paid"}, int64(2), int64(8), decimal("2.666666666667"), int64(2), int64(3)),
			group([]any{"sent"}, int64(0), nil, nil, nil, nil)}},
		{"decimals", query.Aggregation{Filter: paid, Aggregates: all("total")}, []query.Group{
			group([]any{}, int64(2), decimal("0.4"), decimal("0.133333333333"), decimal("0.1"), decimal("0.2"))}},
		{"floats", query.Aggregation{Aggregates: all("weight")}, []query.Group{
			group([]any{}, int64(3), 3.75, 1.25, 0.5, 2.0)}},
		{"times", query.Aggregation{Aggregates: []query.Aggregate{of(query.Min, "at"), of(query.Max, "at"),
			of(query.Distinct, "at")}},
			[]query.Group{group([]any{}, noon, noon.Add(time.Hour), int64(2))}},
		{"having", query.Aggregation{Group: status, Aggregates: []query.Aggregate{count},
			Having: query.Where("count", query.Gt, 1)}, []query.Group{group([]any{"paid"}, int64(3))}},
		{"having null", query.Aggregation{Group: status, Aggregates: []query.Aggregate{of(query.Sum, "qty")},
			Having: query.Where("sum.qty", query.IsNull, true)}, []query.Group{group([]any{"sent"}, nil)}},
		{"having without groups", query.Aggregation{Aggregates: []query.Aggregate{count},
			Having: query.Where("count", query.Gt, 9)}, nil},
		{"sort and limit", query.Aggregation{Group: status, Aggregates: []query.Aggregate{count},
			Sort: []query.Order{{Field: "count", Desc: true}}, Limit: 2},
			[]query.Group{group([]any{"paid"}, int64(3)), group([]any{nil}, int64(1))}},
		{"after", query.Aggregation{Group: status, Aggregates: []query.Aggregate{count},
			Sort: []query.Order{{Field: "count", Desc: true}}, After: []any{int64(1), nil}},
			[]query.Group{group([]any{"sent"}, int64(1))}},
		{"after the only group", query.Aggregation{Aggregates: []query.Aggregate{count}, After: []any{}}, nil},
		{"after with too few values", query.Aggregation{Group: status, After: []any{}}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := summarize(t, tt.a, rows)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Summarize (-want +got):\n%s", diff)
			}
		})
	}
}

// summarize returns the groups of the reference, which must succeed.
func summarize(t *testing.T, a query.Aggregation, items []item) []query.Group {
	t.Helper()
	groups, err := query.Summarize(a, items, func(i *item, name string) any { return i.field(name) })
	if err != nil {
		t.Fatal(err)
	}
	return groups
}

// Sums are exact beyond an int64, and equal numbers are one group in all spellings.
func TestSummarizeNumbers(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		values   []any
		sum, avg any
		groups   int
	}{
		{"beyond int64", []any{int64(math.MaxInt64), int64(math.MaxInt64), 1},
			decimal("18446744073709551615"), decimal("6148914691236517205"), 2},
		{"below int64", []any{int64(math.MinInt64), -1}, decimal("-9223372036854775809"),
			decimal("-4611686018427387904.5"), 2},
		{"back into the range", []any{int64(math.MaxInt64), 1, -1}, int64(math.MaxInt64),
			decimal("3074457345618258602.333333333333"), 3},
		{"uint64", []any{uint64(math.MaxUint64), -1}, decimal("18446744073709551614"),
			decimal("9223372036854775807"), 2},
		{"scales", []any{decimal("1e30"), decimal("1e-30"), decimal("1.0"), decimal("1")},
			decimal("1000000000000000000000000000002.000000000000000000000000000001"),
			decimal("250000000000000000000000000000.5"), 3},
		{"half away from zero", []any{decimal("-0.000000000001"), decimal("0")}, decimal("-0.000000000001"),
			decimal("-0.000000000001"), 2},
		{"below half", []any{decimal("0.000000000001"), 0, 0}, decimal("0.000000000001"), decimal("0"), 2},
		{"floats", []any{math.Copysign(0, -1), 0.0, float32(0.1)}, 0.1, 0.1 / 3, 2},
		{"decimal floats", []any{0.1, 0.2, 1e15, -1e15}, 0.3, 0.3 / 4, 4},
		{"large and small floats", []any{1e308, 1.5e-323, 1e308, -1e308, -1e308}, 1.5e-323, 5e-324, 3},
		{"floats of many digits", slices.Repeat([]any{0.12345678901234567}, 1000), 123.45678901234567,
			0.12345678901234567, 1},
		{"a negative float too small", []any{-5e-324, 0.0, 0.0}, -5e-324, 0.0, 2},
		{"floats out of range", []any{1e308, 1e308}, nil, nil, 1},
		{"texts", []any{"1", "2"}, nil, nil, 2},
	}
	sameBits := cmp.Comparer(func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) })
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			field := func(v *any, _ string) any { return *v }
			whole := query.Aggregation{Aggregates: []query.Aggregate{{query.Sum, "n"}, {query.Avg, "n"}}}
			want := []query.Group{{Keys: []any{}, Values: []any{tt.sum, tt.avg}}}
			got, err := query.Summarize(whole, tt.values, field)
			if diff := cmp.Diff(want, got, sameBits); diff != "" || err != nil {
				t.Errorf("Summarize returned the error %v, and (-want +got):\n%s", err, diff)
			}
			grouped := query.Aggregation{Group: []string{"n"}}
			if got, _ := query.Summarize(grouped, tt.values, field); len(got) != tt.groups {
				t.Errorf("Summarize found the groups %v, want %d", got, tt.groups)
			}
		})
	}
}

// The memory of a request is limited: groups, aggregates and different values are counted together, and
// long texts as several.
func TestSummaryLimit(t *testing.T) {
	t.Parallel()
	distinct := []query.Aggregate{{query.Distinct, "n"}}
	floats := []query.Aggregate{{query.Sum, "n"}, {query.Avg, "n"}, {query.Min, "n"}, {query.Max, "n"}}
	number := func(i int) any { return i }
	text := func(i int) any { return fmt.Sprintf("%0650d", i) }
	tests := []struct {
		name      string
		a         query.Aggregation
		item      func(i int) any
		items     int
		parameter string
	}{
		{"groups", query.Aggregation{Group: []string{"n"}}, number, query.MaxSummary + 1, "group"},
		{"aggregates", query.Aggregation{Group: []string{"n"}, Aggregates: floats}, number,
			query.MaxSummary/5 + 1, "group"},
		{"long groups", query.Aggregation{Group: []string{"n"}}, text, query.MaxSummary/11 + 1, "group"},
		{"different values", query.Aggregation{Aggregates: distinct}, number, query.MaxSummary - 1, "distinct"},
		{"long values", query.Aggregation{Aggregates: distinct}, text, query.MaxSummary/11 + 1, "distinct"},
		{"both", query.Aggregation{Group: []string{"n"}, Aggregates: distinct}, number,
			query.MaxSummary/3 + 1, "group"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := query.NewSummary(tt.a)
			for i := range tt.items {
				v := tt.item(i)
				value := func(string) any { return v }
				err := s.Add(value)
				if i < tt.items-1 {
					if again := s.Add(value); err != nil || again != nil {
						t.Fatalf("Add of item %d returned %v and %v", i, err, again)
					}
					continue
				}
				want := &query.Error{Parameter: tt.parameter, Code: "tooMany",
					Detail: "there are more than 100000 groups, aggregates and different values; use a more specific filter"}
				if diff := cmp.Diff(error(want), err); diff != "" {
					t.Errorf("Add of the last item (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// A canceled request does not compute the groups.
func TestGroupsStop(t *testing.T) {
	t.Parallel()
	s := query.NewSummary(query.Aggregation{Aggregates: []query.Aggregate{{Func: query.Count}}})
	ctx, cancel := context.WithCancel(t.Context())
	if groups, err := s.Groups(ctx); len(groups) != 1 || err != nil {
		t.Errorf("Groups returned %v and %v, want one group", groups, err)
	}
	cancel()
	if groups, err := s.Groups(ctx); groups != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("Groups of a canceled request returned %v and %v, want context.Canceled", groups, err)
	}
}

// naiveGroups is a simple implementation of Summarize, with rational numbers.
func naiveGroups(a query.Aggregation, items []item) []query.Group {
	var groups []query.Group
	var members [][]item
	for _, it := range items {
		if !query.Match(a.Filter, it.field) {
			continue
		}
		var keys []any
		for _, f := range a.Group {
			keys = append(keys, query.Canonical(it[f]))
		}
		at := slices.IndexFunc(groups, func(g query.Group) bool {
			return slices.EqualFunc(g.Keys, keys, func(a, b any) bool { return query.Compare(a, b) == 0 })
		})
		if at < 0 {
			at = len(groups)
			groups, members = append(groups, query.Group{Keys: keys}), append(members, nil)
		}
		members[at] = append(members[at], it)
	}
	for i := range groups {
		for _, v := range a.Aggregates {
			groups[i].Values = append(groups[i].Values, naiveValue(v, members[i]))
		}
	}
	return groups
}

// naiveValue computes an aggregate of integers.
func naiveValue(a query.Aggregate, items []item) any {
	if a.Func == query.Count {
		return int64(len(items))
	}
	var values []any
	sum, n := new(big.Rat), int64(0)
	for _, it := range items {
		if v := it[a.Field]; v != nil {
			values = append(values, query.Canonical(v))
			sum.Add(sum, new(big.Rat).SetInt64(int64(v.(int))))
			n++
		}
	}
	slices.SortFunc(values, query.Compare)
	switch {
	case a.Func == query.Distinct:
		return int64(len(slices.Compact(values)))
	case n == 0:
		return nil
	case a.Func == query.Min:
		return values[0]
	case a.Func == query.Max:
		return values[n-1]
	case a.Func == query.Sum:
		return sum.Num().Int64()
	}
	return decimal(sum.Quo(sum, new(big.Rat).SetInt64(n)).FloatString(query.AvgDigits)) // half away from zero
}

func TestSummarizeAgreesWithANaiveOne(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 5))
	maybe := func(n int) any {
		if v := r.IntN(n + 1); v > 0 {
			return v - n/2
		}
		return nil
	}
	var aggregates []query.Aggregate
	for _, f := range query.Funcs() {
		aggregates = append(aggregates, query.Aggregate{Func: f, Field: "n"})
	}
	aggregates[0].Field = ""
	for range 1000 {
		var items []item
		for range r.IntN(30) {
			items = append(items, item{"a": maybe(3), "b": fmt.Sprint(maybe(2)), "n": maybe(7)})
		}
		a := query.Aggregation{Group: [][]string{{"a"}, {"b", "a"}, {"n"}}[r.IntN(3)], Aggregates: aggregates,
			Filter: query.Where("n", query.Ne, maybe(7))}
		groups := naiveGroups(a, items)
		// Paging over the groups is paging over a list of them.
		keys := append(slices.Clone(a.Group), "count", "distinct.n", "sum.n", "avg.n", "min.n", "max.n")
		for _, i := range r.Perm(len(keys))[:r.IntN(3)] {
			a.Sort = append(a.Sort, query.Order{Field: keys[i], Desc: r.IntN(2) == 0})
		}
		a.Limit = r.IntN(5)
		if r.IntN(2) == 0 {
			a.Having = query.Where(keys[len(a.Group)+r.IntN(6)], query.Gte, maybe(5))
		}
		q := query.Query{Filter: a.Having, Sort: a.TotalOrder(), Limit: a.Limit}
		if len(groups) > 0 && r.IntN(2) == 0 {
			at := groups[r.IntN(len(groups))]
			for _, o := range q.Sort {
				a.After = append(a.After, a.ValueOf(at, o.Field))
			}
			q.After = a.After
		}
		want := query.Select(q, groups, func(g *query.Group, name string) any { return a.ValueOf(*g, name) })
		got := summarize(t, a, items)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("Summarize of %+v over %v (-want +got):\n%s", a, items, diff)
		}
	}
}

func TestMeanOf(t *testing.T) {
	t.Parallel()
	tests := []struct {
		sum   any
		count int64
		want  any
	}{
		{int64(8), 3, decimal("2.666666666667")},
		{int64(-8), 3, decimal("-2.666666666667")},
		{uint64(math.MaxUint64), 1, decimal("18446744073709551615")},
		{decimal("0.4"), 3, decimal("0.133333333333")},
		{int64(0), 0, nil},
		{nil, 1, nil},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, query.MeanOf(tt.sum, tt.count)); diff != "" {
			t.Errorf("MeanOf(%v, %d) (-want +got):\n%s", tt.sum, tt.count, diff)
		}
	}
}

func TestUses(t *testing.T) {
	t.Parallel()
	a := query.Aggregation{Having: query.Not(query.Where("count", query.Gt, 1)),
		Sort: []query.Order{{Field: "status"}}}
	for name, want := range map[string]bool{"count": true, "status": true, "sum.total": false} {
		if got := a.Uses(name); got != want {
			t.Errorf("Uses(%q) = %v, want %v", name, got, want)
		}
	}
}

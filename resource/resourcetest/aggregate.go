package resourcetest

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/schema"
)

// aggregateCases test Aggregator.
func aggregateCases() []testCase {
	const truth = "Aggregate returns what query.Summarize returns for the items that List returns. "
	return []testCase{
		{
			name:  "aggregate-groups",
			needs: aggregates,
			contract: truth + "null is a group of its own, and aggregates other than count ignore it. " +
				"Without Group there is one group, even if it has no items: its counts are 0 and its " +
				"other values null.",
			run: aggregateGroups,
		},
		{
			name:  "aggregate-exact",
			needs: aggregates,
			contract: truth + "Sums of integers and decimals are exact and never overflow, and means are " +
				"rounded to query.AvgDigits digits, half away from zero. (SQL: sum and avg of bigint are " +
				"numeric in PostgreSQL; in SQLite they overflow.)",
			run: aggregateExact,
		},
		{
			name:  "aggregate-pages",
			needs: aggregates,
			contract: truth + "Having is evaluated by query.Match before Limit. The order is that of " +
				"query.Compare, with null first, and After has one value for each key of Sort. The pages " +
				"of any size together are the whole result.",
			run: aggregatePages,
		},
	}
}

// aggregate returns the groups of an aggregation, which must succeed.
func (k *kit) aggregate(a query.Aggregation) (groups []query.Group) {
	err := drainTo(k, k.ops.Aggregate(k.ctx, a), "Aggregate", func(g query.Group) {
		if len(g.Keys) != len(a.Group) || len(g.Values) != len(a.Aggregates) {
			k.fatalf("Aggregate %s returned a group with %d keys and %d values, want %d and %d",
				showGroups(a), len(g.Keys), len(g.Values), len(a.Group), len(a.Aggregates))
		}
		groups = append(groups, g)
	})
	k.must(err, "Aggregate "+showGroups(a))
	return groups
}

// summarize returns the groups that the reference finds in items.
func (k *kit) summarize(a query.Aggregation, items []resource.Item[any]) []query.Group {
	groups, err := query.Summarize(a, items, k.fieldOf)
	k.must(err, "Summarize "+showGroups(a))
	return groups
}

// randomAggregation returns an aggregation of declared fields. inexact permits sums of floating-point
// numbers, which depend on the order of the items.
func (k *kit) randomAggregation(inexact bool) query.Aggregation {
	var a query.Aggregation
	for _, i := range k.rng.Perm(len(k.Support.Group)) {
		if len(a.Group) < 3 && k.rng.IntN(3) > 0 {
			a.Group = append(a.Group, k.Support.Group[i])
		}
	}
	possible := []query.Aggregate{{Func: query.Count}}
	for _, field := range slices.Sorted(maps.Keys(k.Support.Aggregate)) {
		for _, f := range k.Support.Aggregate[field] {
			if v := (query.Aggregate{Func: f, Field: field}); inexact || !k.isInexact(v) {
				possible = append(possible, v)
			}
		}
	}
	for _, i := range k.rng.Perm(len(possible)) {
		if len(a.Aggregates) < 5 {
			a.Aggregates = append(a.Aggregates, possible[i])
		}
	}
	a.Sort = a.TotalOrder()
	return a
}

// isInexact reports whether an aggregate is a sum of floating-point numbers.
func (k *kit) isInexact(a query.Aggregate) bool {
	return (a.Func == query.Sum || a.Func == query.Avg) && k.typ.Field(a.Field).Type.Kind == schema.Number
}

// aggregateGroups compares groups with and without a filter, and those of nothing.
func aggregateGroups(k *kit) {
	if k.able.has(filler) {
		k.checkGroups(k.randomAggregation(true), nil)
		nothing := query.Aggregation{Aggregates: []query.Aggregate{{Func: query.Count}}}
		for _, field := range slices.Sorted(maps.Keys(k.Support.Aggregate)) {
			for _, f := range k.Support.Aggregate[field] {
				nothing.Aggregates = append(nothing.Aggregates, query.Aggregate{Func: f, Field: field})
			}
		}
		k.checkGroups(nothing, nil)
	}
	items := k.fill(max(30, k.Items/4), clustered)
	var s samples
	if k.able.has(filterer) {
		s = k.collectSamples(k.withOthers(items))
	}
	for range max(40, k.Items/2) {
		a := k.randomAggregation(true)
		if s != nil && k.rng.IntN(2) == 0 {
			a.Filter = k.boundedTree(s, 2)
		}
		if !k.checkGroups(a, items) {
			return
		}
	}
}

// aggregateExact adds the limits of every type.
func aggregateExact(k *kit) {
	items := append(k.fill(7, clustered), k.fill(max(12, k.Items/16), extreme)...)
	if !k.able.has(filler) {
		items = k.all()
	}
	for range 30 {
		if !k.checkGroups(k.randomAggregation(false), items) {
			return
		}
	}
}

// aggregatePages reads the groups in pages of random sizes, in random orders.
func aggregatePages(k *kit) {
	items := k.fill(max(40, k.Items/4), clustered)
	for range max(30, k.Items/4) {
		a := k.randomAggregation(false)
		names := slices.Clone(a.Group)
		for _, v := range a.Aggregates {
			names = append(names, v.Name())
		}
		a.Sort = nil
		for _, i := range k.rng.Perm(len(names))[:k.rng.IntN(min(len(names), 4)+1)] {
			a.Sort = append(a.Sort, query.Order{Field: names[i], Desc: k.rng.IntN(2) == 0})
		}
		a.Sort = a.TotalOrder()
		a.Having = k.randomHaving(a, k.summarize(a, items))
		want := k.summarize(a, items)
		var got []query.Group
		page := a
		for {
			page.Limit = 1 + k.rng.IntN(5)
			groups := k.aggregate(page)
			if len(groups) > page.Limit {
				k.fatalf("Aggregate %s returned %d groups, want at most Limit", showGroups(page), len(groups))
			}
			got = append(got, groups...)
			if len(groups) < page.Limit || len(got) > len(want) {
				break
			}
			page.After = make([]any, len(a.Sort))
			for i, o := range a.Sort {
				page.After[i] = a.ValueOf(groups[len(groups)-1], o.Field)
			}
		}
		if !k.sameGroups(a, want, got, "the pages of Aggregate ") {
			return
		}
	}
}

// randomHaving returns a condition on aggregates, with operands near their values.
func (k *kit) randomHaving(a query.Aggregation, groups []query.Group) query.Filter {
	if len(groups) == 0 || len(a.Aggregates) == 0 || k.rng.IntN(3) == 0 {
		return query.Filter{}
	}
	term := func() query.Filter {
		v := a.Aggregates[k.rng.IntN(len(a.Aggregates))]
		value := func() any { return a.ValueOf(groups[k.rng.IntN(len(groups))], v.Name()) }
		operand := value()
		switch op := []query.Op{query.Eq, query.Ne, query.Lt, query.Lte, query.Gt, query.Gte, query.In,
			query.NotIn, query.IsNull}[k.rng.IntN(9)]; {
		case op == query.IsNull || operand == nil:
			return query.Where(v.Name(), query.IsNull, k.rng.IntN(2) == 0)
		case op == query.In || op == query.NotIn:
			list := []any{operand}
			if other := value(); other != nil {
				list = append(list, other)
			}
			return query.Filter{Op: op, Field: v.Name(), Value: list}
		default:
			return query.Where(v.Name(), op, operand)
		}
	}
	switch k.rng.IntN(4) {
	case 0:
		return query.Or(term(), term())
	case 1:
		return query.Not(query.And(term(), term()))
	}
	return term()
}

// checkGroups compares the groups of the store with those of the reference.
func (k *kit) checkGroups(a query.Aggregation, items []resource.Item[any]) bool {
	return k.sameGroups(a, k.summarize(a, items), k.aggregate(a), "Aggregate ")
}

// sameGroups reports the first group that differs.
func (k *kit) sameGroups(a query.Aggregation, want, got []query.Group, where string) bool {
	for i := range max(len(want), len(got)) {
		switch {
		case i >= len(got):
			k.errorf("%s%s returned %d groups, want %d: %s is missing", where, showGroups(a), len(got),
				len(want), showGroup(want[i]))
		case i >= len(want):
			k.errorf("%s%s returned %d groups, want %d: %s is not one", where, showGroups(a), len(got),
				len(want), showGroup(got[i]))
		case !k.sameGroup(a, want[i], got[i]):
			k.errorf("%s%s: group %d is %s, want %s", where, showGroups(a), i, showGroup(got[i]),
				showGroup(want[i]))
		default:
			continue
		}
		return false
	}
	return true
}

// sameGroup reports whether two groups are equal. The sum and the mean of floating-point numbers may
// differ in their last digits.
func (k *kit) sameGroup(a query.Aggregation, want, got query.Group) bool {
	same := func(a, b any) bool {
		b = query.Canonical(b)
		return query.Compare(a, b) == 0 && reflect.TypeOf(a) == reflect.TypeOf(b) &&
			fmt.Sprint(a) == fmt.Sprint(b)
	}
	for i, v := range a.Aggregates {
		x, isFloat := want.Values[i].(float64)
		y, areFloats := query.Canonical(got.Values[i]).(float64)
		near := isFloat && areFloats && k.isInexact(v) && math.Abs(x-y) <= 1e-9*max(1, math.Abs(x))
		if !near && !same(want.Values[i], got.Values[i]) {
			return false
		}
	}
	return slices.EqualFunc(want.Keys, got.Keys, same)
}

// showGroup formats a group for a message.
func showGroup(g query.Group) string { return showValue(g.Keys) + ": " + showValue(g.Values) }

// showGroups formats an aggregation for a message.
func showGroups(a query.Aggregation) string {
	names := make([]string, len(a.Aggregates))
	for i, v := range a.Aggregates {
		names[i] = v.Name()
	}
	text := "(by [" + strings.Join(a.Group, " ") + "]: " + strings.Join(names, " ") + ")"
	if !a.Having.IsZero() {
		text += " having " + showFilter(a.Having)
	}
	if !a.Search.IsZero() {
		text += " of " + a.Search.String()
	}
	return text + " " + show(query.Query{Filter: a.Filter, Sort: a.Sort, Limit: a.Limit, After: a.After})
}

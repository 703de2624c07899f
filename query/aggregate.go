package query

// Aggregates: counts, sums and other values of groups of items. aggregate_support.go checks them,
// aggregate_parse.go reads them from a URL, and aggregate_summary.go computes them.

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Func is an aggregate function, named as in URLs.
type Func string

// The aggregate functions. All but Count have a field, and ignore items in which it is null. If it
// is null in all items, Distinct is 0 and the others are null.
const (
	Count    Func = "count"    // the number of items, an int64
	Distinct Func = "distinct" // the number of different values, an int64
	// Sum is the sum of numbers. That of decimals and integers is exact: the sum of integers is an
	// int64, or a [Decimal] if it is out of range. The sum of float64 is the float64 nearest to the
	// sum of their shortest decimal texts, which JSON has. It is null if it is out of range.
	//
	// A store may instead add float64 values one by one, in any order. Its sum can lose digits that
	// are small beside a partial sum, and is null if a partial sum is out of range. Pages in the
	// order of these sums can miss a group if the store adds in a different order for each page.
	Sum Func = "sum"
	// Avg is the mean of numbers, as a [Decimal] of up to [AvgDigits] digits after the point, rounded
	// half away from zero. The mean of float64 is the Sum as a float64, divided by the number.
	Avg Func = "avg"
	Min Func = "min" // the first value in the order of [Compare]
	Max Func = "max" // the last value
)

// AvgDigits is the number of digits after the point to which [Avg] is rounded.
const AvgDigits = 12

// Funcs returns the functions in the order in which results list them.
func Funcs() []Func { return []Func{Count, Distinct, Sum, Avg, Min, Max} }

// Aggregate is a value of a group: a function and the field that it is computed of.
type Aggregate struct {
	Func  Func
	Field string // the JSON name of the field; empty for Count
}

// Name returns the name of the aggregate in Sort and Having, such as count or sum.total.
func (a Aggregate) Name() string {
	if a.Field == "" {
		return string(a.Func)
	}
	return string(a.Func) + "." + a.Field
}

// Aggregation groups the items of a collection and computes aggregates of each group.
type Aggregation struct {
	// Filter selects the items; the zero Filter selects all.
	Filter Filter
	// Search selects items in addition to Filter, as in [Query].
	Search Search
	// Group lists the fields by which items are grouped. null is a group of its own. Without fields
	// there is exactly one group, even if it has no items. The path customer.country is a field of the
	// related item, as in [Order].
	Group []string
	// Joined states where the values of the paths in Group are, by path. It is nil if there are none.
	// Package resource sets it for the store.
	Joined map[string]*JoinedField
	// Aggregates are the values of each group. It may be empty if Group is not.
	Aggregates []Aggregate
	// Having selects groups. Its fields are names of Aggregates; a condition on a field of Group
	// belongs in Filter.
	Having Filter
	// Sort is the order of the groups. Its keys are fields of Group and names of Aggregates. The
	// library makes the other fields of Group the last keys, so that the order is total.
	Sort []Order
	// Limit is the maximum number of groups; zero or less means no limit.
	Limit int
	// After is the position after which the result starts: one value per key of TotalOrder, from the
	// last group before it. Nil starts at the beginning.
	After []any
}

// Group is a group of items.
type Group struct {
	Keys   []any // the values of Aggregation.Group
	Values []any // those of Aggregation.Aggregates
}

// TotalOrder returns Sort with the fields of Group that it lacks as the last keys.
func (a Aggregation) TotalOrder() []Order {
	order := slices.Clone(a.Sort)
	for _, field := range a.Group {
		if !slices.ContainsFunc(order, func(o Order) bool { return o.Field == field }) {
			order = append(order, Order{Field: field})
		}
	}
	return order
}

// ValueOf returns the value of a group by its name in Sort, or nil if there is none.
func (a Aggregation) ValueOf(g Group, name string) any {
	if i := slices.Index(a.Group, name); i >= 0 {
		return g.Keys[i]
	}
	if i := a.indexOf(name); i >= 0 {
		return g.Values[i]
	}
	return nil
}

// Uses reports whether Having or Sort contains a name, for stores that cannot compare all aggregates.
func (a Aggregation) Uses(name string) bool {
	for term := range a.Having.terms() {
		if term.Field == name {
			return true
		}
	}
	return slices.ContainsFunc(a.Sort, func(o Order) bool { return o.Field == name })
}

// indexOf returns the index of the aggregate with this name, or -1.
func (a Aggregation) indexOf(name string) int {
	return slices.IndexFunc(a.Aggregates, func(v Aggregate) bool { return v.Name() == name })
}

// Values returns a as URL parameters. If a is the result of [ParseAggregation], parsing them with
// the same options returns an equal Aggregation. After is omitted, as in [Query.Values].
func (a Aggregation) Values() url.Values {
	v := Query{Filter: a.Filter, Search: a.Search, Sort: a.Sort}.Values()
	if len(a.Group) > 0 {
		v.Set("group", strings.Join(a.Group, ","))
	}
	for _, f := range Funcs() {
		var fields []string
		for _, value := range a.Aggregates {
			if value.Func == f {
				fields = append(fields, value.Field)
			}
		}
		if fields != nil {
			v.Set(string(f), strings.Join(fields, ","))
		}
	}
	if !a.Having.IsZero() {
		v.Set("having", string(appendTree(nil, a.Having)))
	}
	if a.Limit > 0 {
		v.Set("limit", strconv.Itoa(a.Limit))
	}
	return v
}

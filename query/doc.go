// Package query describes lists of a collection: filters, sort orders, limits and positions.
//
// A [Filter] is a tree of comparisons, an [Order] is one sort key, and a [Query] combines them with
// a limit and a position. [Support] declares which queries a store can answer. A store receives
// only queries that it supports; other requests are rejected before the store is called.
//
//	q := query.Query{
//		Filter: query.And(
//			query.Where("status", query.Eq, "paid"),
//			query.Where("total", query.Gte, int64(100)),
//		),
//		Sort:   []query.Order{{Field: "total", Desc: true}, {Field: "id"}},
//		Limit:  20,
//	}
//	// A complete store over a slice:
//	page := query.Select(q, orders, func(o *Order, field string) any { ... })
//
// The same query as URL parameters, read by [Parse] and written by [Query.Values]:
//
//	?status=paid&total.gte=100&sort=-total&limit=20
//
// An [Aggregation] groups the items of a collection and computes counts, sums and other values of each
// group. [ParseAggregation] reads it from URL parameters, and [Summarize] evaluates it over a slice:
//
//	?group=status&count&sum=total&having={"count":{"gte":3}}&sort=-sum.total
//
// # Search
//
// A [Search] selects items by the words of their texts. [ParseSearch] has the syntax of clients, and
// [Search.Match] is the reference implementation.
//
// # Values
//
// A value in a Filter or a position is nil, bool, string, int64, uint64 (only above the largest
// int64), float64, [Decimal], [Duration] or [time.Time]. In and NotIn have a []any of these. All
// values of a field have the same kind, and the four types of numbers are one kind.
//
// A field may also be a list of these, as a []any. Two operators apply to lists: Contains, with an
// operand that an element equals, and IsNull. Lists have no order, and positions have none.
//
// # Order and comparisons
//
// All stores use the same rules. In ascending order null sorts first, strings sort by code point,
// false sorts before true, numbers sort by exact value, times as instants, and durations by their
// length. Each comparison is either true or false. For a null field Eq, In, Lt, Lte, Gt, Gte,
// Contains and StartsWith are false; Ne and NotIn, as the negations of Eq and In, are true. [Match]
// is the reference implementation.
//
// Package query depends on no store, no schema and no HTTP except net/url. The folder also contains
// package graphql, which depends on package resource.
package query

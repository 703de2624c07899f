// Package query is the language in which a collection is asked for many items.
//
// Its nouns are a [Filter], a tree of comparisons; an [Order], one sort key; a [Query], both together with a limit and
// a position; and [Support], what a store is able to answer. A store receives a Query it has declared itself able to
// answer, and nothing else; whoever asks for more is told so before the store is reached:
//
//	q := query.Query{
//		Filter: query.And(query.Where("status", query.Eq, "paid"), query.Where("total", query.Gte, int64(100))),
//		Sort:   []query.Order{{Field: "total", Desc: true}, {Field: "id"}},
//		Limit:  20,
//	}
//	page := query.Select(q, orders, func(o *Order, field string) any { ... }) // a store over a slice, complete
//
// The same question in a URL, read by [Parse] and written by [Query.Values]:
//
//	?status=paid&total.gte=100&sort=-total&limit=20
//
// # Values
//
// A value in a Filter or a Position is one of nil, bool, string, int64, uint64 (only above the largest int64), float64
// and [time.Time]. In and NotIn hold a []any of these. Kinds are never mixed within one field.
//
// # Order of values and truth
//
// Two rules make every store answer alike. Nothing (null) sorts before everything else, ascending; strings compare by
// code point; false sorts before true; times compare as instants. And every comparison is either true or false: against
// a null, Eq, In, Lt, Lte, Gt, Gte, Contains and StartsWith are false, while Ne and NotIn, being the negations of Eq and
// In, are true. [Match] is the reference.
//
// This package is a leaf: it knows no store, no schema and no HTTP beyond net/url. Its folder also holds
// graphql, which is above package resource.
package query

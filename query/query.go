package query

// Query selects items of a collection. The zero Query selects all items in any order. Queries of
// the library always end their sort with the id, except for stores with Support.Natural.
type Query struct {
	// Filter selects the items; the zero Filter selects all.
	Filter Filter
	// Sort is the order. The library makes the id the last key, so that the order is total. For a
	// store with Support.Natural it is empty.
	Sort []Order
	// Limit is the maximum number of items; zero or less means no limit.
	Limit int
	// After is the position after which the result starts: one value per key of Sort, from the last
	// item before it. Nil starts at the beginning.
	After []any
	// Token is the position in a store of natural order: the Next of an earlier item. Empty starts
	// at the beginning. It is always empty for other stores.
	Token string
	// Fields lists the fields that are needed, by JSON name; nil means all. It is a hint: a store
	// may return more.
	Fields []string
}

// Order is one sort key.
type Order struct {
	Field string // the JSON name of the field
	Desc  bool   // largest first, null last
}

// Op is a comparison operator, named as in URLs and GraphQL.
type Op string

// The comparison operators. Filter.Op has one of these, or one of the connectives AndOp, OrOp and
// NotOp.
const (
	Eq         Op = "eq"
	Ne         Op = "ne"
	In         Op = "in"
	NotIn      Op = "notIn"
	Lt         Op = "lt"
	Lte        Op = "lte"
	Gt         Op = "gt"
	Gte        Op = "gte"
	Contains   Op = "contains"   // strings only, case-sensitive
	StartsWith Op = "startsWith" // strings only, case-sensitive
	IsNull     Op = "isNull"     // the operand is a bool
)

// Support declares which queries a store can answer. Other queries are rejected before the store is
// called. The zero Support is a store that lists by id, from a position, up to a limit.
type Support struct {
	// Filter lists the supported operators of each field, by JSON name.
	Filter map[string][]Op
	// Sort lists the fields by which the store can sort. The id is always supported, unless Natural
	// is set.
	Sort []string
	// Natural means that the store lists in its own order and continues from its own tokens
	// (resource.Item.Next). Sort must then be empty.
	Natural bool
}

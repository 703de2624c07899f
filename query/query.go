package query

// Query asks a collection for items. The zero Query asks for everything, in whatever order the store likes; the library
// always asks for one that ends with the id.
type Query struct {
	// Filter says which items; the zero Filter is all of them.
	Filter Filter
	// Sort says in which order. The library makes the last key the id field, so that the order is total, except for a
	// store that declares Support.Natural, where Sort is empty.
	Sort []Order
	// Limit is the largest number of items wanted; zero or less means all.
	Limit int
	// After is the position to start behind: one value for each key of Sort, as the last item before it had them.
	// Nil starts at the beginning.
	After []any
	// Token is where to go on in a store of natural order: the Next of an item given out before. Empty starts at the
	// beginning, and it is always empty for other stores.
	Token string
	// Fields are the fields that will be looked at, by JSON name; nil means all. It is a hint: a store may give more.
	Fields []string
}

// Order is one sort key.
type Order struct {
	Field string // the JSON name of the field
	Desc  bool   // largest first, and null last
}

// Op is a comparison, named as in a URL and in GraphQL.
type Op string

// The comparisons. Filter.Op holds one of these, or one of the connectives AndOp, OrOp and NotOp.
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
	IsNull     Op = "isNull"     // the value is a bool
)

// Support declares what a store can answer. What it does not declare is refused before the store is asked. The zero
// Support is a store that lists by id, from a position, up to a limit.
type Support struct {
	// Filter gives for each field, by JSON name, the comparisons the store evaluates.
	Filter map[string][]Op
	// Sort names the fields by which the store can order. The id is always understood, except where Natural.
	Sort []string
	// Natural says that the store lists in an order of its own and goes on from tokens of its own
	// (resource.Item.Next). Then Sort must be empty.
	Natural bool
}

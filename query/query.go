package query

// Query selects items of a collection. The zero Query selects all items in any order. Queries of
// the library always end their sort with the id, except for stores with Support.Natural.
type Query struct {
	// Filter selects the items; the zero Filter selects all.
	Filter Filter
	// Search selects items by the words of their texts, in addition to Filter. It is zero for stores
	// without Support.Search.
	Search Search
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
	// Links is set for resource.BatchLister and resource.BatchCounter alone, if the keys are those of links
	// that lead to the items. Otherwise it is nil.
	Links *Links
}

// Order is one sort key.
type Order struct {
	// Field is the JSON name of the field, Rank, or the path of a field of the related item: the name of a
	// relation to one item, a dot and the name of the field, as in customer.name.
	Field string
	Desc  bool // largest first, null last
	// Joined states where the value of a path is. It is nil for other keys. Package resource sets it for
	// the store.
	Joined *JoinedField
}

// JoinedField is a field of a related item as a sort key, or as a field by which items are grouped. The
// value is null for an item without a related one that Filter selects.
type JoinedField struct {
	Join   *Join  // no two related items have the same key
	Field  string // the JSON name of the field
	Filter Filter // the related items that the caller may see
}

// Op is a comparison operator, named as in URLs and GraphQL.
type Op string

// The comparison operators. Filter.Op has one of these, one of the connectives AndOp, OrOp and NotOp,
// or SomeOp.
const (
	Eq         Op = "eq"
	Ne         Op = "ne"
	In         Op = "in"
	NotIn      Op = "notIn"
	Lt         Op = "lt"
	Lte        Op = "lte"
	Gt         Op = "gt"
	Gte        Op = "gte"
	Contains   Op = "contains"   // a part of a string, case-sensitive, or an element of a list
	StartsWith Op = "startsWith" // strings only, case-sensitive
	IsNull     Op = "isNull"     // the operand is a bool
)

// Support declares which queries a store can answer. Other queries are rejected before the store is
// called. The zero Support is a store that lists by id, from a position, up to a limit.
type Support struct {
	// Filter lists the supported operators of each field, by JSON name.
	Filter map[string][]Op
	// Sort lists the fields by which the store can sort. The id is always supported, unless Natural
	// is set. The path customer.name is the field name of the related item, through the relation customer
	// to one item. The collection must be a resource.Joiner, and the related items must be sortable by the
	// field.
	Sort []string
	// Group lists the fields by which items can be grouped, and Aggregate the functions that can be
	// computed of each field. If one of them is set, items can be counted, too. See [Aggregation]. Group
	// can have the path customer.country, as Sort can: the related items must be groupable by the field.
	Group     []string
	Aggregate map[string][]Func
	// Relations lists the relations through which a list can be filtered, such as customer for
	// customer.role=admin. The fields and operators are those that the resource of the related items
	// declares. Package resource asks the store, if it is a resource.Joiner, or else reads the keys of
	// the related items first.
	Relations []string
	// Search lists the fields that a search covers, by JSON name, the most important first. Empty means
	// that there is no search.
	Search []string
	// Natural means that the store lists in its own order and continues from its own tokens
	// (resource.Item.Next). Sort must then be empty.
	Natural bool
}

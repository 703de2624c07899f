package query

// Filters through relations: conditions on the items that an item is related to. parse_relation.go
// reads them from URLs, and values.go writes them.

import (
	"iter"
	"slices"
)

// SomeOp is the Op of a filter through a relation; see [Some].
const SomeOp Op = "some"

// maxRelations limits the relations in one path, as in customer.company.name=X.
const maxRelations = 3

// Some returns the filter for items with at least one related item that matches f. A relation to one
// item uses it as well. The zero Filter matches each related item, so Some("customer", Filter{})
// selects items that have a customer.
//
// No item matches f: Not(Some(relation, f)). Each item matches f: Not(Some(relation, Not(f))), which
// is true if there are no related items.
//
// Field has the name of the relation, and Filters has f alone, with the fields of the related items.
// In a query for a store, Value is a *[Join]; otherwise it is nil.
func Some(relation string, f Filter) Filter {
	return Filter{Op: SomeOp, Field: relation, Filters: []Filter{f}}
}

// Related yields the items that an item is related to, each as a function that returns its fields, as
// for [Match]. Match gets it as the value of the name of a relation. nil yields none.
type Related = iter.Seq[func(field string) any]

// Join states how a store finds the items that an item of its own is related to: those in which the
// fields By have the values of the fields Field of the item. null equals nothing. Package resource
// sets it for a store that has declared that it can read Target, see resource.Joiner.
type Join struct {
	Field  []string // JSON names of fields of the items that are selected
	By     []string // JSON names of fields of the related items, as many as Field
	Target any      // the collection of the related items: its resource.Joiner
	// Key is the JSON name of the field of the links that holds the key (resource.Relation.By). It is empty
	// if the related items are not [Links].
	Key string
}

// Links are items of another collection that each lead from a key to an item, as the rows of a link table.
type Links struct {
	Join   *Join  // from the id of an item to the links that lead to it
	Filter Filter // the links that count
	Unique bool   // no two links lead from the same key to the same item
}

// Target describes the items that a relation leads to, for [Parse].
type Target struct {
	// Many reports that an item can have several related items. In URLs some, none or every then follows
	// the name of the relation, as in lines.some.itemId=7; without Many it can be customer.role=admin.
	Many bool
	// Support, Value, IsList and Relation are those of [ParseOptions], for the related items.
	Support  Support
	Value    func(field, text string) (any, error)
	IsList   func(field string) bool
	Relation func(name string) *Target
}

// Quantifiers of relations, in URLs and in the parameter filter.
const (
	some  = "some"  // at least one related item matches
	none  = "none"  // no related item matches
	every = "every" // all related items match
)

var quantifiers = []string{some, none, every}

// quantify returns the filter that a quantifier denotes. The conditions of f are ordered as those of
// a list, so that equal filters are equal.
func quantify(relation, quantifier string, f Filter) Filter {
	if f = inOrder(f); quantifier == every {
		f = inOrder(Not(f))
	}
	if f = Some(relation, f); quantifier == some {
		return f
	}
	return Not(f)
}

// quantified is the inverse of quantify. ok is false if f is no filter through a relation.
func quantified(f Filter) (relation, quantifier string, operand Filter, ok bool) {
	quantifier = some
	if f.Op == NotOp && len(f.Filters) == 1 {
		f, quantifier = f.Filters[0], none
	}
	if f.Op != SomeOp || f.Value != nil || len(f.Filters) != 1 {
		return "", "", Filter{}, false
	}
	operand = f.Filters[0]
	if quantifier == none && operand.Op == NotOp {
		quantifier, operand = every, And(operand.Filters...)
	}
	return f.Field, quantifier, operand, true
}

// inOrder returns f with the conditions of an And in the order of compareTerms.
func inOrder(f Filter) Filter {
	if f.Op == AndOp {
		f.Filters = slices.Clone(f.Filters)
		slices.SortStableFunc(f.Filters, compareTerms)
	}
	return f
}

// relatedEvaluatesTo evaluates a filter through a relation. It is false if the operand is certainly
// false for all related items.
func relatedEvaluatesTo(f Filter, want bool, value func(field string) any) bool {
	items, ok := value(f.Field).(Related)
	if !ok || len(f.Filters) != 1 {
		return false
	}
	if items == nil {
		return !want
	}
	for item := range items {
		if evaluatesTo(f.Filters[0], want, item) == want {
			return want
		}
	}
	return !want
}

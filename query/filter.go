package query

// The tree of a filter. condition.go builds it from a URL, and stores evaluate or translate it.

import (
	"iter"
	"slices"
)

// The connectives of filters, as values of Filter.Op.
const (
	AndOp Op = "and" // all of Filters; true if there are none
	OrOp  Op = "or"  // at least one of Filters; false if there are none
	NotOp Op = "not" // negates the single element of Filters
)

// Filter selects items: a comparison, a connective of other filters, or a condition on related items.
// The zero Filter selects all items.
//
// Use [Where], [And], [Or], [Not] and [Some] to create filters, and switch on Op to read them.
// Functions of this package do not modify filters.
type Filter struct {
	Op      Op       // a comparison, AndOp, OrOp, NotOp or SomeOp
	Field   string   // the JSON name of the field of a comparison, or the name of the relation
	Value   any      // the operand of a comparison: a []any for In and NotIn, a bool for IsNull
	Filters []Filter // the operands of a connective; for SomeOp the filter of the related items
}

// Where returns a comparison of a field with a value. The value is made canonical; for In and NotIn
// a slice of scalars becomes a []any. So Where("total", Gte, 100) and Where("id", In, []string{"a",
// "b"}) are valid.
func Where(field string, op Op, value any) Filter {
	if op == In || op == NotIn {
		return Filter{Op: op, Field: field, Value: canonicalList(value)}
	}
	return Filter{Op: op, Field: field, Value: Canonical(value)}
}

// And returns the conjunction of fs. Zero filters are dropped and nested Ands are merged, so And()
// is the zero Filter and And(f) is f.
func And(fs ...Filter) Filter {
	if f, ok := onlyComparison(fs); ok { // a common case: a list with one condition
		return f
	}
	all := flatten(nil, AndOp, fs)
	switch len(all) {
	case 0:
		return Filter{}
	case 1:
		return all[0]
	}
	return Filter{Op: AndOp, Filters: all}
}

// Or returns the disjunction of fs. Or() matches nothing; it has OrOp and no Filters. If one of fs
// is the zero Filter, Or returns the zero Filter.
func Or(fs ...Filter) Filter {
	if slices.ContainsFunc(fs, isEverything) {
		return Filter{}
	}
	some := flatten(nil, OrOp, fs)
	if len(some) == 1 {
		return some[0]
	}
	return Filter{Op: OrOp, Filters: some}
}

// Not returns the negation of f. Each comparison is true or false, also for null, so Not(Not(f)) is
// f. Not(Filter{}) is Or(), which matches nothing.
func Not(f Filter) Filter {
	switch {
	case isEverything(f):
		return Or()
	case f.Op == OrOp && len(f.Filters) == 0:
		return Filter{}
	case f.Op == NotOp:
		return And(f.Filters...)
	}
	return Filter{Op: NotOp, Filters: []Filter{f}}
}

// IsZero reports whether f is the zero Filter, which matches all items.
func (f Filter) IsZero() bool {
	return f.Op == "" && f.Field == "" && f.Value == nil && len(f.Filters) == 0
}

// Terms returns the number of comparisons in f. Each SomeOp counts as one, and so do the comparisons
// of its related items.
func (f Filter) Terms() int {
	n := 0
	for term := range f.terms() {
		n++
		for _, sub := range term.Filters {
			n += sub.Terms()
		}
	}
	return n
}

// Fields yields the names of the fields in f, each once, in the order of their first use. Relations and
// the fields of related items are not among them.
func (f Filter) Fields() iter.Seq[string] {
	return func(yield func(string) bool) {
		seen := make(map[string]bool)
		for term := range f.terms() {
			if term.Op == SomeOp || seen[term.Field] {
				continue
			}
			seen[term.Field] = true
			if !yield(term.Field) {
				return
			}
		}
	}
}

// Map returns a copy of f with each comparison replaced by the result of fn, which may be any
// filter. A condition on related items, with SomeOp, is passed to fn as a whole. Map returns the first
// error of fn. The zero Filter has no comparisons and is returned unchanged.
func (f Filter) Map(fn func(Filter) (Filter, error)) (Filter, error) {
	if f.IsZero() {
		return f, nil
	}
	if !f.isConnective() {
		return fn(f)
	}
	mapped := make([]Filter, len(f.Filters))
	for i, sub := range f.Filters {
		m, err := sub.Map(fn)
		if err != nil {
			return Filter{}, err
		}
		mapped[i] = m
	}
	// Use the constructors, because results of fn may need to be merged or dropped.
	switch f.Op {
	case AndOp:
		return And(mapped...), nil
	case OrOp:
		return Or(mapped...), nil
	default:
		return Not(And(mapped...)), nil
	}
}

// terms yields the comparisons of f and its conditions on related items from left to right.
func (f Filter) terms() iter.Seq[Filter] {
	return func(yield func(Filter) bool) { f.walk(yield) }
}

// walk implements terms recursively. It returns false if yield did.
func (f Filter) walk(yield func(Filter) bool) bool {
	if f.IsZero() {
		return true
	}
	if !f.isConnective() {
		return yield(f)
	}
	for _, sub := range f.Filters {
		if !sub.walk(yield) {
			return false
		}
	}
	return true
}

func (f Filter) isConnective() bool { return f.Op == AndOp || f.Op == OrOp || f.Op == NotOp }

// isEverything reports whether f matches all items. An And without operands exists only in
// hand-written filters.
func isEverything(f Filter) bool { return f.IsZero() || f.Op == AndOp && len(f.Filters) == 0 }

// onlyComparison returns the only element of fs that is not everything, if there is one and it is a
// comparison.
func onlyComparison(fs []Filter) (only Filter, ok bool) {
	for _, f := range fs {
		switch {
		case isEverything(f):
		case ok || len(f.Filters) > 0:
			return Filter{}, false
		default:
			only, ok = f, true
		}
	}
	return only, ok
}

// flatten appends fs to dst. It replaces filters with the connective op by their operands and drops
// those that match everything. The result does not share memory with fs.
func flatten(dst []Filter, op Op, fs []Filter) []Filter {
	for _, f := range fs {
		switch {
		case f.Op == op:
			dst = flatten(dst, op, f.Filters)
		case !isEverything(f):
			dst = append(dst, f)
		}
	}
	return dst
}

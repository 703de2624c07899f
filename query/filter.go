package query

import (
	"iter"
	"slices"
)

// The connectives, which Filter.Op holds where a Filter is made of others.
const (
	AndOp Op = "and" // all of Filters; with none, everything
	OrOp  Op = "or"  // at least one of Filters; with none, nothing
	NotOp Op = "not" // not all of Filters, of which there is one
)

// Filter says which items are wanted: a comparison, or a connective of other filters. The zero Filter is all items.
//
// [Where], [And], [Or] and [Not] make filters; whoever reads one switches on Op. A Filter is a value: nothing in this
// package changes one in place.
type Filter struct {
	Op      Op       // a comparison, or AndOp, OrOp or NotOp
	Field   string   // of a comparison: the JSON name of the field
	Value   any      // of a comparison: what the field is compared with; a []any for In and NotIn, a bool for IsNull
	Filters []Filter // of a connective
}

// Where compares a field with a value. The value is made canonical, and for In and NotIn a slice of any scalars
// becomes a []any, so Where("total", Gte, 100) and Where("id", In, []string{"a", "b"}) say what they seem to say.
func Where(field string, op Op, value any) Filter {
	if op == In || op == NotIn {
		return Filter{Op: op, Field: field, Value: canonicalList(value)}
	}
	return Filter{Op: op, Field: field, Value: Canonical(value)}
}

// And is all of fs. Zero filters among them are dropped and nested Ands become one, so And() is the zero Filter and
// And(f) is f.
func And(fs ...Filter) Filter {
	if f, ok := alone(fs); ok { // as in every list that is narrowed down to one key, and that is often
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

// Or is at least one of fs. Or() matches nothing, being a choice without alternatives: it is the Filter with OrOp and
// no Filters. Or with a zero Filter among fs matches everything and is the zero Filter.
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

// Not is what f is not. Since every comparison is true or false, also against null, Not(Not(f)) is f, and
// Not(Filter{}) is Or(), which matches nothing.
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

// IsZero tells whether f is the zero Filter, which matches everything.
func (f Filter) IsZero() bool {
	return f.Op == "" && f.Field == "" && f.Value == nil && len(f.Filters) == 0
}

// Terms counts the comparisons in f.
func (f Filter) Terms() int {
	n := 0
	for range f.terms() {
		n++
	}
	return n
}

// Fields yields the names of the fields that f looks at, each once, in the order in which they come.
func (f Filter) Fields() iter.Seq[string] {
	return func(yield func(string) bool) {
		seen := make(map[string]bool)
		for term := range f.terms() {
			if seen[term.Field] {
				continue
			}
			seen[term.Field] = true
			if !yield(term.Field) {
				return
			}
		}
	}
}

// Map gives a copy of f in which every comparison is replaced by what fn makes of it: the same with another field
// name, with another value, or a different filter altogether. The first error of fn ends it. The zero Filter has no
// comparison and stays as it is.
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
	// The constructors, since fn may have made something that does not stay below this connective.
	switch f.Op {
	case AndOp:
		return And(mapped...), nil
	case OrOp:
		return Or(mapped...), nil
	default:
		return Not(And(mapped...)), nil
	}
}

// terms yields the comparisons of f from left to right.
func (f Filter) terms() iter.Seq[Filter] {
	return func(yield func(Filter) bool) { f.walk(yield) }
}

// walk is terms without its closure, to recurse by; it returns whether to go on.
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

// isEverything also knows the And of nothing, which only a hand-written Filter can be.
func isEverything(f Filter) bool { return f.IsZero() || f.Op == AndOp && len(f.Filters) == 0 }

// alone returns the only one of fs that says something, if there is one and it is a comparison.
func alone(fs []Filter) (only Filter, ok bool) {
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

// flatten appends fs to dst, replacing filters of the connective op by their parts and leaving out those that say
// nothing. It always builds a slice of its own, as the parts may belong to somebody else.
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

package query

import (
	"slices"
	"strings"
)

// Match tells whether an item is among those f asks for. Value gives the item's fields by JSON name, nil for null; any
// scalar will do, as [Canonical] is applied. Match is the reference for what each comparison means: a store that
// evaluates filters elsewhere must agree with it.
//
// A comparison of different kinds is like one against null: neither equal nor in any order. What cannot be read as a
// filter at all, such as an unknown Op, matches nothing, and neither does its negation: a mistake in a filter that
// restricts what somebody may see must not show more.
func Match(f Filter, value func(field string) any) bool {
	return comesTo(f, true, value)
}

// comesTo tells whether f is certain to come to want. Asking for either outcome, instead of negating an answer, is
// what keeps an unreadable comparison from matching below a Not.
func comesTo(f Filter, want bool, value func(field string) any) bool {
	switch {
	case f.Op == NotOp:
		return connectiveComesTo(AndOp, f.Filters, !want, value)
	case f.Op == AndOp || f.Op == OrOp:
		return connectiveComesTo(f.Op, f.Filters, want, value)
	case f.IsZero():
		return want
	}
	got, readable := compareField(f, value(f.Field))
	return readable && got == want
}

// connectiveComesTo relies on De Morgan: an And is true, and an Or is false, if all parts are; otherwise one part is
// enough.
func connectiveComesTo(op Op, fs []Filter, want bool, value func(field string) any) bool {
	if want == (op == AndOp) {
		for _, f := range fs {
			if !comesTo(f, want, value) {
				return false
			}
		}
		return true
	}
	for _, f := range fs {
		if comesTo(f, want, value) {
			return true
		}
	}
	return false
}

// compareField evaluates the comparison f on the value v of its field, and tells whether f is one.
func compareField(f Filter, v any) (got, readable bool) {
	switch f.Op {
	case Eq:
		return equal(v, f.Value), true
	case Ne:
		return !equal(v, f.Value), true
	case In, NotIn:
		list, ok := f.Value.([]any)
		found := slices.ContainsFunc(list, func(e any) bool { return equal(v, e) })
		return found == (f.Op == In), ok
	case Lt, Lte, Gt, Gte:
		return ordered(f.Op, v, f.Value), true
	case Contains, StartsWith:
		return textMatches(f.Op, v, f.Value), true
	case IsNull:
		null, ok := f.Value.(bool)
		return (scalar(v) == nil) == null, ok
	}
	return false, false
}

// equal is false for two nulls as well: null is the absence of a value, not one that others could have too.
func equal(a, b any) bool {
	a, b = scalar(a), scalar(b)
	return a != nil && Compare(a, b) == 0
}

// ordered evaluates Lt, Lte, Gt and Gte. Compare would put null and other kinds somewhere; here they are nowhere.
func ordered(op Op, a, b any) bool {
	a, b = scalar(a), scalar(b)
	if a == nil || kindOf(a) != kindOf(b) {
		return false
	}
	c := Compare(a, b)
	switch op {
	case Lt:
		return c < 0
	case Lte:
		return c <= 0
	case Gt:
		return c > 0
	default:
		return c >= 0
	}
}

// textMatches knows no wildcards and no case folding; both differ between databases.
func textMatches(op Op, v, part any) bool {
	text, ok := scalar(v).(string)
	if !ok {
		return false
	}
	want, ok := scalar(part).(string)
	if !ok {
		return false
	}
	if op == Contains {
		return strings.Contains(text, want)
	}
	return strings.HasPrefix(text, want)
}

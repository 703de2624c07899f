package query

import (
	"slices"
	"strings"
)

// Match reports whether an item matches f. value returns a field of the item by JSON name, or nil
// for null; any scalar or list is accepted, because [Canonical] is applied. For the name of a relation
// it returns a [Related]. Match is the reference for the meaning of filters; all stores must agree
// with it.
//
// A comparison of different kinds is evaluated as one with null: it is neither equal nor ordered. A
// filter that is not valid, for example with an unknown Op or with Eq for a list, matches nothing, and
// neither does its negation. So an invalid filter never extends what a caller may see.
func Match(f Filter, value func(field string) any) bool {
	return evaluatesTo(f, true, value)
}

// Excludes reports whether f certainly does not match an item of which only some fields are known.
// known is false for a field with an unknown value, which may or may not match. Excludes(Not(f), ...)
// reports whether f certainly matches.
func Excludes(f Filter, value func(field string) (v any, known bool)) bool {
	return evaluatesTo(f, false, func(field string) any {
		if v, known := value(field); known {
			return v
		}
		return unknownValue{}
	})
}

// unknownValue is the value of a field that is not known.
type unknownValue struct{}

// evaluatesTo reports whether f certainly evaluates to want. Evaluating for both outcomes, instead
// of negating a result, keeps an invalid comparison below a Not from matching.
func evaluatesTo(f Filter, want bool, value func(field string) any) bool {
	switch {
	case f.Op == NotOp:
		return connectiveEvaluatesTo(AndOp, f.Filters, !want, value)
	case f.Op == AndOp || f.Op == OrOp:
		return connectiveEvaluatesTo(f.Op, f.Filters, want, value)
	case f.Op == SomeOp:
		return relatedEvaluatesTo(f, want, value)
	case f.IsZero():
		return want
	}
	got, readable := compareField(f, value(f.Field))
	return readable && got == want
}

// connectiveEvaluatesTo applies De Morgan's laws: an And is true, and an Or is false, if all
// operands are; otherwise one operand decides.
func connectiveEvaluatesTo(op Op, fs []Filter, want bool, value func(field string) any) bool {
	if want == (op == AndOp) {
		for _, f := range fs {
			if !evaluatesTo(f, want, value) {
				return false
			}
		}
		return true
	}
	for _, f := range fs {
		if evaluatesTo(f, want, value) {
			return true
		}
	}
	return false
}

// compareField evaluates the comparison f for a field value v. readable is false if f is not valid or
// v is unknown. Of a list only Contains and IsNull are valid.
func compareField(f Filter, v any) (got, readable bool) {
	if v == (unknownValue{}) {
		return false, false
	}
	if list, ok := scalar(v).([]any); ok && f.Op != IsNull {
		return hasElement(list, f.Value), f.Op == Contains
	}
	switch f.Op {
	case Eq:
		return equates(v, f.Value), true
	case Ne:
		return !equates(v, f.Value), true
	case In, NotIn:
		list, ok := f.Value.([]any)
		return hasElement(list, v) == (f.Op == In), ok
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

// equates is false for two nulls, because null is the absence of a value, and for lists.
func equates(a, b any) bool {
	a, b = scalar(a), scalar(b)
	return kindOf(a) != nullKind && Compare(a, b) == 0
}

// hasElement reports whether an element of the list equals v.
func hasElement(list []any, v any) bool {
	return slices.ContainsFunc(list, func(e any) bool { return equates(v, e) })
}

// ordered evaluates Lt, Lte, Gt and Gte. They are false for null and for values of different kinds,
// which Compare does order.
func ordered(op Op, a, b any) bool {
	a, b = scalar(a), scalar(b)
	if kindOf(a) == nullKind || kindOf(a) != kindOf(b) {
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

// textMatches supports no wildcards and no case folding, because databases differ in both.
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

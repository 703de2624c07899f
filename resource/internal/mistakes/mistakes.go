// Package mistakes finds the mistakes of a program at registration, and reports all of them at
// once. Packages resource, blob, command and resourcetest call it.
package mistakes

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/schema"
)

// Panic panics with all mistakes, if there are any. place, such as "resource: orders", precedes
// them.
func Panic(place string, found []string) {
	switch len(found) {
	case 0:
	case 1:
		panic(place + ": " + found[0])
	default:
		panic(fmt.Sprintf("%s: %d mistakes:\n\t%s", place, len(found), strings.Join(found, "\n\t")))
	}
}

// Nil reports whether v is nil, or an interface that holds a nil pointer or a nil function. Other
// nil values may be useful: a nil slice is an empty collection.
func Nil(v any) bool {
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.Invalid:
		return true
	case reflect.Pointer, reflect.Func:
		return r.IsNil()
	}
	return false
}

// TypeOf returns the schema of T and its mistakes. A pointer type is one: the values that the
// library handles are pointers to T.
func TypeOf[T any]() (*schema.Type, []string) {
	t := reflect.TypeFor[T]()
	if t.Kind() == reflect.Pointer {
		return nil, []string{fmt.Sprintf("the type %v is a pointer; use %v", t, t.Elem())}
	}
	if _, err := schema.Of(t); err != nil {
		text := strings.TrimPrefix(err.Error(), "schema: ")
		if _, lines, several := strings.Cut(text, "mistakes:\n\t"); several {
			text = lines
		}
		return nil, strings.Split(text, "\n\t")
	}
	return schema.For[T](), nil // knows how to copy values, unlike Of
}

// OfSupport returns the mistakes of the queries that a store declares for items of a type: names
// that are no fields, and operators that do not exist or that the type of the field does not have.
// option is the name of s, such as Options.Query.
func OfSupport(option string, s query.Support, typ *schema.Type) (found []string) {
	if s.Natural && len(s.Sort) > 0 {
		found = append(found, option+" has both Natural and Sort; set one of them")
	}
	found = append(found, ofSearch(option, s, typ)...)
	for _, field := range slices.Sorted(maps.Keys(s.Filter)) {
		f, mistake := fieldOf(option+".Filter", field, typ)
		if mistake != "" {
			found = append(found, mistake)
			continue
		}
		found = append(found, ofOperators(option, f, s.Filter[field])...)
	}
	found = append(found, ofAggregates(option, s, typ)...)
	for _, field := range s.Sort {
		f, mistake := fieldOf(option+".Sort", field, typ)
		if mistake == "" && !f.Comparable() {
			mistake = fmt.Sprintf("%s.Sort names %q, which is a list and has no order", option, field)
		}
		if mistake != "" {
			found = append(found, mistake)
		}
	}
	return found
}

// ofSearch returns the mistakes of the searched fields.
func ofSearch(option string, s query.Support, typ *schema.Type) (found []string) {
	if s.Natural && len(s.Search) > 0 {
		found = append(found, option+" has both Natural and Search; set one of them")
	}
	for i, field := range s.Search {
		f, mistake := fieldOf(option+".Search", field, typ)
		switch {
		case mistake != "":
		case describe(f) != "string" || f.ComparableElem() || f.Key != nil:
			mistake = fmt.Sprintf("%s.Search names %q, which is not a text", option, field)
		case slices.Contains(s.Search[:i], field):
			mistake = fmt.Sprintf("%s.Search names %q twice", option, field)
		}
		if mistake != "" {
			found = append(found, mistake)
		}
	}
	return found
}

// fieldOf returns the field with a name, or why lists cannot be filtered or sorted by it.
func fieldOf(list, name string, typ *schema.Type) (f *schema.Field, mistake string) {
	f = typ.Field(name)
	switch {
	case f == nil:
		goName := slices.IndexFunc(typ.Fields, func(f *schema.Field) bool { return f.GoName == name })
		if goName >= 0 {
			return nil, fmt.Sprintf("%s names %q, which is a Go name; use the JSON name %q",
				list, name, typ.Fields[goName].Name)
		}
		return nil, fmt.Sprintf("%s names %q, which is not the JSON name of a field of %s",
			list, name, cmp.Or(typ.Name, typ.GoType.String()))
	case !f.Comparable() && !f.ComparableElem():
		return nil, fmt.Sprintf("%s names %q, which is neither a single value nor a list of them", list, name)
	case f.WriteOnly:
		return nil, fmt.Sprintf("%s names %q, which is writeOnly; "+
			"filters and sort orders would reveal it", list, name)
	}
	return f, ""
}

// valueOperators apply to each single value, textOperators to strings as well, listOperators to lists.
var (
	valueOperators = []query.Op{query.Eq, query.Ne, query.In, query.NotIn, query.Lt, query.Lte, query.Gt,
		query.Gte, query.IsNull}
	textOperators = []query.Op{query.Contains, query.StartsWith}
	listOperators = []query.Op{query.Contains, query.IsNull}

	stringOperators = slices.Concat(valueOperators, textOperators)
)

// operatorsOf returns the operators that apply to a field.
func operatorsOf(f *schema.Field) []query.Op {
	switch {
	case f.Key != nil:
		return valueOperators[:4] // those of equality
	case f.ComparableElem():
		return listOperators
	case describe(f) == "string":
		return stringOperators
	}
	return valueOperators
}

// ofOperators returns the mistakes of the operators of one field.
func ofOperators(option string, f *schema.Field, ops []query.Op) (found []string) {
	allowed := operatorsOf(f)
	for i, op := range ops {
		place := fmt.Sprintf("%s.Filter[%q] has the operator %q", option, f.Name, op)
		switch {
		case slices.Contains(ops[:i], op):
			found = append(found, place+" twice; remove one")
		case slices.Contains(allowed, op):
		case f.Key != nil:
			found = append(found, fmt.Sprintf("%s, which does not apply to a composite id; use %s",
				place, suggest(op, allowed)))
		case f.ComparableElem() && slices.Contains(stringOperators, op):
			found = append(found, place+", which does not apply to lists; use query.Contains or query.IsNull")
		case slices.Contains(textOperators, op):
			found = append(found, fmt.Sprintf("%s, which applies to strings, and the field is a %s; "+
				"remove it", place, describe(f)))
		default:
			found = append(found, fmt.Sprintf("%s, which does not exist; use %s",
				place, suggest(op, allowed)))
		}
	}
	return found
}

// describe returns what a field with one value is compared as.
func describe(f *schema.Field) string {
	switch {
	case f.Type.Format != "": // date-time
		return f.Type.Format
	case f.IsDecimal(), f.IsDuration():
		return f.Format
	}
	return f.Type.Kind.String()
}

// suggest returns the constant that an unknown operator probably means, or all of those allowed.
func suggest(op query.Op, allowed []query.Op) string {
	others := map[query.Op]query.Op{
		"=": query.Eq, "==": query.Eq, "!=": query.Ne, "<>": query.Ne, "neq": query.Ne, "<": query.Lt,
		"<=": query.Lte, "le": query.Lte, ">": query.Gt, ">=": query.Gte, "ge": query.Gte,
		"like": query.Contains, "prefix": query.StartsWith, "nin": query.NotIn, "null": query.IsNull,
	}
	meant, ok := others[op]
	for _, a := range allowed {
		if strings.EqualFold(string(a), string(op)) {
			meant, ok = a, true
		}
	}
	if ok && slices.Contains(allowed, meant) {
		return constant(meant)
	}
	names := make([]string, len(allowed))
	for i, op := range allowed {
		names[i] = constant(op)
	}
	return "one of " + strings.Join(names, ", ")
}

// constant returns the name of the constant of an operator in package query.
func constant(op query.Op) string { return "query." + strings.ToUpper(string(op[:1])) + string(op[1:]) }

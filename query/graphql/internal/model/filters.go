package model

// Filters and sort keys of a resource, from its Options.Query. Called by roots.go for lists and by
// watch.go for subscriptions. Package fetch converts the arguments to a query.Query.

import (
	"slices"
	"strconv"
	"strings"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/schema"
)

// operators returns the comparison operators in the order of the schema. sharedFilter relies on the
// order: the first 4 apply to booleans, the first 8 to all ordered values, the first 10 to strings,
// and isNull is last.
func operators() []query.Op {
	return []query.Op{query.Eq, query.Ne, query.In, query.NotIn, query.Lt, query.Lte, query.Gt, query.Gte,
		query.Contains, query.StartsWith, query.IsNull}
}

// connectives returns the names of the filter fields that combine filters. They are fields of each
// filter type, next to those of the members.
func connectives() []string {
	return []string{string(query.AndOp), string(query.OrOp), string(query.NotOp)}
}

// filter returns the filter type of a resource, or nil if it has no filters. Lists and
// subscriptions share it. The map has a nil entry for a resource without filters. define must run
// only once, because it reports a second type of the same name, and before the inputs are added, because
// relations lead back to the type.
func (b *builder) filter(r *resource.Resource) *Type {
	t, known := b.filters[r]
	if known {
		return t
	}
	b.filters[r] = nil
	if !b.hasFilters(r) {
		return nil
	}
	t = b.define(InputObject, b.names[r]+"Filter", ofResource(r, "the filter"))
	b.filters[r] = t
	b.fillFilter(t, r)
	return t
}

// hasFilters reports whether a member of a resource can be a filter.
func (b *builder) hasFilters(r *resource.Resource) bool {
	support := r.Describe().Query
	return slices.ContainsFunc(b.membersOf(r.Type(), "resource "+r.Name()), func(m member) bool {
		return len(support.Filter[m.Name]) > 0 && !slices.Contains(connectives(), m.name)
	})
}

// fillFilter adds the inputs of the filter type of a resource.
func (b *builder) fillFilter(t *Type, r *resource.Resource) {
	support, name := r.Describe().Query, b.names[r]
	var inputs []*Input
	for _, m := range b.membersOf(r.Type(), "resource "+r.Name()) {
		ops := support.Filter[m.Name]
		if len(ops) == 0 {
			continue
		}
		// A member named and, or or not would be ambiguous in the filter type.
		if slices.Contains(connectives(), m.name) {
			b.fail("resource %s: the member %q cannot be a filter, because %s combines filters; give it "+
				"another JSON name, or take "+
				"it out of Options.Query.Filter", r.Name(), m.Name, m.name)
			continue
		}
		s := position{m.Field, m.name, name, m.Name == r.Describe().ID}
		inputs = append(inputs, &Input{Name: m.name, Doc: m.Doc, Deprecated: m.Deprecated, Member: m.Field,
			Type: refTo(b.comparisons(r, s, ops))})
	}
	inputs = append(inputs, b.relationFilters(r)...)
	// The connectives are added after the members, because they refer to the type itself.
	t.Doc, t.Resource = "A filter for items of `"+r.Name()+"`. All conditions must be true.", r
	t.Inputs = append(inputs,
		&Input{Name: "and", Doc: "All of these filters match. An empty list matches all items.",
			Type: listOfNullable(t)},
		&Input{Name: "or", Doc: "At least one of these filters matches. An empty list matches no item.",
			Type: listOfNullable(t)},
		&Input{Name: "not", Doc: "The filter must not match.", Type: refTo(t)})
}

// searchArg returns the argument for a search, if the resource declares one.
func (b *builder) searchArg(r *resource.Resource) []*Input {
	var names []string
	for _, m := range b.membersOf(r.Type(), "resource "+r.Name()) {
		if slices.Contains(r.Describe().Query.Search, m.Name) {
			names = append(names, "`"+m.name+"`")
		}
	}
	if names == nil {
		return nil
	}
	return []*Input{{Name: "search", Type: refTo(b.scalar("String")),
		Doc: "A text search in " + strings.Join(names, ", ") + ", in any case: words, \"adjacent words\", " +
			"begin*, -excluded, and OR between alternatives. Without `orderBy` the best match is first."}}
}

// listOfNullable returns a nullable list of non-null items.
func listOfNullable(t *Type) *Ref { return listOf(t, false) }

// comparisons returns the input type with the operators of a member. Members of the same scalar
// with all of its operators share a type. Other members have a type of their own. A shared type
// keeps the schema small and lets clients reuse code for all filters of a scalar.
func (b *builder) comparisons(r *resource.Resource, s position, ops []query.Op) *Type {
	t := s.f.Type
	if s.f.ComparableElem() {
		t = t.Elem
	}
	leaf := b.leaf(t, s)
	// The order of the declaration is lost, so that equal sets share a type.
	ops = slices.DeleteFunc(operators(), func(op query.Op) bool { return !slices.Contains(ops, op) })
	if name, ok := sharedFilter(leaf, s.f, ops); ok {
		return b.shared(InputObject, name, func(t *Type) {
			t.Doc = "The conditions on a member of the type " + leaf.Name + ". All of them must be true."
			switch {
			case s.f.ComparableElem():
				t.Doc = "The conditions on a list of the type " + leaf.Name + ". All of them must be true."
			case s.f.IsDuration():
				t.Doc = "The conditions on a duration as in ISO 8601, such as P1DT2H30M. " +
					"All of them must be true."
			}
			b.addOperators(t, leaf, s.f, ops)
		})
	}
	o := ofResource(r, "the filter for "+strconv.Quote(s.f.Name))
	own := b.define(InputObject, s.hint()+"Filter", o)
	own.Doc = "The conditions on `" + s.name + "`. All of them must be true."
	b.addOperators(own, leaf, s.f, ops)
	return own
}

// sharedFilter returns the name of the shared type, and whether ops are all operators of the
// scalar, with or without isNull. reserved lists all names that it can return, so no type of a
// resource can take one.
func sharedFilter(leaf *Type, f *schema.Field, ops []query.Op) (string, bool) {
	all, name := operators()[:8], leaf.Name
	switch {
	case leaf.Kind != Scalar:
		return "", false
	case f.ComparableElem():
		all, name = []query.Op{query.Contains}, name+"List"
	case f.IsDuration():
		name = "Duration"
	case name == "Int", name == "Int64", name == "Float", name == "Decimal", name == "DateTime":
	case name == "Boolean":
		all = all[:4]
	case name == "String":
		all = operators()[:10]
	case name == "ID": // the id may be a number or a string; only strings support contains
		if slices.Contains(ops, query.Contains) {
			all, name = operators()[:10], "StringID"
		}
	default:
		return "", false
	}
	// isNull is the last operator in the order of the schema.
	if last := len(ops) - 1; ops[last] == query.IsNull {
		ops, name = ops[:last], "Nullable"+name
	}
	return name + "Filter", slices.Equal(ops, all)
}

// addOperators adds an input field for each operator. All of them are nullable and have no default:
// an absent operator is no condition.
func (b *builder) addOperators(t, leaf *Type, f *schema.Field, ops []query.Op) {
	for _, op := range ops {
		in := &Input{Name: string(op), Doc: operatorDoc(op), Type: refTo(leaf)}
		switch {
		case op == query.In, op == query.NotIn:
			in.Type = listOfNullable(leaf)
		case op == query.Contains && f.ComparableElem():
			in.Doc = "An element equals this value."
		// A part of an id need not be an id.
		case op == query.Contains, op == query.StartsWith:
			in.Type = refTo(b.scalar("String"))
		case op == query.IsNull:
			in.Type = refTo(b.scalar("Boolean"))
		}
		t.Inputs = append(t.Inputs, in)
	}
}

// operatorDoc returns the description of an operator. Package query defines how operators treat
// null.
func operatorDoc(op query.Op) string {
	switch op {
	case query.Eq:
		return "Equal to this value."
	case query.Ne:
		return "Not equal to this value, or null."
	case query.In:
		return "Equal to one of these values."
	case query.NotIn:
		return "Equal to none of these values, or null."
	case query.Lt:
		return "Less than this value."
	case query.Lte:
		return "Less than or equal to this value."
	case query.Gt:
		return "Greater than this value."
	case query.Gte:
		return "Greater than or equal to this value."
	case query.Contains:
		return "Contains this text. Case-sensitive."
	case query.StartsWith:
		return "Starts with this text. Case-sensitive."
	}
	return "true: the value is null. false: the value is not null."
}

// sort returns the input type of a sort key, or nil if the list has a single order. The value of an
// enum is the JSON name of the member, which package query expects.
func (b *builder) sort(r *resource.Resource) *Type {
	support, name := r.Describe().Query, b.names[r]
	if support.Natural {
		return nil
	}
	if t := b.sorts[r]; t != nil {
		return t
	}
	var values []*Value
	for _, m := range b.membersOf(r.Type(), "resource "+r.Name()) {
		// Every list can be sorted by id, which is the last key of each order.
		if m.Name != r.Describe().ID && !slices.Contains(support.Sort, m.Name) {
			continue
		}
		if isLiteral(m.name) {
			b.fail("resource %s: the member %q cannot be a sort field, because %s is not a valid enum "+
				"value; "+
				"give it another JSON name, "+
				"or take it out of Options.Query.Sort", r.Name(), m.Name, m.name)
			continue
		}
		values = append(values, &Value{Name: m.name, Doc: m.Doc, Deprecated: m.Deprecated, Go: m.Name})
	}
	values = append(values, b.relatedSorts(r, values)...)
	field := b.define(Enum, name+"SortField", ofResource(r, "what is sorted by"))
	field.Doc, field.Values = "The members that `"+r.Name()+"` can be sorted by.", values
	t := b.define(InputObject, name+"Sort", ofResource(r, "the sort key"))
	b.sorts[r] = t
	t.Doc, t.Resource = "A sort key of a list of `"+r.Name()+"`.", r
	direction := b.shared(Enum, "SortDirection", fillDirection)
	t.Inputs = []*Input{
		{Name: "field", Doc: "The member to sort by.", Type: nonNull(field)},
		{Name: "direction", Doc: "The direction.", Type: refTo(direction), Default: "ASC",
			HasDefault: true},
	}
	return t
}

// fillDirection fills in the enum SortDirection.
func fillDirection(t *Type) {
	t.Doc = "The direction of a sort."
	t.Values = []*Value{
		{Name: "ASC", Doc: "Ascending order. Null values are first.", Go: "ASC"},
		{Name: "DESC", Doc: "Descending order. Null values are last.", Go: "DESC"},
	}
}

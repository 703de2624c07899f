package openapi

// The parameters that filter a list. The two profiles describe the same URLs in different forms: a
// parameter for each comparison, and few parameters.

import (
	"slices"
	"strings"
	"unicode"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/schema"
)

// filterName returns the parameter for a comparison of a field. grouped reports whether the names of
// aggregates are reserved, too. The last case is a field such as total.lt, which package query would
// split at the dot.
func filterName(field string, op query.Op, grouped bool) string {
	reserved := query.IsReservedParameter(field) || grouped && query.IsAggregateParameter(field)
	if op != query.Eq || reserved {
		return field + "." + string(op)
	}
	if i := strings.LastIndexByte(field, '.'); i >= 0 && comparison(query.Op(field[i+1:])) != "" {
		return field + "." + string(op)
	}
	return field
}

// comparison describes an operator; "" if op is unknown.
func comparison(op query.Op) string {
	switch op {
	case query.Eq:
		return "equals the value"
	case query.Ne:
		return "does not equal the value"
	case query.In:
		return "is one of the values"
	case query.NotIn:
		return "is none of the values"
	case query.Lt:
		return "is less than the value"
	case query.Lte:
		return "is at most the value"
	case query.Gt:
		return "is greater than the value"
	case query.Gte:
		return "is at least the value"
	case query.Contains:
		return "contains the value" // as a part of a string, or as an element of a list
	case query.StartsWith:
		return "starts with the value"
	case query.IsNull:
		return "is null (true) or is not null (false)"
	}
	return ""
}

// filters describes a parameter for each field and operator, and the parameter filter. Repeating a
// parameter and listing values mean the same for in and notIn, so only lists are described. The
// parameter filter exists only if at least one field can be filtered.
func (d *described) filters(support *query.Support) []*parameter {
	var out []*parameter
	for _, f := range d.r.Type().Fields {
		for _, op := range support.Filter[f.Name] {
			name := filterName(f.Name, op, support.CanAggregate())
			says := "Selects items if `" + f.Name + "` " + comparison(op) + "."
			if op == query.In || op == query.NotIn {
				out = append(out, commaList(name,
					says+" In a value, write `\\,` for a comma and `\\\\` for a backslash.",
					compared(f, op), maxValues))
				continue
			}
			value := compared(f, op)
			if f.ComparableElem() && value.Type[0] == "string" && value.Format == "" && value.Enum == nil {
				value.MinLength = new(1) // query.Parse rejects an empty element
			}
			out = append(out, &parameter{Name: name, In: "query", Description: says, Schema: value})
		}
	}
	out = append(out, d.distinct(out, d.relationFilters())...)
	// A parameter with content is JSON in the URL, percent-encoded. The styles of schema cannot
	// express nested objects.
	if len(out) > 0 {
		out = append(out, &parameter{Name: "filter", In: "query", Content: ordered[*mediaType]{
			{mediaJSON, &mediaType{Schema: d.filterTree(d.r)}}},
			Description: "A condition as JSON, which may combine others with `and`, `or` and `not` to a " +
				"depth of 8." + d.relationDepth()})
	}
	return out
}

// compared describes a value that a field is compared with. Minimum, maximum and lengths do not
// apply to it. They constrain stored values. A bound outside their range is a valid comparison.
func compared(f *schema.Field, op query.Op) *schemaObject {
	t := f.Type
	switch {
	case op == query.IsNull:
		return &schemaObject{Type: typeNames{"boolean"}}
	case f.ComparableElem():
		t = t.Elem
	// Part of a value is compared, which need not be valid for the field.
	case op == query.Contains, op == query.StartsWith:
		return text()
	}
	// A value outside the enumeration, of another type or of another format is rejected.
	s := scalar(t)
	if s.Format == "" {
		s.Format = f.Format
	}
	if !f.IsDecimal() && !f.IsDuration() { // another spelling of a value is valid
		for _, v := range f.Enum {
			s.Enum = append(s.Enum, jsonOf(v))
		}
	}
	return s
}

// filterTree describes the parameter filter of a resource. Its nesting limit cannot be expressed in
// JSON Schema; the description of the parameter states it. Each resource has one schema.
func (b *builder) filterTree(r *resource.Resource) *schemaObject {
	if name := b.filterNames[r]; name != "" {
		return schemaRef(name)
	}
	support, name := r.Describe().Query, b.names.unique(pascal(r.Name())+"Filter")
	b.filterNames[r] = name
	s := &schemaObject{Type: typeNames{"object"}, AdditionalProperties: false,
		Description: "All members must match.", Properties: ordered[*schemaObject]{}}
	b.doc.Components.Schemas.add(name, s) // before it is complete, because it refers to itself
	// Members of one object are combined with and. A field can occur in it only once, with several
	// comparisons.
	for _, f := range r.Type().Fields {
		ops := support.Filter[f.Name]
		if len(ops) == 0 || isConnective(f.Name) {
			continue
		}
		by := &schemaObject{Type: typeNames{"object"}, AdditionalProperties: false,
			Description: "The conditions on `" + f.Name + "`. All of them must be true.",
			Properties:  ordered[*schemaObject]{}}
		for _, op := range ops {
			v := compared(f, op)
			if op == query.In || op == query.NotIn {
				v = array(v)
			}
			v.Description = "The member " + comparison(op) + "."
			by.Properties.add(string(op), v)
		}
		s.Properties.add(f.Name, by)
	}
	b.addFilterRelations(s, r)
	all, either, not := array(schemaRef(name)), array(schemaRef(name)), schemaRef(name)
	all.Description = "All of these filters must match."
	either.Description = "At least one of these filters must match."
	not.Description = "This filter must not match."
	s.Properties.add(string(query.AndOp), all)
	s.Properties.add(string(query.OrOp), either)
	s.Properties.add(string(query.NotOp), not)
	return schemaRef(name)
}

// isConnective reports whether a member of a filter is and, or or not. A field with such a name can
// only be filtered by its own parameter.
func isConnective(name string) bool {
	return slices.Contains([]query.Op{query.AndOp, query.OrOp, query.NotOp}, query.Op(name))
}

// simpleFilters describes the filters with few parameters, for the default profile: one for each
// field that can be compared for equality, one object with all other comparisons, and filter.
//
// The object is exploded in style form, so its members are the parameters of the URL. Lists are
// strings and filter is a string, because generated clients do not encode lists in an object or
// parameters with content. Of openapi-fetch, oapi-codegen, ogen, hey-api and orval, at least two
// fail for each.
func (d *described) simpleFilters(support *query.Support) []*parameter {
	var out []*parameter
	where := &schemaObject{Type: typeNames{"object"}, AdditionalProperties: false,
		Description: "Comparisons of members. All of them must be true.",
		Properties:  ordered[*schemaObject]{}}
	for _, f := range d.r.Type().Fields {
		for _, op := range support.Filter[f.Name] {
			name := filterName(f.Name, op, support.CanAggregate())
			switch op {
			case query.Eq:
				out = append(out, &parameter{Name: name, In: "query", Schema: compared(f, op)})
			case query.In, query.NotIn:
				where.Properties.add(name, textOf("Values, separated by commas."))
			default:
				s := compared(f, op)
				s.Enum = nil // generators would have an enumeration for each comparison
				where.Properties.add(name, s)
			}
		}
	}
	if len(where.Properties) > 0 {
		explode, name, component := true, "where", d.names.unique(pascal(d.name)+"Where")
		for slices.ContainsFunc(out, func(p *parameter) bool { return p.Name == name }) {
			name += "_" // a field has the name
		}
		// A component, because oapi-codegen has no name for an inline object.
		d.doc.Components.Schemas.add(component, where)
		out = append(out, &parameter{Name: name, In: "query", Style: "form", Explode: &explode,
			Schema: schemaRef(component),
			Description: "Comparisons. Each member is a parameter of the URL, such as `" +
				where.Properties[0].name + "`."})
	}
	out = append(out, d.distinct(out, d.relationFilters())...)
	if len(out) > 0 {
		out = append(out, d.share("Filter", &parameter{Name: "filter", In: "query", Schema: text(),
			Description: "A condition as JSON, which may combine others with `and`, `or` and `not`, such " +
				"as `{\"not\":{\"status\":{\"eq\":\"paid\"}}}`."}))
	}
	return out
}

// distinct returns the parameters with an identifier that none of others has.
func (d *described) distinct(others, parameters []*parameter) (kept []*parameter) {
	for _, p := range parameters {
		same := func(other *parameter) bool { return identifier(other.Name) == identifier(p.Name) }
		if !slices.ContainsFunc(others, same) {
			kept = append(kept, p)
		}
	}
	return kept
}

// identifier returns what generators make of the name of a parameter, in any case: customer.id and
// customerId become the same identifier.
func identifier(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}

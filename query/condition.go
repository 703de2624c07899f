package query

// Conditions in a URL, such as total.gt=5. parse.go reads the other parameters.

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// condition is a comparison from parameters: status=paid and status.eq=paid are the same condition.
type condition struct {
	field string
	op    Op
	name  string // the first spelling of the parameter
	texts []string
}

// conditions returns the comparisons that are parameters of their own.
func (p *parser) conditions() []Filter { return p.ofGroup(p.collect()) }

// ofGroup returns the filters of a group of conditions.
func (p *parser) ofGroup(g *conditionGroup) []Filter {
	var terms []Filter
	for _, c := range g.conditions {
		if err := g.Support.checkTerm(c.field, c.op); err != nil {
			p.addError(c.name, err.Code, err.Detail)
			continue
		}
		// Count before parsing the value, to limit the work for many values.
		if !p.count(c.name) {
			return terms
		}
		if value, ok := p.conditionValue(g.scope, c); ok {
			terms = append(terms, Filter{Op: c.op, Field: c.field, Value: value})
		}
	}
	for _, sub := range g.subs {
		if !p.count(sub.name) {
			return terms
		}
		terms = append(terms, quantify(sub.relation, sub.quantifier, And(p.ofGroup(sub)...)))
	}
	return terms
}

// count counts a comparison. It reports the first one beyond the limit, and returns false from then on.
func (p *parser) count(name string) bool {
	if p.terms++; p.terms == p.opts.MaxTerms+1 {
		p.addError(name, tooMany, p.tooManyTerms())
	}
	return p.terms <= p.opts.MaxTerms
}

// tooManyTerms returns the detail for too many comparisons, in parameters and the tree together.
func (p *parser) tooManyTerms() string {
	return "there can be at most " + strconv.Itoa(p.opts.MaxTerms) + " comparisons"
}

// collect groups the parameters by relation, field and operator, in the order of their names.
func (p *parser) collect() *conditionGroup {
	all := &conditionGroup{scope: p.root}
	for _, name := range slices.Sorted(maps.Keys(p.params)) {
		if slices.Contains(parsedNames, name) || len(p.params[name]) == 0 {
			continue
		}
		// A parameter denotes a comparison only if its field is declared. Anything else, such as
		// total.like, is an unknown parameter.
		if p.isReserved(name) {
			p.unknown(name, p.root)
		} else if in, known := all.add(name, name, p.params[name]); !known {
			p.unknown(name, in)
		}
	}
	return all
}

// isReserved reports whether a parameter never denotes a field.
func (p *parser) isReserved(name string) bool {
	return slices.Contains(reservedNames, name) ||
		p.opts.Support.CanAggregate() && slices.Contains(aggregateNames, name)
}

// unknown rejects a parameter, because ignoring a misspelled filter would return the whole list.
// in are the items that it refers to.
func (p *parser) unknown(name string, in scope) {
	// The second condition avoids formatting errors that are not reported.
	if !p.opts.Lenient && len(p.errors) < maxErrors {
		p.addError(name, unknownParameter, "unknown parameter; "+hint(name, in))
	}
}

// hint returns what to use instead of an unknown parameter. Names that other APIs use for pages are
// directed to the parameters for them.
func hint(name string, in scope) string {
	switch name {
	case "page", "offset", "skip", "start", "cursor", "page_size", "pageSize", "per_page", "perPage", "size":
		return "use limit for the number of items, and after to continue a list"
	case "count", "total", "totalCount":
		return "send Prefer: count=exact for the number of items"
	}
	if field := in.fieldOfRest(); field != "" {
		return in.pathTo(field) + " can be compared with " + listOf(in.Support.Filter[field])
	}
	filters, of := in.Support.filterable(), "this list"
	if in.path != "" {
		of = in.path
	}
	switch {
	case in.unquantified:
		return of + " has many items, so some, none or every must follow it"
	case len(filters) > 0:
		return "the filters of " + of + " are " + listOf(filters)
	case in.path != "":
		return in.path + " has no filters"
	}
	return noFilters
}

// fieldOfRest returns the field of an unknown parameter if only its comparison does not exist, as in
// total.like.
func (in scope) fieldOfRest() (field string) {
	for name, ops := range in.Support.Filter {
		if len(ops) > 0 && len(name) > len(field) && strings.HasPrefix(in.rest, name+".") {
			field = name
		}
	}
	return field
}

// conditionValue parses the texts of a condition for its operator.
func (p *parser) conditionValue(in scope, c *condition) (value any, ok bool) {
	if c.op == In || c.op == NotIn {
		return p.listValue(in, c)
	}
	text, ok := p.one(c.name, c.texts)
	if !ok {
		return nil, false
	}
	value, err := in.value(c.field, c.op, text)
	if err == nil && value == "" && c.op == Contains && in.isList(c.field) {
		// A form that was left empty sends it, and would find no items.
		err = &Error{Detail: "must be an element; leave the parameter out for all items"}
	}
	if err != nil {
		p.addError(c.name, invalidValue, err.Error())
		return nil, false
	}
	return value, true
}

// listValue concatenates the values of all texts, because clients also write a list as a repeated
// parameter. Duplicate values are kept.
func (p *parser) listValue(in scope, c *condition) (value any, ok bool) {
	var list []any
	for _, text := range c.texts {
		if !p.valid(c.name, text) {
			return nil, false
		}
		parts, ok := splitList(text)
		if !ok {
			p.addError(c.name, invalidValue, `a backslash must be followed by a comma or another backslash`)
			return nil, false
		}
		if len(list)+len(parts) > p.opts.MaxValues {
			p.addError(c.name, tooMany, p.tooManyValues())
			return nil, false
		}
		for _, part := range parts {
			v, err := in.value(c.field, c.op, part)
			if err != nil {
				p.addError(c.name, invalidValue, err.Error())
				return nil, false
			}
			list = append(list, v)
		}
	}
	return list, true
}

// tooManyValues returns the detail for too many values in a list. The limit exists because a store
// may need one statement argument per value.
func (p *parser) tooManyValues() string {
	return "there can be at most " + strconv.Itoa(p.opts.MaxValues) + " values"
}

// value parses the text of one value.
func (in scope) value(field string, op Op, text string) (any, error) {
	switch {
	case op == IsNull:
		if text != "true" && text != "false" {
			return nil, &Error{Code: invalidValue, Detail: "must be true or false"}
		}
		return text == "true", nil
	case op == Contains && !in.isList(field), op == StartsWith, in.Value == nil:
		// A part of an address or enumeration value is not a value of its field.
		return text, nil
	}
	v, err := in.Value(field, text)
	if err != nil {
		return nil, err
	}
	switch v := Canonical(v).(type) {
	case nil:
		return nil, errNull(field)
	case time.Time:
		// A zone can move a time out of the years that RFC 3339 and many stores can represent.
		if year := v.Year(); year < 0 || year > 9999 {
			return nil, &Error{Code: invalidValue, Detail: "must be in the years 0 to 9999, in UTC"}
		}
		return v, nil
	default:
		return v, nil
	}
}

func (in scope) isList(field string) bool { return in.IsList != nil && in.IsList(field) }

// errNull reports a comparison with null, which would never be true.
func errNull(field string) *Error {
	return &Error{Code: invalidValue, Detail: "null is not a value; use " + parameterName(field, IsNull)}
}

// splitParameter splits the name of a parameter into field and operator. Field names may contain
// dots, so the part after the last dot counts only if it is an operator.
func splitParameter(name string) (field string, op Op) {
	if dot := strings.LastIndexByte(name, '.'); dot >= 0 && slices.Contains(comparisons, Op(name[dot+1:])) {
		return name[:dot], Op(name[dot+1:])
	}
	return name, Eq
}

// parameterName returns a name that splitParameter splits into field and op: the shortest one that
// no list reserves.
func parameterName(field string, op Op) string {
	if op == Eq && !slices.Contains(reservedNames, field) && !slices.Contains(aggregateNames, field) {
		if whole, _ := splitParameter(field); whole == field {
			return field
		}
	}
	return field + "." + string(op)
}

// splitList splits a list at its commas and removes escapes.
func splitList(text string) (parts []string, ok bool) {
	var part []byte
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case ',':
			parts = append(parts, string(part))
			part = part[:0]
		case '\\':
			i++
			if i == len(text) || text[i] != ',' && text[i] != '\\' {
				return nil, false
			}
			part = append(part, text[i])
		default:
			part = append(part, text[i])
		}
	}
	return append(parts, string(part)), true
}

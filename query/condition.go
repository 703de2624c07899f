package query

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// condition is a comparison as parameters ask for it: status=paid and status.eq=paid are the same condition.
type condition struct {
	field string
	op    Op
	name  string // the parameter as it was spelled first
	texts []string
}

// conditions reads all parameters that are comparisons, each in a parameter of its own.
func (p *parser) conditions() []Filter {
	var terms []Filter
	for _, c := range p.collect() {
		if err := p.opts.Support.checkTerm(c.field, c.op); err != nil {
			p.fault(c.name, err.Code, err.Detail)
			continue
		}
		// Counted before its value is read, so that very many values are not tried either.
		if p.terms++; p.terms > p.opts.MaxTerms {
			p.fault(c.name, tooMany, p.tooManyTerms())
			break
		}
		if value, ok := p.conditionValue(c); ok {
			terms = append(terms, Filter{Op: c.op, Field: c.field, Value: value})
		}
	}
	return terms
}

// tooManyTerms is said of the parameter that goes beyond the bound; the tree counts on from where this file stops.
func (p *parser) tooManyTerms() string {
	return "there can be at most " + strconv.Itoa(p.opts.MaxTerms) + " comparisons"
}

// collect groups the parameters by what they mean, in the order of their names.
func (p *parser) collect() []*condition {
	type meaning struct {
		field string
		op    Op
	}
	known := make(map[meaning]*condition)
	var all []*condition
	for _, name := range slices.Sorted(maps.Keys(p.params)) {
		if slices.Contains(own, name) || len(p.params[name]) == 0 {
			continue
		}
		// A name is a field's only if the field is declared. Everything else, also a comparison that does not exist, is
		// an unknown parameter: total.like may be a typing error or somebody else's.
		field, op := splitParameter(name)
		if _, declared := p.opts.Support.Filter[field]; !declared || slices.Contains(reserved, name) {
			p.unknown(name)
			continue
		}
		c := known[meaning{field, op}]
		if c == nil {
			c = &condition{field: field, op: op, name: name}
			known[meaning{field, op}] = c
			all = append(all, c)
		}
		c.texts = append(c.texts, p.params[name]...)
	}
	return all
}

// unknown refuses a parameter rather than ignore it: a filter with a typing error in its name would otherwise be
// answered with the whole list.
func (p *parser) unknown(name string) {
	// The second test spares the work for what would not be noted; a URL has room for very many names.
	if !p.opts.Lenient && len(p.faults) < maxFaults {
		p.fault(name, unknownParameter, "is not a parameter of this list: "+p.opts.Support.filterable())
	}
}

// conditionValue reads the texts of a condition as its comparison wants them.
func (p *parser) conditionValue(c *condition) (value any, ok bool) {
	if c.op == In || c.op == NotIn {
		return p.listValue(c)
	}
	text, ok := p.one(c.name, c.texts)
	if !ok {
		return nil, false
	}
	value, err := p.value(c.field, c.op, text)
	if err != nil {
		p.fault(c.name, invalidValue, err.Error())
		return nil, false
	}
	return value, true
}

// listValue joins the values of all the texts, because repeating a parameter is how many clients write a list. Duplicates
// among the values stay: they do no harm, and nobody would expect them to be refused.
func (p *parser) listValue(c *condition) (value any, ok bool) {
	var list []any
	for _, text := range c.texts {
		if !p.valid(c.name, text) {
			return nil, false
		}
		parts, ok := splitList(text)
		if !ok {
			p.fault(c.name, invalidValue, `a backslash must be followed by a comma or another backslash`)
			return nil, false
		}
		if len(list)+len(parts) > p.opts.MaxValues {
			p.fault(c.name, tooMany, p.tooManyValues())
			return nil, false
		}
		for _, part := range parts {
			v, err := p.value(c.field, c.op, part)
			if err != nil {
				p.fault(c.name, invalidValue, err.Error())
				return nil, false
			}
			list = append(list, v)
		}
	}
	return list, true
}

// tooManyValues speaks of one list; a store may have to make an argument of a statement out of each value.
func (p *parser) tooManyValues() string {
	return "there can be at most " + strconv.Itoa(p.opts.MaxValues) + " values"
}

// value turns the text of one value into what the comparison is made with.
func (p *parser) value(field string, op Op, text string) (any, error) {
	switch {
	case op == IsNull:
		if text != "true" && text != "false" {
			return nil, &Error{Code: invalidValue, Detail: "must be true or false"}
		}
		return text == "true", nil
	case op == Contains, op == StartsWith, p.opts.Value == nil:
		// Half an address or the first letters of an enumeration's member are no values of their fields.
		return text, nil
	}
	v, err := p.opts.Value(field, text)
	if err != nil {
		return nil, err
	}
	switch v := Canonical(v).(type) {
	case nil:
		return nil, errNull(field)
	case time.Time:
		// A zone can carry a time at the edge out of what RFC 3339 and many stores can write.
		if year := v.Year(); year < 0 || year > 9999 {
			return nil, &Error{Code: invalidValue, Detail: "must be in the years 0 to 9999, in UTC"}
		}
		return v, nil
	default:
		return v, nil
	}
}

// errNull explains why null is refused: no comparison with it is ever what was meant.
func errNull(field string) *Error {
	detail := "nothing compares with null; ask " + parameterName(field, IsNull) + " instead"
	return &Error{Code: invalidValue, Detail: detail}
}

// splitParameter reads the name of a parameter as a field and a comparison. The part behind the last dot counts only
// if it is one, since names of fields may hold dots.
func splitParameter(name string) (field string, op Op) {
	if dot := strings.LastIndexByte(name, '.'); dot >= 0 && slices.Contains(comparisons, Op(name[dot+1:])) {
		return name[:dot], Op(name[dot+1:])
	}
	return name, Eq
}

// parameterName is the inverse of splitParameter: the shortest name that is read as the field and the comparison.
func parameterName(field string, op Op) string {
	if op == Eq && !slices.Contains(reserved, field) {
		if whole, _ := splitParameter(field); whole == field {
			return field
		}
	}
	return field + "." + string(op)
}

// splitList takes a list apart at its commas, and its escapes out.
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

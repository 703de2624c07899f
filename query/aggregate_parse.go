package query

import (
	"cmp"
	"errors"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// aggregateNames lists the parameters of an aggregation. They never denote a field in lists that
// declare aggregates.
var aggregateNames = []string{"group", "having", string(Count), string(Distinct), string(Sum), string(Avg),
	string(Min), string(Max)}

// IsAggregateParameter reports whether name is a parameter of aggregations, which does not denote a field
// in lists that declare aggregates.
func IsAggregateParameter(name string) bool { return slices.Contains(aggregateNames, name) }

// HasAggregation reports whether v requests groups or aggregates from a list with Support s: it has
// one of the parameters group, having, count, distinct, sum, avg, min and max, and s declares
// aggregates. [ParseAggregation] then parses v in place of [Parse].
func HasAggregation(v url.Values, s Support) bool {
	return s.CanAggregate() &&
		slices.ContainsFunc(aggregateNames, func(name string) bool { return v.Has(name) })
}

// ParseAggregation parses URL parameters as an Aggregation. Nil opts are the zero options.
//
//	group=status,currency   the fields by which items are grouped; without it there is one group
//	group=customer.country  a field of the related item
//	count                   the number of items; an empty value or true
//	sum=total,tax           aggregates of fields, also avg, min, max and distinct
//	having={"count":{"gte":3},"sum.total":{"gt":100}}
//	sort=-sum.total,status  fields of group and names of aggregates
//	limit=20                the number of groups
//
// Conditions and the parameters filter and q select items, as in [Parse]. The parameter having is a filter
// of groups in the same form; it compares aggregates of the request. There can be at most 4 fields
// of group, 8 aggregates, and opts.MaxTerms comparisons in filter and having together.
//
// The names group, having, count, distinct, sum, avg, min and max do not denote a field if
// opts.Support declares aggregates. A field named count is written count.eq. Errors are those of
// Parse.
func ParseAggregation(v url.Values, opts *ParseOptions) (Aggregation, error) {
	p := newParser(v, opts)
	a := Aggregation{Limit: p.limit(), Group: p.names("group", MaxGroup), Aggregates: p.aggregateList()}
	a.Sort = p.sortKeys(func(Order) *Error { return nil })
	a.Search = p.search()
	if len(p.errors) == 0 { // otherwise some names are missing
		for _, err := range p.opts.Support.aggregationErrors(a) {
			p.addError(err.Parameter, err.Code, err.Detail)
		}
	}
	checked := len(p.errors) == 0
	if p.params.Has("fields") {
		p.unknown("fields", p.root)
	}
	params := p.params
	p.params = maps.Clone(params)
	for _, name := range aggregateNames {
		delete(p.params, name)
	}
	a.Filter = p.filter()
	p.params = params
	if checked || len(a.Aggregates) == 0 { // otherwise having may compare an aggregate that has no field
		a.Having = p.having(a)
	}
	if len(p.errors) > 0 {
		slices.SortStableFunc(p.errors,
			func(a, b *Error) int { return cmp.Compare(a.Parameter, b.Parameter) })
		return Aggregation{}, p.errors
	}
	return a, nil
}

// names returns the names of a parameter, which are separated by commas.
func (p *parser) names(parameter string, most int) []string {
	text, ok := p.single(parameter)
	if !ok {
		return nil
	}
	if strings.Count(text, ",") >= most { // limits the work for a long list of names
		p.addError(parameter, tooMany, "can have at most "+strconv.Itoa(most)+" fields")
		return nil
	}
	names := strings.Split(text, ",")
	if slices.Contains(names, "") {
		p.addError(parameter, invalidValue, "must be field names separated by commas")
		return nil
	}
	return names
}

// aggregateList returns the aggregates in the order of Funcs.
func (p *parser) aggregateList() []Aggregate {
	var all []Aggregate
	for _, f := range Funcs() {
		if f != Count {
			for _, field := range p.names(string(f), MaxAggregates) {
				all = append(all, Aggregate{Func: f, Field: field})
			}
			continue
		}
		switch text, ok := p.single("count"); {
		case !ok:
		case text == "" || text == "true":
			all = append(all, Aggregate{Func: Count})
		default:
			p.addError("count", invalidValue,
				"counts items and has no value; compare a field named count with count.eq")
		}
	}
	return all
}

// having parses the filter of groups.
func (p *parser) having(a Aggregation) Filter {
	text, ok := p.single("having")
	if !ok || text == "" {
		return Filter{}
	}
	if len(a.Aggregates) == 0 {
		p.addError("having", unsupportedFilter, noAggregates)
		return Filter{}
	}
	sub := *p // shares the number of comparisons
	sub.treeName = "having"
	sub.root = scope{Target: &Target{Support: a.havingSupport(),
		Value: func(name, text string) (any, error) {
			return p.aggregateValue(a.Aggregates[a.indexOf(name)], text)
		}}}
	f := sub.tree(text)
	p.errors, p.terms = sub.errors, sub.terms
	return f
}

var errWhole = errors.New("must be a whole number of at most 19 digits")

// aggregateValue parses an operand of having. A sum or a mean is a number of any size, and the mean
// of integers has digits after the point.
func (p *parser) aggregateValue(a Aggregate, text string) (any, error) {
	switch a.Func {
	case Count, Distinct:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, errWhole
		}
		return n, nil
	case Sum, Avg:
		if p.opts.Value != nil {
			v, err := p.opts.Value(a.Field, text)
			if f, ok := Canonical(v).(float64); ok && err == nil {
				return f, nil
			}
		}
		d, err := ParseDecimal(text)
		return d, err
	}
	if p.opts.Value != nil {
		return p.opts.Value(a.Field, text)
	}
	return text, nil
}

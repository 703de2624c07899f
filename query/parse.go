package query

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ParseOptions configures [Parse]. The zero value accepts a limit and a sort by id.
type ParseOptions struct {
	// Support declares the accepted filters and sort keys. All others are rejected.
	Support Support
	// ID is the JSON name of the id field, by which every list can be sorted. Default "id".
	ID string
	// Value converts the text of a value to the kind of the field. Its error is sent to the client,
	// so it must not contain Go types. If Value is nil, all values are strings. It is not called
	// for IsNull, nor for StartsWith and the Contains of a string, because their operand is part of a
	// value. For [Query.Values] to be parsed again it must accept numbers in Go syntax, times in RFC
	// 3339, and the texts of Decimal and Duration.
	Value func(field, text string) (any, error)
	// IsList reports whether a field is a list. Value also parses the operand of Contains for lists:
	// an element. If IsList is nil, no field is a list.
	IsList func(field string) bool
	// Relation returns the items of a relation of Support.Relations. If it is nil or returns nil, the
	// relation cannot be used.
	Relation func(name string) *Target
	// DefaultLimit is the limit of a query without one. Default 50, but at most MaxLimit.
	DefaultLimit int
	// MaxLimit is the largest accepted limit. Default 200.
	MaxLimit int
	// MaxTerms limits the number of comparisons. Each use of a relation counts as one. Default 20.
	MaxTerms int
	// MaxValues limits the values of one In or NotIn. Default 200.
	MaxValues int
	// MaxSort limits the number of sort keys. Default 4.
	MaxSort int
	// Ignore lists parameters that the caller reads, such as after, before, expand and version. A
	// field may have such a name only if Parse reserves it.
	Ignore []string
	// Lenient ignores unknown parameters instead of rejecting them.
	Lenient bool
}

// Parse parses URL parameters as a Query. Nil opts are the zero options.
//
//	status=paid             status is equal to paid
//	total.gte=100           a comparison by name
//	status.in=paid,sent     a list; \, is a comma in a value and \\ a backslash; repetition adds values
//	shipped.isNull=true     true or false
//	tags.contains=new       a part of a string, or an element of a list, which must not be empty
//	sort=-total,name        sort keys; a minus means descending
//	sort=customer.name      a field of the related item as the sort key
//	q=green tea             a text search; see ParseSearch
//	limit=20                the number of items
//	fields=id,total         the requested fields; the caller checks that they exist
//	filter={"or":[{"status":{"eq":"paid"}},{"not":{"total":{"gte":100}}}]}
//
//	customer.role=admin     a field of the related item
//	lines.some.itemId=7     a relation to many: some, none or every item has this field
//
// All conditions must hold. Conditions with the same relation, and the same some, none or every, are
// those of one related item. At most 3 relations can follow each other.
//
// The parameter filter is a JSON object with the same members as the filter in GraphQL: fields, each
// with an object of comparisons, "and", "or" and "not", and relations, as in
// {"customer":{"role":{"eq":"admin"}},"lines":{"some":{"itemId":{"eq":7}}}}. The text of its strings,
// numbers and booleans is read like the text of a parameter. Duplicate member names and null are
// rejected; use isNull for null. Connectives can be nested 8 deep.
//
// The names sort, limit, fields, filter, q, after, before, expand, version, lastEventId and highlight
// never denote a field, nor do those of [ParseAggregation] if opts.Support declares aggregates. A field
// named limit is written limit.eq, and so is a field with a name that ends in a dot and a comparison.
//
// A parameter that is repeated with different values is rejected, except in and notIn. The error is
// an [Errors] with up to 20 errors, ordered by parameter. The conditions of the result are ordered
// by field name, independent of their order in the URL.
func Parse(v url.Values, opts *ParseOptions) (Query, error) {
	p := newParser(v, opts)
	q := Query{Limit: p.limit(), Sort: p.sort(), Fields: p.fieldNames(), Filter: p.filter()}
	q.Search = p.search()
	if len(p.errors) > 0 {
		slices.SortStableFunc(p.errors,
			func(a, b *Error) int { return cmp.Compare(a.Parameter, b.Parameter) })
		return Query{}, p.errors
	}
	return q, nil
}

// maxErrors limits the number of reported errors.
const maxErrors = 20

// reservedNames lists the names that never denote a field.
var reservedNames = []string{"sort", "limit", "fields", "filter", "q", "after", "before", "expand", "version",
	"lastEventId", "highlight"}

// IsReservedParameter reports whether name is a parameter of lists, such as sort, that never denotes a
// field. The name version is one, because clients can select a version by it.
func IsReservedParameter(name string) bool { return slices.Contains(reservedNames, name) }

// parsedNames lists the reserved names that Parse reads.
var parsedNames = reservedNames[:5]

// comparisons lists the operators that may follow the dot in a parameter's name.
var comparisons = []Op{Eq, Ne, In, NotIn, Lt, Lte, Gt, Gte, Contains, StartsWith, IsNull}

// parser parses one URL. It continues after an error, to report all of them.
type parser struct {
	opts   ParseOptions // with defaults
	root   scope
	params url.Values // without ignored parameters
	errors Errors
	terms  int // comparisons so far
	// treeName is the parameter of the filter tree: filter or having.
	treeName string
}

// newParser applies the defaults and removes ignored parameters, in a copy if v has one.
func newParser(v url.Values, opts *ParseOptions) *parser {
	p := &parser{params: v, treeName: "filter"}
	if opts != nil {
		p.opts = *opts
	}
	o := &p.opts
	o.ID = cmp.Or(o.ID, "id")
	o.MaxLimit = orDefault(o.MaxLimit, 200)
	// Otherwise Values could write a limit that Parse rejects.
	o.DefaultLimit = min(orDefault(o.DefaultLimit, 50), o.MaxLimit)
	o.MaxTerms = orDefault(o.MaxTerms, 20)
	o.MaxValues = orDefault(o.MaxValues, 200)
	o.MaxSort = orDefault(o.MaxSort, 4)
	p.root = scope{Target: &Target{Support: o.Support, Value: o.Value, IsList: o.IsList,
		Relation: o.Relation}}
	if slices.ContainsFunc(o.Ignore, v.Has) {
		p.params = maps.Clone(v)
		for _, name := range o.Ignore {
			delete(p.params, name)
		}
	}
	return p
}

// orDefault returns otherwise if n is not positive.
func orDefault(n, otherwise int) int {
	if n <= 0 {
		return otherwise
	}
	return n
}

// addError records an error. Parameters are read in a fixed order, so the reported errors do not
// depend on map order.
func (p *parser) addError(parameter, code, detail string) {
	if len(p.errors) < maxErrors {
		p.errors = append(p.errors, &Error{Parameter: parameter, Code: code, Detail: detail})
	}
}

// single returns the value of a parameter that may occur once, and whether it has a valid one.
func (p *parser) single(name string) (text string, ok bool) {
	texts := p.params[name]
	if len(texts) == 0 {
		return "", false
	}
	return p.one(name, texts)
}

// one returns the value of a repeated parameter, if all its values are equal.
func (p *parser) one(name string, texts []string) (text string, ok bool) {
	for _, t := range texts[1:] {
		if t != texts[0] {
			p.addError(name, duplicateParameter, "must not be repeated with different values")
			return "", false
		}
	}
	return texts[0], p.valid(name, texts[0])
}

// valid rejects text that is not UTF-8, which stores and JSON cannot represent.
func (p *parser) valid(name, text string) bool {
	if !utf8.ValidString(text) {
		p.addError(name, invalidValue, "is not valid UTF-8")
		return false
	}
	return true
}

// limit rejects a number above the maximum instead of reducing it, because a client may treat a
// shorter page as the last one.
func (p *parser) limit() int {
	text, ok := p.single("limit")
	if !ok {
		return p.opts.DefaultLimit
	}
	n, err := strconv.Atoi(text)
	// The second condition rejects other spellings, such as +5 and 05.
	if err != nil || strconv.Itoa(n) != text || n < 1 || n > p.opts.MaxLimit {
		p.addError("limit", invalidValue, "must be a whole number from 1 to "+strconv.Itoa(p.opts.MaxLimit))
	}
	return n
}

// sort returns the sort keys of the client. The caller appends the id as the last key; the result
// of Values must not contain it.
func (p *parser) sort() []Order {
	return p.sortKeys(func(key Order) *Error { return p.opts.Support.checkSort(key.Field, p.opts.ID) })
}

// sortKeys is sort with a check of each key.
func (p *parser) sortKeys(check func(Order) *Error) []Order {
	text, ok := p.single("sort")
	if !ok {
		return nil
	}
	if text == "" {
		p.addError("sort", invalidValue, "must name at least one field")
		return nil
	}
	// Limits the work for a long list of names.
	if strings.Count(text, ",") >= p.opts.MaxSort {
		p.addError("sort", tooMany, "can have at most "+strconv.Itoa(p.opts.MaxSort)+" fields")
		return nil
	}
	var keys []Order
	for name := range strings.SplitSeq(text, ",") {
		field, desc := strings.CutPrefix(name, "-")
		if err := check(Order{Field: field}); err != nil {
			p.addError("sort", err.Code, err.Detail)
			continue
		}
		if slices.ContainsFunc(keys, func(o Order) bool { return o.Field == field }) {
			p.addError("sort", invalidValue, "names "+field+" twice")
			continue
		}
		keys = append(keys, Order{Field: field, Desc: desc})
	}
	return keys
}

// fieldNames returns the requested names in order, each once. Their existence is checked against
// the schema later.
func (p *parser) fieldNames() []string {
	text, ok := p.single("fields")
	if !ok {
		return nil
	}
	var names []string
	seen := make(map[string]bool)
	for name := range strings.SplitSeq(text, ",") {
		if name == "" {
			p.addError("fields", invalidValue, "must be field names separated by commas")
			return nil
		}
		if !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	return names
}

// filter returns the conjunction of all conditions, in an order that does not depend on the URL.
// Trees are last, as written.
func (p *parser) filter() Filter {
	conditions := p.conditions()
	// Generated clients send an empty value for a filter that is not set.
	if text, ok := p.single("filter"); ok && text != "" {
		conditions = append(conditions, p.tree(text))
	}
	return inOrder(And(conditions...))
}

// compareTerms orders conditions by field and operator, or by relation and quantifier. So Values can
// write them as unordered parameters, and equal queries are equal in all spellings, which cursors
// depend on. Trees keep their order.
func compareTerms(a, b Filter) int {
	a, b = asTerm(a), asTerm(b)
	switch ac, bc := a.isConnective(), b.isConnective(); {
	case ac && bc:
		return 0
	case ac:
		return 1
	case bc:
		return -1
	}
	return cmp.Or(cmp.Compare(a.Field, b.Field), cmp.Compare(a.Op, b.Op))
}

// asTerm returns a filter through a relation as a comparison with its quantifier, and others unchanged.
func asTerm(f Filter) Filter {
	if relation, quantifier, _, ok := quantified(f); ok {
		return Filter{Op: Op(quantifier), Field: relation}
	}
	return f
}

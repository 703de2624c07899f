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

// ParseOptions say what [Parse] may accept. The zero value accepts a limit and a sort by id.
type ParseOptions struct {
	// Support is what the list can be asked. What is not in it is refused.
	Support Support
	// ID is the JSON name of the id field, by which every list can be sorted. Empty means "id".
	ID string
	// Value turns the text of a value into one of the field's kind. Its error goes to the client, so it must name no
	// Go types. Nil keeps all values strings. It is not asked for Contains and StartsWith, whose text is only a part
	// of a value, nor for IsNull. For [Query.Values] to be read back alike it must accept a number as Go writes it and
	// a time in RFC 3339.
	Value func(field, text string) (any, error)
	// DefaultLimit is the limit where none is asked for; 0 means 50, and never more than MaxLimit.
	DefaultLimit int
	// MaxLimit is the largest limit that may be asked for; 0 means 200.
	MaxLimit int
	// MaxTerms is the largest number of comparisons; 0 means 20.
	MaxTerms int
	// MaxValues is the largest number of values in one In or NotIn; 0 means 200.
	MaxValues int
	// MaxSort is the largest number of sort keys; 0 means 4.
	MaxSort int
	// Ignore are the names of parameters that somebody else reads, such as after, before, expand and version. A
	// field can share such a name only if it is one of the names that Parse reserves.
	Ignore []string
	// Lenient ignores unknown parameters instead of refusing them.
	Lenient bool
}

// Parse reads a query from the parameters of a URL. Nil options are the zero options.
//
//	status=paid             status is equal to paid
//	total.gte=100           any comparison, by its name
//	status.in=paid,sent     a list; \, is a comma in a value and \\ a backslash; repeated, it adds values
//	shipped.isNull=true     true or false
//	sort=-total,name        sort keys, a minus for descending
//	limit=20                the number of items
//	fields=id,total         the fields wanted; whether they exist is the caller's to check
//	filter={"or":[{"status":{"eq":"paid"}},{"not":{"total":{"gte":100}}}]}
//
// All conditions must hold. The parameter filter is a JSON object with the same members as the filter in GraphQL:
// fields, each with an object of comparisons, and "and", "or" and "not"; the text of its strings, numbers and booleans
// is read like the text of a parameter. Members of duplicate names are refused, and so is null, for which there is
// isNull. The connectives can be nested 8 deep.
//
// The names sort, limit, fields, filter, after, before, expand, version and lastEventId never stand for a field by
// themselves: a field called limit is asked for as limit.eq. The same goes for one whose name ends in a dot and a comparison.
//
// A parameter given twice with different values is refused, except in and notIn. The faults come as [Errors], all at
// once up to a bound, ordered by parameter.
//
// The conditions of the result stand in the order of their fields' names, whatever the order in the URL.
func Parse(v url.Values, opts *ParseOptions) (Query, error) {
	p := newParser(v, opts)
	q := Query{Limit: p.limit(), Sort: p.sort(), Fields: p.fields(), Filter: p.filter()}
	if len(p.faults) > 0 {
		slices.SortStableFunc(p.faults, func(a, b *Error) int { return cmp.Compare(a.Parameter, b.Parameter) })
		return Query{}, p.faults
	}
	return q, nil
}

// maxFaults bounds an answer that only says what is wrong.
const maxFaults = 20

// reserved are the names that never stand for a field by themselves.
var reserved = []string{"sort", "limit", "fields", "filter", "after", "before", "expand", "version",
	"lastEventId"}

// own are the reserved names that are read here.
var own = reserved[:4]

// comparisons are all that may stand behind the dot of a parameter's name.
var comparisons = []Op{Eq, Ne, In, NotIn, Lt, Lte, Gt, Gte, Contains, StartsWith, IsNull}

// parser reads one URL. It goes on after a fault, to find them all.
type parser struct {
	opts   ParseOptions // with the defaults filled in
	params url.Values   // without those to ignore
	faults Errors
	terms  int // comparisons so far
}

// newParser sees to everything that does not depend on what is asked, so that the methods need no defaults and meet no
// parameter of somebody else's. Deleting those from a copy is why v itself is left as it was.
func newParser(v url.Values, opts *ParseOptions) *parser {
	p := &parser{params: maps.Clone(v)}
	if opts != nil {
		p.opts = *opts
	}
	o := &p.opts
	o.ID = cmp.Or(o.ID, "id")
	o.MaxLimit = orDefault(o.MaxLimit, 200)
	// A default that may not be asked for would make a query that Values writes and Parse refuses.
	o.DefaultLimit = min(orDefault(o.DefaultLimit, 50), o.MaxLimit)
	o.MaxTerms = orDefault(o.MaxTerms, 20)
	o.MaxValues = orDefault(o.MaxValues, 200)
	o.MaxSort = orDefault(o.MaxSort, 4)
	for _, name := range o.Ignore {
		delete(p.params, name)
	}
	return p
}

// orDefault takes negative numbers for absent ones too; there is no sensible bound below one.
func orDefault(n, otherwise int) int {
	if n <= 0 {
		return otherwise
	}
	return n
}

// fault notes what is wrong with a parameter. Everything is read in an order that is always the same, so it is always
// the same faults that find room.
func (p *parser) fault(parameter, code, detail string) {
	if len(p.faults) < maxFaults {
		p.faults = append(p.faults, &Error{Parameter: parameter, Code: code, Detail: detail})
	}
}

// single gives the text of a parameter that has one value, and whether there is one to be read.
func (p *parser) single(name string) (text string, ok bool) {
	texts := p.params[name]
	if len(texts) == 0 {
		return "", false
	}
	return p.one(name, texts)
}

// one reduces the texts of a parameter to one: giving it twice is harmless as long as both say the same.
func (p *parser) one(name string, texts []string) (text string, ok bool) {
	for _, t := range texts[1:] {
		if t != texts[0] {
			p.fault(name, duplicateParameter, "comes twice with different values")
			return "", false
		}
	}
	return texts[0], p.valid(name, texts[0])
}

// valid refuses bytes that are no text, which stores and JSON would refuse later and less clearly.
func (p *parser) valid(name, text string) bool {
	if !utf8.ValidString(text) {
		p.fault(name, invalidValue, "is not valid UTF-8")
		return false
	}
	return true
}

// limit refuses a number above the maximum instead of lowering it: a client that counts on its limit takes a shorter
// page for the last one.
func (p *parser) limit() int {
	text, ok := p.single("limit")
	if !ok {
		return p.opts.DefaultLimit
	}
	n, err := strconv.Atoi(text)
	// The second test refuses the other spellings of a number: +5, 05.
	if err != nil || strconv.Itoa(n) != text || n < 1 || n > p.opts.MaxLimit {
		p.fault("limit", invalidValue, "must be a whole number from 1 to "+strconv.Itoa(p.opts.MaxLimit))
	}
	return n
}

// sort reads the keys the client named. That the id follows them, so that the order is total, is the caller's doing:
// it must not show in what is read back.
func (p *parser) sort() []Order {
	text, ok := p.single("sort")
	if !ok {
		return nil
	}
	if text == "" {
		p.fault("sort", invalidValue, "must name at least one field")
		return nil
	}
	// Counted before the names are looked at, which one could make very many of.
	if strings.Count(text, ",") >= p.opts.MaxSort {
		p.fault("sort", tooMany, "can have at most "+strconv.Itoa(p.opts.MaxSort)+" fields")
		return nil
	}
	var keys []Order
	for name := range strings.SplitSeq(text, ",") {
		field, desc := strings.CutPrefix(name, "-")
		if err := p.opts.Support.checkSort(field, p.opts.ID); err != nil {
			p.fault("sort", err.Code, err.Detail)
			continue
		}
		if slices.ContainsFunc(keys, func(o Order) bool { return o.Field == field }) {
			p.fault("sort", invalidValue, "names "+field+" twice")
			continue
		}
		keys = append(keys, Order{Field: field, Desc: desc})
	}
	return keys
}

// fields keeps the order given and each name once. Whether there is such a field, only a schema can say.
func (p *parser) fields() []string {
	text, ok := p.single("fields")
	if !ok {
		return nil
	}
	var names []string
	seen := make(map[string]bool)
	for name := range strings.SplitSeq(text, ",") {
		if name == "" {
			p.fault("fields", invalidValue, "must be names of fields, separated by commas")
			return nil
		}
		if !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	return names
}

// filter joins all conditions, in an order that does not depend on that of the URL. Trees come last, as written.
func (p *parser) filter() Filter {
	conditions := p.conditions()
	if text, ok := p.single("filter"); ok {
		conditions = append(conditions, p.tree(text))
	}
	all := And(conditions...)
	if all.Op == AndOp {
		slices.SortStableFunc(all.Filters, compareTerms)
	}
	return all
}

// compareTerms is the order of conditions. It is what lets Values write them as parameters, which have no order, and
// makes equal questions equal, so that a cursor fits all spellings of its list. Trees stay as they are among
// themselves: sorting them would need an order of trees, for a case that is rare.
func compareTerms(a, b Filter) int {
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

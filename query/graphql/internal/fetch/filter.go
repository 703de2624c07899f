package fetch

// The argument filter: its conversion to a query.Filter, and its limits. Called by list.go and
// watch.go. The schema contains only comparisons that the resource declares in Options.Query, so
// support need not be checked here.

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/resource/schema"
)

// Limits of a filter in addition to Limits.Terms of the catalog. They equal those of REST.
const (
	maxValues = 200 // values of one in or notIn
	maxDepth  = 8   // levels of nested and, or and not
	// maxRelations limits the relations in one path, as in customer: {company: {...}}.
	maxRelations = 3
)

// filterReader converts the argument filter. It continues after an error, to report several. The
// result is used only if bad is empty.
type filterReader struct {
	bad   *violations // shared with the other arguments of the field
	terms int         // comparisons that are still allowed
	most  int         // initial value of terms, for messages
	// operands is the number of operands of and and or that are still allowed. A comparison occurs
	// in at most maxDepth of them. Without this limit a request could contain many operands without
	// comparisons and use them for each root field.
	operands int
	// relations is the number of relations that lead to the current object.
	relations int
}

// filter returns the argument filter as a query.Filter. It adds errors to bad. It returns the zero
// Filter, which matches all items, if the argument is absent or null.
func (x *Fetcher) filter(f *model.Field, args map[string]any, bad *violations) query.Filter {
	given, _ := args["filter"].(map[string]any)
	if given == nil {
		return query.Filter{}
	}
	r := filterReader{bad: bad, terms: x.limits.Terms, most: x.limits.Terms,
		operands: x.limits.Terms * maxDepth}
	return r.object(f.Arg("filter").Type.Named(), given, "filter", 0)
}

// object converts a filter object. Its members are combined with and, in the order of the
// model, so that equal filters are equal queries and share cursors. The depth is limited, because
// the filter types are recursive and stores translate filters recursively.
func (r *filterReader) object(t *model.Type, given map[string]any, at string, depth int) query.Filter {
	if depth > maxDepth {
		r.bad.add(at, "tooMany", fmt.Sprintf("and, or and not can be nested at most %d deep", maxDepth))
		return query.Filter{}
	}
	var all []query.Filter
	for _, in := range t.Inputs {
		value := given[in.Name]
		if value == nil {
			continue // absent, or null, which has the same meaning
		}
		at := at + "." + in.Name
		switch value := value.(type) {
		case []any:
			fs := r.readList(t, value, at, depth+1)
			if in.Name == string(query.OrOp) {
				all = append(all, query.Or(fs...))
			} else {
				all = append(all, query.And(fs...))
			}
		// A member has comparisons, and not has a filter of the same type.
		case map[string]any:
			switch {
			case in.Member != nil:
				all = append(all, r.field(in, value, at))
			case in.Relation != "":
				all = append(all, r.relation(in, value, at, depth))
			case in.Name != string(query.NotOp): // the aggregates of a function
				all = append(all, r.object(in.Type.Named(), value, at, depth))
			default:
				all = append(all, query.Not(r.object(t, value, at, depth+1)))
			}
		}
	}
	return query.And(all...)
}

// readList converts the operands of and and or. Only the first operand beyond the limit is
// reported.
func (r *filterReader) readList(t *model.Type, given []any, at string, depth int) []query.Filter {
	var fs []query.Filter
	for i, one := range given {
		if r.operands--; r.operands < 0 {
			if r.operands == -1 {
				r.bad.add(at+"["+strconv.Itoa(i)+"]", "tooMany",
					fmt.Sprintf("and and or can have at most %d conditions in all",
						r.most*maxDepth))
			}
			break
		}
		one, _ := one.(map[string]any)
		fs = append(fs, r.object(t, one, at+"["+strconv.Itoa(i)+"]", depth))
	}
	return fs
}

// field converts the comparisons of one field. A null value of isNull means that it is absent. For
// other operators, scalar rejects null.
func (r *filterReader) field(in *model.Input, given map[string]any, at string) query.Filter {
	var all []query.Filter
	for _, op := range in.Type.Named().Inputs {
		value, ok := given[op.Name]
		if !ok || value == nil && op.Name == string(query.IsNull) {
			continue
		}
		if !r.countTerm(at) {
			break
		}
		if value, ok := r.operand(in.Member, query.Op(op.Name), value, at+"."+op.Name); ok {
			all = append(all, query.Filter{Op: query.Op(op.Name), Field: in.Member.Name, Value: value})
		}
	}
	return query.And(all...)
}

// countTerm counts a comparison. It reports the first one beyond the limit.
func (r *filterReader) countTerm(at string) bool {
	if r.terms--; r.terms == -1 {
		r.bad.add(at, "tooMany", fmt.Sprintf("there can be at most %d comparisons", r.most))
	}
	return r.terms >= 0
}

// relation converts the conditions on related items.
func (r *filterReader) relation(in *model.Input, given map[string]any, at string, depth int) query.Filter {
	if r.relations == maxRelations {
		r.bad.add(at, "tooMany", fmt.Sprintf("at most %d relations can follow each other", maxRelations))
		return query.Filter{}
	}
	r.relations++
	defer func() { r.relations-- }()
	if !in.Many {
		if !r.countTerm(at) {
			return query.Filter{}
		}
		return query.Some(in.Relation, r.object(in.Type.Named(), given, at, depth))
	}
	var all []query.Filter
	for _, quantifier := range in.Type.Named().Inputs {
		value, ok := given[quantifier.Name].(map[string]any)
		if !ok { // absent, or null
			continue
		}
		at := at + "." + quantifier.Name
		if !r.countTerm(at) {
			break
		}
		f := r.object(quantifier.Type.Named(), value, at, depth)
		switch quantifier.Name {
		case "some":
			f = query.Some(in.Relation, f)
		case "none":
			f = query.Not(query.Some(in.Relation, f))
		default:
			f = query.Not(query.Some(in.Relation, query.Not(f)))
		}
		all = append(all, f)
	}
	return query.And(all...)
}

// hasRelation reports whether a filter has conditions on related items.
func hasRelation(f query.Filter) bool {
	return f.Op == query.SomeOp || slices.ContainsFunc(f.Filters, hasRelation)
}

// operand converts the value of a comparison to canonical form. A list occurs for in and notIn
// only. It counts as one comparison, so its length has a limit of its own.
func (r *filterReader) operand(f *schema.Field, op query.Op, value any, at string) (any, bool) {
	list, many := value.([]any)
	if !many {
		return r.scalar(f, op, value, at)
	}
	if len(list) > maxValues {
		r.bad.add(at, "tooMany", fmt.Sprintf("there can be at most %d values", maxValues))
		return nil, false
	}
	out := make([]any, 0, len(list))
	// The operators in and notIn have no meaning for null, so scalar rejects it in a list, too.
	for i, one := range list {
		value, ok := r.scalar(f, op, one, at+"["+strconv.Itoa(i)+"]")
		if !ok {
			return nil, false
		}
		out = append(out, value)
	}
	return out, true
}

// scalar converts a single value to canonical form. It parses the text of the value, so that the
// limits of the member apply: 300 is not an int8, and 01 is not an id. The operators that search
// for a part of a text take it as it is.
func (r *filterReader) scalar(f *schema.Field, op query.Op, value any, at string) (any, bool) {
	switch {
	case value == nil:
		r.bad.add(at, "null", "must not be null; use isNull")
		return nil, false
	case op == query.IsNull, op == query.StartsWith, op == query.Contains && !f.ComparableElem():
		return value, true // for an enum, the operand may be a part of a value
	}
	got, err := f.ParseOperand(textOf(value))
	if err != nil {
		r.bad.add(at, "invalidValue", err.Error())
		return nil, false
	}
	got = query.Canonical(got)
	// The conversion to UTC can move a time out of the range of RFC 3339 and of many stores.
	if t, ok := got.(time.Time); ok && (t.Year() < 0 || t.Year() > 9999) {
		r.bad.add(at, "invalidValue", "must be in the years 0 to 9999, in UTC")
		return nil, false
	}
	return got, true
}

// textOf returns a scalar in the form that [schema.Field.ParseOperand] accepts. An enum value is the
// string of its member, and a time has its offset, which Canonical converts to UTC.
func textOf(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case time.Time:
		return v.Format(time.RFC3339Nano)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return fmt.Sprint(v) // bool and integers
}

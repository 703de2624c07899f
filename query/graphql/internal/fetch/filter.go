package fetch

import (
	"fmt"
	"strconv"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/resource/schema"
)

// Bounds of a filter beside the number of its comparisons, which the catalog sets. They are those of the other doors.
const (
	maxValues = 200 // in one in or notIn
	maxDepth  = 8   // of and, or and not within each other
)

// filterReader makes a filter of an argument. It goes on after a mistake, to find more of them.
type filterReader struct {
	bad   *complaints
	terms int // that are still allowed
	most  int
	// operands of and and or that are still allowed. Each comparison stands in no more of them than they can be nested. Those
	// without any are cheap to send by the hundred thousand, and a variable brings them to every field of the root.
	operands int
}

// filter reads the argument filter.
func (x *Fetcher) filter(f *model.Field, args map[string]any, bad *complaints) query.Filter {
	given, _ := args["filter"].(map[string]any)
	if given == nil {
		return query.Filter{}
	}
	r := filterReader{bad: bad, terms: x.limits.Terms, most: x.limits.Terms,
		operands: x.limits.Terms * maxDepth}
	return r.object(f.Arg("filter").Type.Named(), given, "filter", 0)
}

// object reads a filter object: all of its members must hold. They are taken in the order of the model, whatever that of
// the client, so that equal questions are equal and a cursor fits all spellings of its list.
func (r *filterReader) object(t *model.Type, given map[string]any, at string, depth int) query.Filter {
	if depth > maxDepth {
		r.bad.add(at, "tooMany", fmt.Sprintf("and, or and not can be nested at most %d deep", maxDepth))
		return query.Filter{}
	}
	var all []query.Filter
	for _, in := range t.Inputs {
		value := given[in.Name]
		if value == nil {
			continue // absent, or null, which asks for nothing
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
		case map[string]any:
			if in.Member != nil {
				all = append(all, r.field(in, value, at))
			} else {
				all = append(all, query.Not(r.object(t, value, at, depth+1)))
			}
		}
	}
	return query.And(all...)
}

// readList reads the filters of an and or an or.
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

// field reads the comparisons of one field.
func (r *filterReader) field(in *model.Input, given map[string]any, at string) query.Filter {
	var all []query.Filter
	for _, op := range in.Type.Named().Inputs {
		value, ok := given[op.Name]
		if !ok || value == nil && op.Name == string(query.IsNull) {
			continue
		}
		if r.terms--; r.terms < 0 {
			if r.terms == -1 {
				r.bad.add(at, "tooMany", fmt.Sprintf("there can be at most %d comparisons", r.most))
			}
			break
		}
		if value, ok := r.operand(in.Member, query.Op(op.Name), value, at+"."+op.Name); ok {
			all = append(all, query.Filter{Op: query.Op(op.Name), Field: in.Member.Name, Value: value})
		}
	}
	return query.And(all...)
}

// operand makes canonical what a field is compared with.
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
	for i, one := range list {
		value, ok := r.scalar(f, op, one, at+"["+strconv.Itoa(i)+"]")
		if !ok {
			return nil, false
		}
		out = append(out, value)
	}
	return out, true
}

// scalar makes one value canonical. It goes by the text of the value, as it does everywhere else, so that the bounds of
// the member hold: 300 is no int8, and 01 no id.
func (r *filterReader) scalar(f *schema.Field, op query.Op, value any, at string) (any, bool) {
	switch {
	case value == nil:
		r.bad.add(at, "null", "nothing compares with null; ask isNull instead")
		return nil, false
	case op == query.IsNull, op == query.Contains, op == query.StartsWith:
		return value, true // the beginning of an enum's value is none of its values
	}
	got, err := f.Parse(textOf(value))
	if err != nil {
		r.bad.add(at, "invalidValue", err.Error())
		return nil, false
	}
	got = query.Canonical(got)
	// A zone can carry a time at the edge out of what RFC 3339 and many stores can write.
	if t, ok := got.(time.Time); ok && (t.Year() < 0 || t.Year() > 9999) {
		r.bad.add(at, "invalidValue", "must be in the years 0 to 9999, in UTC")
		return nil, false
	}
	return got, true
}

// textOf returns a scalar as [schema.Field.Parse] reads it.
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

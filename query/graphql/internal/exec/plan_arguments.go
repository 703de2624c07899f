package exec

// Arguments: coerced at compile time if they are constant, and otherwise in each run. Also the
// limits that depend on them: the size of a plan in the cache and of repeated variables.

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/query/graphql/internal/coerce"
	"github.com/stoa-go/stoa/query/graphql/internal/gqlerror"
	"github.com/stoa-go/stoa/query/graphql/internal/parser"
)

// arguments coerces the arguments of a field at compile time, unless they depend on variables.
// Those are coerced in each run.
//
// Concurrent runs share the result, which must not be modified.
func (c *compiler) arguments(n *field, given []*parser.Argument) {
	if len(n.def.Args) == 0 {
		return
	}
	// use increments c.used for each variable, also within lists and input objects.
	before := c.used
	for _, arg := range given {
		c.use(arg.Value)
	}
	if c.used > before {
		n.given = given
		c.to.dynamic = append(c.to.dynamic, n)
		n.dynamic = len(c.to.dynamic)
		c.bytes += weightOf(given)
		return
	}
	// This cannot fail in a valid document. If it does, each run reports a field error.
	n.constant, n.fixed = coerce.Arguments(n.def.Args, given, nil, map[string]any{})
	c.bytes += weight(n.constant)
}

// The cache is limited by size. Arguments can use a hundred times the memory of their text, so
// their memory is estimated here, rounded up. TestPlanBytes compares the estimate with the memory
// in use.

// weight is about how many bytes a coerced value takes. Maps are made for eight, however few they hold.
func weight(v any) int {
	switch v := v.(type) {
	case string:
		return 16 // string header; the text is part of the document
	case []any:
		total := 24 + 16*len(v)
		for _, item := range v {
			total += weight(item)
		}
		return total
	case map[string]any:
		total := 350 * (1 + len(v)/8)
		for _, item := range v {
			total += weight(item)
		}
		return total
	}
	return 8
}

// weightOf estimates the memory of the syntax tree of arguments. Names and strings are part of the
// document, which is counted separately.
func weightOf(given []*parser.Argument) int {
	total := 0
	for _, arg := range given {
		total += 200 + weightOfValue(arg.Value)
	}
	return total
}

// weightOfValue is weightOf for one literal.
func weightOfValue(v parser.Value) int {
	total := 120
	switch v := v.(type) {
	case *parser.ListValue:
		for _, item := range v.Values {
			total += weightOfValue(item)
		}
	case *parser.ObjectValue:
		for _, f := range v.Fields {
			total += 200 + weightOfValue(f.Value)
		}
	}
	return total
}

// use counts the variables in a literal. Those in conditions are not counted, because they are
// Booleans.
func (c *compiler) use(v parser.Value) {
	switch v := v.(type) {
	case *parser.Variable:
		if c.to.uses == nil {
			c.to.uses = map[string]int{}
		}
		c.to.uses[v.Name.Value]++
		c.used++
	case *parser.ListValue:
		for _, item := range v.Values {
			c.use(item)
		}
	case *parser.ObjectValue:
		for _, f := range v.Fields {
			c.use(f.Value)
		}
	}
}

// checkRepeated rejects a run if the sizes of its variables, multiplied by their uses, exceed four
// times the size limit of a document. The value of a variable uses memory once, but stores, cursors
// and JSON copy it for each use, and a document may use a large variable thousands of times.
func (r *run) checkRepeated() *gqlerror.Error {
	total, most := 0, 4*cmp.Or(r.e.cfg.Scan.Bytes, 1<<20)
	for name, times := range r.plan.uses {
		// The request body has limited a single use already.
		if times > 1 {
			total += times * size(r.variables[name])
		}
	}
	if total <= most {
		return nil
	}
	return &gqlerror.Error{Code: gqlerror.BadUserInput, Message: fmt.Sprintf(
		"The variables have more than %d bytes; a variable counts each time it is used.", most)}
}

// size estimates the size of a coerced value if it is written. Numbers and Booleans count with a
// constant, because their texts are short.
func size(v any) int {
	switch v := v.(type) {
	case string:
		return 8 + len(v)
	case jsontext.Value:
		return 8 + len(v)
	case []any:
		total := 8
		for _, item := range v {
			total += size(item)
		}
		return total
	case map[string]any:
		total := 8
		for _, item := range v {
			total += 8 + size(item)
		}
		return total
	}
	return 8
}

// argued holds the coerced arguments of a field in a run.
type argued struct {
	values map[string]any // nil after an error
	err    error
	made   map[string]any // values, or an empty map for those of other runs; may be nil
}

// release clears the arguments.
func (a *argued) release() { *a = argued{made: emptied(a.made)} }

// coerceArguments coerces the arguments that depend on variables, once per field and run. An error
// is stored, because it is an error of the field and not of the request (section 6.4.1).
func (r *run) coerceArguments() {
	n := len(r.plan.dynamic)
	r.argued = slices.Grow(r.argued[:0], n)[:n]
	for i, n := range r.plan.dynamic {
		a := &r.argued[i]
		if a.made == nil {
			a.made = make(map[string]any, len(n.def.Args))
		}
		a.values, a.err = coerce.Arguments(n.def.Args, n.given, r.variables, a.made)
	}
}

// args returns the arguments of a field, or the field error if they are not valid.
func (r *run) args(n *field) (map[string]any, error) {
	if n.dynamic > 0 {
		a := &r.argued[n.dynamic-1]
		return a.values, a.err
	}
	return n.constant, n.fixed
}

package exec

import (
	"cmp"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/query/graphql/internal/coerce"
	"github.com/stoa-go/stoa/query/graphql/internal/gqlerror"
	"github.com/stoa-go/stoa/query/graphql/internal/parser"
)

// arguments coerces the arguments of a field when the plan is made, unless they depend on variables: then the tree is kept,
// and each run coerces them anew.
//
// What comes out is shared by all runs, which may go on side by side. Nobody changes it.
func (c *compiler) arguments(n *field, given []*parser.Argument) {
	if len(n.def.Args) == 0 {
		return
	}
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
	// In a valid document this does not fail. Should it do so all the same, it is an error of the field, and of each run.
	n.constant, n.fixed = coerce.Arguments(n.def.Args, given, nil)
	c.bytes += weight(n.constant)
}

// The cache is bounded by bytes, and arguments are where a document of a few kilobytes can take a hundred times that. What
// they take is estimated here, generously; a test compares with what the runtime says.

// weight is about how many bytes a coerced value takes. Maps are made for eight, however few they hold.
func weight(v any) int {
	switch v := v.(type) {
	case string:
		return 16 // of the text that is kept anyway
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

// weightOf is about how many bytes the tree of arguments takes. Names and texts are in the document, which is counted by
// itself.
func weightOf(given []*parser.Argument) int {
	total := 0
	for _, arg := range given {
		total += 200 + weightOfValue(arg.Value)
	}
	return total
}

// weightOfValue is weightOf for one literal: the node, its location, and what stands in it.
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

// use counts the variables in a literal.
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

// A variable of a megabyte may stand in a document five thousand times. Its value is one piece of memory as long as nobody
// writes it anywhere, and stores, cursors and JSON do write it.

// checkRepeated refuses a run whose variables, each as often as it is used, become too much.
func (r *run) checkRepeated() *gqlerror.Error {
	total, most := 0, 4*cmp.Or(r.e.cfg.Scan.Bytes, 1<<20)
	for name, times := range r.plan.uses {
		if times > 1 {
			total += times * size(r.variables[name])
		}
	}
	if total <= most {
		return nil
	}
	return &gqlerror.Error{Code: gqlerror.BadUserInput, Message: fmt.Sprintf(
		"The variables, each as often as it is used, have more than %d bytes.", most)}
}

// size is about how many bytes a coerced value takes where it is written.
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

// argued is what the arguments of a field with variables have become in a run.
type argued struct {
	values map[string]any
	err    error
}

// coerceArguments does it once for each field and run, however many objects have the field.
func (r *run) coerceArguments() {
	for _, n := range r.plan.dynamic {
		var a argued
		a.values, a.err = coerce.Arguments(n.def.Args, n.given, r.variables)
		r.argued = append(r.argued, a)
	}
}

// args returns the arguments of a field. An error is that of the field.
func (r *run) args(n *field) (map[string]any, error) {
	if n.dynamic > 0 {
		a := &r.argued[n.dynamic-1]
		return a.values, a.err
	}
	return n.constant, n.fixed
}

package exec

// @skip and @include: compiled to switches by plan_collect.go, evaluated by run.go.

import (
	"slices"

	"github.com/stoa-go/stoa/query/graphql/internal/gqlerror"
	"github.com/stoa-go/stoa/query/graphql/internal/parser"
)

// Fields may be skipped or included depending on variables (section 3.13), which are not known at
// compile time. Therefore each conditional field has a switch. A run sets all switches before it
// fetches. Unconditional fields use switch 0, which is always on.

// term is a condition on a variable: the value that it must have for a field to be selected.
type term struct {
	variable string
	want     bool
}

// choice sets the switch of a fieldOp. The op is on if all terms hold and no earlier op of its
// group is on. Plan.choices has those of one group in the order of the response, so an earlier op
// has been decided before.
type choice struct {
	terms       []term
	step, group int               // switches
	location    gqlerror.Location // location of the field, for errors
}

// conditions adds the conditions of @skip and @include (section 3.13) to when. It returns false if
// the selection is never included.
func (c *compiler) conditions(when []term, directives []*parser.Directive) ([]term, bool) {
	for _, d := range directives {
		name := d.Name.Value
		if name != "skip" && name != "include" || len(d.Arguments) == 0 {
			continue
		}
		want := name == "include"
		switch v := d.Arguments[0].Value.(type) {
		case *parser.BooleanValue:
			if v.Value != want {
				return nil, false
			} // otherwise the condition is always met
		case *parser.Variable:
			t := term{v.Name.Value, want}
			// Conditions on one variable exclude each other.
			if slices.Contains(when, term{t.variable, !want}) {
				return nil, false
			}
			if !slices.Contains(when, t) {
				// Siblings share the array of when, so it must be copied.
				when = append(slices.Clip(when), t)
			}
		}
	}
	return when, true
}

// within reports whether a holds whenever b holds. A condition is the conjunction of its terms, so
// a must have no term that b lacks.
func within(a, b []term) bool {
	return !slices.ContainsFunc(a, func(t term) bool { return !slices.Contains(b, t) })
}

// addOps creates the ops of a selection set from the candidates, and the choices between them. Most
// groups have a single unconditional candidate and need no choice. A conditional occurrence gets a
// switch of its own and shares the switch of its group, which fetches use.
func (c *compiler) addOps(s *selectionSet, order []candidate) {
	seen := map[*group]bool{}
	for _, at := range order {
		n := at.group.field
		switch {
		// The first occurrence is unconditional, so the position in the response is fixed.
		case len(at.when) == 0 && !seen[at.group]:
			s.ops = append(s.ops, fieldOp{field: n})
		default:
			if n.group == 0 { // on if any op of the group is on
				n.group = c.to.newSwitch()
			}
			ch := choice{terms: at.when, step: c.to.newSwitch(), group: n.group, location: n.locations[0]}
			c.to.choices = append(c.to.choices, ch)
			c.bytes += 96 + 24*len(at.when)
			s.ops = append(s.ops, fieldOp{field: n, when: ch.step})
		}
		seen[at.group] = true
	}
}

// newSwitch returns a new switch.
func (p *Plan) newSwitch() int {
	p.switches++
	return p.switches - 1
}

// evalConditions sets the switches of a run. It returns an error if a variable is null, which the
// type of a variable with a default allows, but a condition does not (section 5.8.5).
func (r *run) evalConditions() *gqlerror.Error {
	r.on = append(r.on[:0], true)
	if n := r.plan.switches; n > 1 {
		r.on = slices.Grow(r.on, n)[:n]
		clear(r.on[1:])
	}
	for i := range r.plan.choices {
		c := &r.plan.choices[i]
		on := !r.on[c.group]
		for _, t := range c.terms {
			// Variables in conditions are booleans or, with a default, null.
			value, ok := r.variables[t.variable].(bool)
			if !ok {
				return &gqlerror.Error{Code: gqlerror.BadUserInput,
					Locations: []gqlerror.Location{c.location},
					Message: `Argument "if" of a directive must not be null, as the variable "$` +
						t.variable + `" is.`}
			}
			on = on && value == t.want
		}
		if on {
			r.on[c.step], r.on[c.group] = true, true
		}
	}
	return nil
}

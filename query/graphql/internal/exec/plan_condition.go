package exec

import (
	"slices"

	"github.com/stoa-go/stoa/query/graphql/internal/gqlerror"
	"github.com/stoa-go/stoa/query/graphql/internal/parser"
)

// Fields may be skipped or included by variables (section 3.13), which are not known when a plan is made. So whatever
// depends on them gets a switch there, and a run sets all switches once, before anything is fetched. To go through the
// answer is then to look at switches, and what is always there has one that is always on.

// term is what a variable has to be for something to be selected.
type term struct {
	variable string
	want     bool
}

// choice decides about one fieldOp: it is on if all terms hold and no earlier one of its group is on.
type choice struct {
	terms       []term
	step, group int            // switches
	place       gqlerror.Place // of the field, for errors
}

// conditions adds @skip and @include (section 3.13) to terms. It reports false if it is known already that what has the
// directives is not selected.
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
			} // else it says nothing
		case *parser.Variable:
			t := term{v.Name.Value, want}
			// Skipped and included by one variable, here or further out, it never is.
			if slices.Contains(when, term{t.variable, !want}) {
				return nil, false
			}
			if !slices.Contains(when, t) {
				when = append(slices.Clip(when), t)
			}
		}
	}
	return when, true
}

// within reports whether a holds wherever b does.
func within(a, b []term) bool {
	return !slices.ContainsFunc(a, func(t term) bool { return !slices.Contains(b, t) })
}

// decide makes the ops of a selection set of the places where its groups may begin, and the choices between them. Most
// groups have one place, without a condition, and then there is no choice.
func (c *compiler) decide(s *selectionSet, order []candidate) {
	seen := map[*group]bool{}
	for _, at := range order {
		n := at.group.field
		switch {
		case len(at.when) == 0 && !seen[at.group]:
			s.ops = append(s.ops, fieldOp{field: n})
		default:
			if n.group == 0 { // which is on if any of its places is
				n.group = c.to.newSwitch()
			}
			ch := choice{terms: at.when, step: c.to.newSwitch(), group: n.group, place: n.places[0]}
			c.to.choices = append(c.to.choices, ch)
			c.bytes += 96 + 24*len(at.when)
			s.ops = append(s.ops, fieldOp{field: n, when: ch.step})
		}
		seen[at.group] = true
	}
}

// newSwitch returns a switch that nobody has yet.
func (p *Plan) newSwitch() int {
	p.switches++
	return p.switches - 1
}

// evalConditions sets the switches of a run. It fails if a variable is null: the type of a variable with a default allows
// null, but no condition can be null (section 5.8.5).
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
			// Variables in conditions have a type that holds nothing but booleans and, with a default, null.
			value, ok := r.variables[t.variable].(bool)
			if !ok {
				return &gqlerror.Error{Code: gqlerror.BadUserInput, Places: []gqlerror.Place{c.place},
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

package validate

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/query/graphql/internal/parser"
)

// explainBudget is how many pairs of fields are compared to name a conflict. It is known by then that there is one, so
// giving up costs no more than the explanation.
const explainBudget = 4_000

// explain reports every selection set that has fields in conflict, and why, one pair after the other.
func (v *validator) explain() {
	before := len(v.errors)
	e := explainer{v: v, left: explainBudget}
	for _, op := range v.operations {
		e.set(op.set, op.root)
	}
	for _, f := range v.fragments {
		e.set(f.set, f.on)
	}
	if len(v.errors) == before {
		v.report("OverlappingFieldsCanBeMerged", tooComplex)
	}
}

// pairs remembers fields that were compared, and whether as fields that may be asked of the same object, which says
// more.
type pairs map[[2]*parser.Field]bool

// conflict is why two fields cannot be merged.
type conflict struct {
	key, why string
	at       [2][]*parser.Location
}

type explainer struct {
	v    *validator
	left int
}

// over reports whether to stop: the budget is spent, or enough is said.
func (e *explainer) over() bool { return e.left < 0 || e.v.enough() }

// set reports the conflicts that first meet in this selection set, and then those further down.
func (e *explainer) set(set *parser.SelectionSet, from *model.Type) {
	if e.over() {
		return
	}
	g := e.expand(selected{set, from})
	for _, first := range g.first {
		for i := first; i >= 0; i = g.fields[i].next {
			for j := g.fields[i].next; j >= 0 && !e.over(); j = g.fields[j].next {
				if c := e.compare(&g.fields[i], &g.fields[j], false); c != nil {
					e.v.report("OverlappingFieldsCanBeMerged", fmt.Sprintf("Fields %q conflict because %s. "+
						"Use different aliases on the fields to fetch both if this was intentional.", c.key,
						c.why),
						append(c.at[0], c.at[1]...)...)
				}
			}
		}
	}
	e.below(set, from)
}

// below goes into the selection sets of the fields that stand in this one, fragments left to their definitions.
func (e *explainer) below(set *parser.SelectionSet, from *model.Type) {
	for _, s := range set.Selections {
		switch s := s.(type) {
		case *parser.Field:
			if s.SelectionSet != nil {
				e.set(s.SelectionSet, e.typeOf(s, from))
			}
		case *parser.InlineFragment:
			e.below(s.SelectionSet, e.v.condition(s, from))
		}
	}
}

// typeOf returns what a field selects from, or nil if that is not known.
func (e *explainer) typeOf(f *parser.Field, from *model.Type) *model.Type {
	if from == nil {
		return nil
	}
	if def := e.v.schema.Field(from, f.Name.Value); def != nil {
		return selectable(def.Type)
	}
	return nil
}

// expand puts together what one selection set selects, at the expense of this budget.
func (e *explainer) expand(s selected) groups {
	o := overlapper{v: e.v}
	g := o.expand([]selected{s})
	e.left += o.left // which is below zero now
	return g
}

// compare returns why two fields with the same key are in conflict, or nil. Apart says that they cannot be asked of the
// same object, because of a field around them.
func (e *explainer) compare(a, b *merging, apart bool) *conflict {
	if a.node == b.node {
		return nil
	}
	e.left--
	// Objects of different types: one answer never has both fields at one place, here or further down.
	apart = apart || a.from != b.from && isObject(a.from) && isObject(b.from)
	pair := [2]*parser.Field{a.node, b.node}
	// What was compared as meeting in one answer was compared more strictly than what is apart.
	if known, ok := e.v.compared[pair]; ok && (!known || apart) {
		return nil
	}
	if e.v.compared == nil {
		e.v.compared = pairs{}
	}
	e.v.compared[pair] = apart
	why := ""
	if !apart {
		why = differ(a.node, b.node)
	}
	if why == "" && a.def != nil && b.def != nil && shapesConflict(a.def.Type, b.def.Type) {
		why = fmt.Sprintf(`they return conflicting types "%s" and "%s"`, a.def.Type, b.def.Type)
	}
	if why != "" {
		return &conflict{key: responseKey(a.node), why: why,
			at: [2][]*parser.Location{{a.node.Loc}, {b.node.Loc}}}
	}
	if a.node.SelectionSet == nil || b.node.SelectionSet == nil {
		return nil
	}
	return e.between(a, b, apart)
}

// between compares what two fields select, and makes one conflict of those that it finds.
func (e *explainer) between(a, b *merging, apart bool) *conflict {
	left, right := e.expand(a.below()), e.expand(b.below())
	byKey := make(map[string]int, len(right.first))
	for _, first := range right.first {
		byKey[responseKey(right.fields[first].node)] = first
	}
	var found []*conflict
	for _, first := range left.first {
		other, ok := byKey[responseKey(left.fields[first].node)]
		for i := first; ok && i >= 0; i = left.fields[i].next {
			for j := other; j >= 0 && !e.over(); j = right.fields[j].next {
				if c := e.compare(&left.fields[i], &right.fields[j], apart); c != nil {
					found = append(found, c)
				}
			}
		}
	}
	return around(a.node, b.node, found)
}

// around is the conflict of two fields that there is because of conflicts below them.
func around(a, b *parser.Field, found []*conflict) *conflict {
	if len(found) == 0 {
		return nil
	}
	const most = 1000 // bytes, about
	c := &conflict{key: responseKey(a), at: [2][]*parser.Location{{a.Loc}, {b.Loc}}}
	var why []string
	length := 0
	for _, inner := range found {
		if length += len(inner.why); length > most {
			break
		}
		why = append(why, fmt.Sprintf("subfields %q conflict because %s", inner.key, inner.why))
		c.at[0] = append(c.at[0], inner.at[0]...)
		c.at[1] = append(c.at[1], inner.at[1]...)
	}
	c.why = strings.Join(why, " and ")
	return c
}

// differ says why two fields of one object do not give the same value, or nothing.
func differ(a, b *parser.Field) string {
	switch {
	case a.Name.Value != b.Name.Value:
		return fmt.Sprintf("%q and %q are different fields", a.Name.Value, b.Name.Value)
	case !sameArguments(a.Arguments, b.Arguments):
		return "they have differing arguments"
	}
	return ""
}

// sameArguments compares arguments by name. Defaults do not count: not given is not the same as given the default.
func sameArguments(a, b []*parser.Argument) bool {
	if len(a) != len(b) {
		return false
	}
	for _, arg := range a {
		found := false
		for _, other := range b {
			if other.Name.Value == arg.Name.Value {
				found = sameValue(arg.Value, other.Value)
				break
			}
		}
		if !found {
			return false
		}
	}
	return true
}

// sameValue compares literals. The fields of objects may stand in any order.
func sameValue(a, b parser.Value) bool {
	switch a := a.(type) {
	case *parser.ListValue:
		b, ok := b.(*parser.ListValue)
		return ok && slices.EqualFunc(a.Values, b.Values, sameValue)
	case *parser.ObjectValue:
		b, ok := b.(*parser.ObjectValue)
		return ok && sameFields(a, b)
	}
	return reflect.TypeOf(a) == reflect.TypeOf(b) && written(a) == written(b)
}

// written returns a value that has no values inside as text.
func written(v parser.Value) string {
	switch v := v.(type) {
	case *parser.IntValue:
		return v.Value
	case *parser.FloatValue:
		return v.Value
	case *parser.StringValue:
		return v.Value
	case *parser.EnumValue:
		return v.Value
	case *parser.Variable:
		return v.Name.Value
	}
	return parser.PrintValue(v)
}

// sameFields compares the fields of objects in any order, and those of one name in theirs.
func sameFields(a, b *parser.ObjectValue) bool {
	if len(a.Fields) != len(b.Fields) {
		return false
	}
	inOrder := func(v *parser.ObjectValue) []*parser.ObjectField {
		return slices.SortedStableFunc(slices.Values(v.Fields), func(a, b *parser.ObjectField) int {
			return strings.Compare(a.Name.Value, b.Name.Value)
		})
	}
	return slices.EqualFunc(inOrder(a), inOrder(b), func(a, b *parser.ObjectField) bool {
		return a.Name.Value == b.Name.Value && sameValue(a.Value, b.Value)
	})
}

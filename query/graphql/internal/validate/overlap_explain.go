package validate

// The messages for fields that cannot be merged. overlap.go calls explain after it has found a
// conflict, because finding the fields compares pairs and is quadratic.

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/query/graphql/internal/parser"
)

// explainBudget limits the number of pairs of fields that are compared to report a conflict. The
// document is known to be invalid at this point, so the limit affects the message only.
const explainBudget = 4_000

// explain reports the conflicts of each selection set, pair by pair. Pairs are compared once, so a
// conflict within a fragment is one error, however often the fragment is spread.
func (v *validator) explain() {
	before := len(v.errors)
	e := explainer{v: v, left: explainBudget}
	for _, op := range v.operations {
		e.selectionSet(op.set, op.root)
	}
	for _, f := range v.fragments {
		e.selectionSet(f.set, f.on)
	}
	// The budget was used up before the conflict was found again.
	if len(v.errors) == before {
		v.report("OverlappingFieldsCanBeMerged", tooComplex)
	}
}

// pairs records compared pairs of fields. The value is true if they were compared as fields that
// cannot apply to the same object, which is the weaker comparison. Without it, the subfields of a
// pair would be compared for each pair of parents.
type pairs map[[2]*parser.Field]bool

// conflict describes why two fields cannot be merged. The locations include those of conflicting
// subfields, separately for each of the two fields.
type conflict struct {
	key, why string                // response key, and the reason as a clause without a period
	at       [2][]*parser.Location // locations on the side of each field
}

// explainer reports conflicts. left is the rest of the budget.
type explainer struct {
	v    *validator
	left int
}

// done reports whether to stop, because the budget is used up or the maximum number of errors is
// reached.
func (e *explainer) done() bool { return e.left < 0 || e.v.enough() }

// selectionSet reports the conflicts between the fields of a selection set, and then those in the
// selection sets of its fields. It compares all pairs of a group. The number of pairs is quadratic,
// so each counts against the budget.
func (e *explainer) selectionSet(set *parser.SelectionSet, from *model.Type) {
	if e.done() {
		return
	}
	g := e.expand(selected{set, from})
	for _, first := range g.first {
		for i := first; i >= 0; i = g.fields[i].next {
			for j := g.fields[i].next; j >= 0 && !e.done(); j = g.fields[j].next {
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

// below calls selectionSet for the selection sets of the fields in this one. Fragments are visited where
// they are defined.
func (e *explainer) below(set *parser.SelectionSet, from *model.Type) {
	for _, s := range set.Selections {
		switch s := s.(type) {
		case *parser.Field:
			if s.SelectionSet != nil {
				e.selectionSet(s.SelectionSet, e.typeOf(s, from))
			}
		case *parser.InlineFragment:
			e.below(s.SelectionSet, e.v.condition(s, from))
		}
	}
}

// typeOf returns the type that the subfields of f select from, or nil if that is unknown.
func (e *explainer) typeOf(f *parser.Field, from *model.Type) *model.Type {
	if from == nil {
		return nil
	}
	if def := e.v.schema.Field(from, f.Name.Value); def != nil {
		return selectable(def.Type)
	}
	return nil
}

// expand groups the fields of one selection set and charges the budget for it.
func (e *explainer) expand(s selected) groups {
	o := overlapper{v: e.v}
	g := o.expand([]selected{s})
	e.left += o.left // o started with 0, so o.left is negative
	return g
}

// compare returns the conflict between two fields with the same response key, or nil. apart reports
// that they cannot apply to the same object, because fields around them cannot. The order of the
// checks is that of the reference implementation, because the first reason becomes the message.
func (e *explainer) compare(a, b *candidate, apart bool) *conflict {
	if a.node == b.node {
		return nil
	}
	// Each comparison counts, whether or not it descends.
	e.left--
	// Fields of different object types never occur in one object of the response.
	apart = apart || a.from != b.from && isObject(a.from) && isObject(b.from)
	pair := [2]*parser.Field{a.node, b.node}
	// A pair that was compared without apart was compared by both rules.
	if known, ok := e.v.compared[pair]; ok && (!known || apart) {
		return nil
	}
	if e.v.compared == nil {
		e.v.compared = pairs{}
	}
	e.v.compared[pair] = apart
	why := ""
	if !apart {
		why = difference(a.node, b.node)
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
	return e.compareSubfields(a, b, apart)
}

// compareSubfields compares the subfields of two fields. It combines the conflicts found into one.
// Subfields of fields that cannot apply to the same object cannot either, so apart is passed on.
func (e *explainer) compareSubfields(a, b *candidate, apart bool) *conflict {
	left, right := e.expand(a.below()), e.expand(b.below())
	byKey := make(map[string]int, len(right.first))
	for _, first := range right.first {
		byKey[responseKey(right.fields[first].node)] = first
	}
	var found []*conflict
	for _, first := range left.first {
		other, ok := byKey[responseKey(left.fields[first].node)]
		for i := first; ok && i >= 0; i = left.fields[i].next {
			for j := other; j >= 0 && !e.done(); j = right.fields[j].next {
				if c := e.compare(&left.fields[i], &right.fields[j], apart); c != nil {
					found = append(found, c)
				}
			}
		}
	}
	return subfieldConflict(a.node, b.node, found)
}

// subfieldConflict returns a conflict of two fields that results from conflicts of their subfields,
// or nil if found is empty. The message repeats those of the subfields, so without a limit it would
// grow with every level.
func subfieldConflict(a, b *parser.Field, found []*conflict) *conflict {
	if len(found) == 0 {
		return nil
	}
	const most = 1000 // approximate limit of the message in bytes
	c := &conflict{key: responseKey(a), at: [2][]*parser.Location{{a.Loc}, {b.Loc}}}
	var why []string
	length := 0
	for _, inner := range found {
		// The first reason is kept at any length, because a message without one is useless.
		if length += len(inner.why); length > most && why != nil {
			break
		}
		why = append(why, fmt.Sprintf("subfields %q conflict because %s", inner.key, inner.why))
		c.at[0] = append(c.at[0], inner.at[0]...)
		c.at[1] = append(c.at[1], inner.at[1]...)
	}
	c.why = strings.Join(why, " and ")
	return c
}

// difference returns why two fields of one object cannot have the same value, or "". It implements
// the rule "same" of mergeable: the fields need the same name and the same arguments.
func difference(a, b *parser.Field) string {
	switch {
	case a.Name.Value != b.Name.Value:
		return fmt.Sprintf("%q and %q are different fields", a.Name.Value, b.Name.Value)
	case !sameArguments(a.Arguments, b.Arguments):
		return "they have differing arguments"
	}
	return ""
}

// sameArguments reports whether two lists contain equal arguments in any order. Default values are
// ignored: an absent argument differs from one with the default value. The search is quadratic, but
// fields have few arguments, and lists of different lengths are not searched.
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

// sameValue compares literals. The fields of input objects may have any order. Literals are
// compared as written, without the type of the argument: 1 and 1.0 differ.
func sameValue(a, b parser.Value) bool {
	switch a := a.(type) {
	case *parser.ListValue:
		b, ok := b.(*parser.ListValue)
		return ok && slices.EqualFunc(a.Values, b.Values, sameValue)
	case *parser.ObjectValue:
		b, ok := b.(*parser.ObjectValue)
		return ok && sameFields(a, b)
	}
	return reflect.TypeOf(a) == reflect.TypeOf(b) && leafText(a) == leafText(b)
}

// leafText returns the text of a value that contains no other values. Variables are compared by
// name: their values are equal if their names are, in every request.
func leafText(v parser.Value) string {
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

// sameFields compares the fields of input objects in any order. Fields with equal names keep their
// relative order.
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

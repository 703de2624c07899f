package validate

import (
	"strings"

	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/query/graphql/internal/parser"
)

// Fields with the same key in the answer have to be mergeable into one (section 5.3.2). The specification says it of
// pairs, of which there may be very many. This file asks the same of sets: all fields with one key are put together,
// compared with one of them, and what they select is put together in turn. That takes time in proportion to the fields,
// counted as often as fragments bring them. Only where it finds a conflict, overlap_explain.go looks for the pairs, to name
// them.
//
// The method is the one described by Simon Adameit for Sangria, with its two questions: fields that may be asked of the
// same object have to be the same field with the same arguments (same), and those that may not still have to give values
// of the same shape, so that clients know what they get (shape).

// overlapBudget is how many selections are looked at, counted as above, before a document is taken for a hostile one. The
// largest that a program would send is far below: it is bounded by Limits.Fields twice.
const overlapBudget = 30_000

// overlaps checks all operations, and with them the fragments that they reach; others are errors already.
func (v *validator) overlaps() {
	if v.enough() {
		return
	}
	o := overlapper{v: v, left: overlapBudget}
	for _, op := range v.operations {
		top := o.expand([]selected{{op.set, op.root}})
		if o.ask(top, question{shape: true, same: true}) {
			continue
		}
		if o.left < 0 {
			v.report("OverlappingFieldsCanBeMerged", tooComplex, op.node.Loc)
		} else {
			v.explain()
		}
		return
	}
}

const tooComplex = "The document selects the same fields in too many ways to tell whether they can be merged."

// selected is a selection set and the type that it selects from, nil if unknown.
type selected struct {
	set  *parser.SelectionSet
	from *model.Type
}

// merging is a field of a set of fields that are to be merged.
type merging struct {
	node *parser.Field
	from *model.Type
	def  *model.Field // nil if unknown
	next int          // the next with the same key, or -1
}

// below is what the field selects.
func (m *merging) below() selected {
	s := selected{set: m.node.SelectionSet}
	if m.def != nil {
		s.from = selectable(m.def.Type)
	}
	return s
}

// groups are fields by their keys.
type groups struct {
	fields []merging
	first  []int // of each group, in the order in which the keys came up
	last   []int
	byKey  map[string]int // the group of a key; nil while there are so few that they are gone through
}

// find returns the group of a key, or -1.
func (g *groups) find(key string) int {
	if g.byKey != nil {
		if i, ok := g.byKey[key]; ok {
			return i
		}
		return -1
	}
	for i, first := range g.first {
		if responseKey(g.fields[first].node) == key {
			return i
		}
	}
	return -1
}

// add puts a field into its group, unless it would only say once more what the last one there said.
func (g *groups) add(m merging) {
	const few = 8
	key := responseKey(m.node)
	i := g.find(key)
	if i < 0 {
		if len(g.first) == few { // from here on a map is faster than going through them
			g.byKey = make(map[string]int, 4*few)
			for i, first := range g.first {
				g.byKey[responseKey(g.fields[first].node)] = i
			}
		}
		if g.byKey != nil {
			g.byKey[key] = len(g.first)
		}
		g.first = append(g.first, len(g.fields))
		g.last = append(g.last, len(g.fields))
	} else {
		last := &g.fields[g.last[i]]
		if last.from == m.from && last.leaf() && m.leaf() && last.node.Name.Value == m.node.Name.Value {
			return
		}
		last.next = len(g.fields)
		g.last[i] = len(g.fields)
	}
	g.fields = append(g.fields, m)
}

// leaf reports whether the field has nothing but its name.
func (m *merging) leaf() bool { return m.node.SelectionSet == nil && len(m.node.Arguments) == 0 }

type overlapper struct {
	v    *validator
	left int
}

// expand puts together what selection sets select, fragments included, each once.
func (o *overlapper) expand(sets []selected) groups {
	var g groups
	c := collector{v: o.v, visit: o.v.nextVisit(), fn: func(f *parser.Field, from *model.Type) {
		m := merging{node: f, from: from, next: -1}
		// introspection merges with anything of its name
		if from != nil && !strings.HasPrefix(f.Name.Value, "__") {
			m.def = o.v.schema.Field(from, f.Name.Value)
		}
		g.add(m)
	}}
	for _, s := range sets {
		if s.set != nil {
			c.selections(s.set, s.from)
		}
	}
	c.fragments()
	o.left -= c.steps
	return g
}

// question is what is asked of fields with the same key.
type question struct {
	shape bool // do they give values of the same shape?
	same  bool // are those the same field that may be asked of the same object?
}

// ask answers a question, at every depth.
func (o *overlapper) ask(g groups, q question) bool {
	for _, first := range g.first {
		// Fields of two different objects never meet in one answer, but fields of an interface meet both.
		parents := g.parents(first)
		if len(parents) == 1 { // so all may be asked of the same object, and both questions go the same way
			if !o.group(g, first, parents[0], q) {
				return false
			}
			continue
		}
		// Shapes are compared across all of them at once, and below them nothing else is asked.
		if q.shape && !o.group(g, first, nil, question{shape: true}) {
			return false
		}
		for _, parent := range parents {
			if q.same && !o.group(g, first, parent, question{same: true}) {
				return false
			}
		}
	}
	return true
}

// group asks of the fields with one key, left out those of other objects than the parent if there is one.
func (o *overlapper) group(g groups, first int, parent *model.Type, q question) bool {
	var one *merging
	var typ *model.Ref
	var below []selected
	for i := first; i >= 0; i = g.fields[i].next {
		f := &g.fields[i]
		if parent != nil && isObject(f.from) && f.from != parent {
			continue
		}
		if one == nil {
			one = f
		}
		// Being the same is transitive, and so is having the same shape: one to compare with is enough.
		if q.same && one != f && differ(one.node, f.node) != "" {
			return false
		}
		switch {
		case f.def == nil || !q.shape:
		case typ == nil:
			typ = f.def.Type
		case shapesConflict(typ, f.def.Type):
			return false
		}
		if f.node.SelectionSet != nil {
			below = append(below, f.below())
		}
	}
	if o.left < 0 {
		return false // and the caller sees that it is for want of budget
	}
	return len(below) == 0 || o.ask(o.expand(below), q)
}

// parents returns the objects that the fields of a group are asked of. Each is to be looked at together with the fields
// of interfaces and unions, which may be of the same object; where there is no object, those are looked at alone, as nil.
func (g *groups) parents(first int) []*model.Type {
	if g.fields[first].next < 0 {
		return []*model.Type{nil}
	}
	var list []*model.Type
	seen := map[*model.Type]bool{}
	for i := first; i >= 0; i = g.fields[i].next {
		if from := g.fields[i].from; isObject(from) && !seen[from] {
			seen[from] = true
			list = append(list, from)
		}
	}
	if len(list) == 0 {
		return []*model.Type{nil}
	}
	return list
}

// isObject reports whether a type is one that values have, and not a way to see them.
func isObject(t *model.Type) bool {
	return t != nil && t.Kind == model.Object
}

// shapesConflict reports whether values of two types cannot be told of one shape: lists, and what may not be null, have
// to be so in both, and scalars and enums have to be the same. Of composite types their fields decide.
func shapesConflict(a, b *model.Ref) bool {
	for a.Elem != nil && b.Elem != nil && a.NonNull == b.NonNull {
		a, b = a.Elem, b.Elem
	}
	if a.NonNull != b.NonNull || a.Elem != nil || b.Elem != nil {
		return true
	}
	return a.Type != b.Type && !(a.Type.IsComposite() && b.Type.IsComposite())
}

// selectable returns the type that fields of a type are selected from, or nil.
func selectable(r *model.Ref) *model.Type {
	if t := r.Named(); t.IsComposite() {
		return t
	}
	return nil
}

// collector finds the fields of selection sets, inline fragments and spread fragments included.
type collector struct {
	v     *validator
	visit int // of fragments: each is entered once
	steps int // selections looked at
	fn    func(f *parser.Field, from *model.Type)

	spread []*fragment // still to be entered
}

// fragments enters what selection sets spread: after them, so that what stands there is named first in messages.
func (c *collector) fragments() {
	for len(c.spread) > 0 {
		list := c.spread
		c.spread = nil
		for _, f := range list {
			c.selections(f.set, f.on)
		}
	}
}

// selections goes over one selection set, and notes what it spreads for later.
func (c *collector) selections(set *parser.SelectionSet, from *model.Type) {
	c.steps += len(set.Selections)
	for _, s := range set.Selections {
		switch s := s.(type) {
		case *parser.Field:
			c.fn(s, from)
		case *parser.InlineFragment:
			c.selections(s.SelectionSet, c.v.condition(s, from))
		case *parser.FragmentSpread:
			if f := c.v.byName[s.Name.Value]; f != nil && f.visit != c.visit {
				f.visit = c.visit
				c.spread = append(c.spread, f)
			}
		}
	}
}

// condition returns the type that an inline fragment selects from.
func (v *validator) condition(f *parser.InlineFragment, from *model.Type) *model.Type {
	if f.TypeCondition == nil {
		return from
	}
	return v.composite(f.TypeCondition)
}

package validate

import (
	"strings"

	"github.com/graphql-go/graphql"
	"github.com/graphql-go/graphql/language/ast"
)

// Fields with the same key in the answer have to be mergeable into one (section 5.3.2). The specification says it of
// pairs, of which there may be very many. This file asks the same of sets: all fields with one key are put together,
// compared with one of them, and what they select is put together in turn. That takes time in proportion to the fields,
// counted as often as fragments bring them. Only where it finds a conflict, conflict.go looks for the pairs, to name
// them.
//
// The method is the one described by Simon Adameit for Sangria, with its two questions: fields that may be asked of the
// same object have to be the same field with the same arguments (same), and those that may not still have to give values
// of the same shape, so that clients know what they get (shape).

// overlapBudget is how many fields are looked at, counted as above, before a document is taken for a hostile one. The
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
		if o.shape(top) && o.same(top) {
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
	set  *ast.SelectionSet
	from graphql.Type
}

// merging is a field of a set of fields that are to be merged.
type merging struct {
	node *ast.Field
	from graphql.Type
	def  *graphql.FieldDefinition // nil if unknown
	next int                      // the next with the same key, or -1
}

// below is what the field selects.
func (m *merging) below() selected {
	s := selected{set: m.node.SelectionSet}
	if m.def != nil {
		s.from = composite(m.def.Type)
	}
	return s
}

// groups are fields by their keys.
type groups struct {
	fields []merging
	first  []int // of each group, in the order in which the keys came up
}

type overlapper struct {
	v    *validator
	left int
}

// expand puts together what selection sets select, fragments included, each once.
func (o *overlapper) expand(sets []selected) groups {
	var g groups
	c := collector{v: o.v, visit: o.v.nextVisit(), fn: func(f *ast.Field, from graphql.Type) {
		m := merging{node: f, from: from, next: -1}
		if from != nil && !strings.HasPrefix(f.Name.Value, "__") { // introspection merges with anything of its name
			m.def = o.v.schema.field(from, f.Name.Value)
		}
		g.fields = append(g.fields, m)
	}}
	for _, s := range sets {
		if s.set != nil {
			c.selections(s.set, s.from)
		}
	}
	o.left -= len(g.fields)
	g.group()
	return g
}

// group links the fields with the same key. Small sets, which most are, are gone through; for others it takes a map.
func (g *groups) group() {
	const small = 12
	var last map[string]int
	if len(g.fields) > small {
		last = make(map[string]int, len(g.fields))
	}
	for i := range g.fields {
		key := responseKey(g.fields[i].node)
		before, ok := last[key]
		for j := i - 1; last == nil && j >= 0 && !ok; j-- {
			before, ok = j, responseKey(g.fields[j].node) == key
		}
		if ok {
			g.fields[before].next = i
		} else {
			g.first = append(g.first, i)
		}
		if last != nil {
			last[key] = i
		}
	}
}

// shape reports whether fields with the same key give values of the same shape, at every depth.
func (o *overlapper) shape(g groups) bool {
	for _, first := range g.first {
		var below []selected
		var typ graphql.Type
		for i := first; i >= 0; i = g.fields[i].next {
			f := &g.fields[i]
			below = append(below, f.below())
			switch {
			case f.def == nil:
			case typ == nil:
				typ = f.def.Type
			case shapesConflict(typ, f.def.Type):
				return false
			}
		}
		if !o.into(below, o.shape) {
			return false
		}
	}
	return true
}

// same reports whether fields that may be asked of the same object are the same field, at every depth.
func (o *overlapper) same(g groups) bool {
	for _, first := range g.first {
		for _, parent := range g.parents(first) {
			var below []selected
			var one *merging
			for i := first; i >= 0; i = g.fields[i].next {
				f := &g.fields[i]
				if parent != nil && isObject(f.from) && f.from != parent {
					continue
				}
				if one == nil {
					one = f
				} else if differ(one.node, f.node) != "" {
					return false
				}
				below = append(below, f.below())
			}
			if !o.into(below, o.same) {
				return false
			}
		}
	}
	return true
}

// parents returns the objects that the fields of a group are asked of. Each is to be looked at together with the fields
// of interfaces and unions, which may be of the same object; where there is no object, those are looked at alone, as nil.
func (g *groups) parents(first int) []graphql.Type {
	if g.fields[first].next < 0 {
		return []graphql.Type{nil}
	}
	var list []graphql.Type
	seen := map[graphql.Type]bool{}
	for i := first; i >= 0; i = g.fields[i].next {
		if from := g.fields[i].from; isObject(from) && !seen[from] {
			seen[from] = true
			list = append(list, from)
		}
	}
	if len(list) == 0 {
		return []graphql.Type{nil}
	}
	return list
}

// into asks the same of what is selected below.
func (o *overlapper) into(below []selected, ask func(groups) bool) bool {
	if o.left < 0 {
		return false
	}
	for _, s := range below {
		if s.set != nil {
			return ask(o.expand(below))
		}
	}
	return true
}

func isObject(t graphql.Type) bool {
	_, ok := t.(*graphql.Object)
	return ok
}

// shapesConflict reports whether values of two types cannot be told of one shape: lists, and what may not be null, have
// to be so in both, and scalars and enums have to be the same. Of composite types their fields decide.
func shapesConflict(a, b graphql.Type) bool {
	for a != b {
		switch wrapA := a.(type) {
		case *graphql.List:
			wrapB, ok := b.(*graphql.List)
			if !ok {
				return true
			}
			a, b = wrapA.OfType, wrapB.OfType
			continue
		case *graphql.NonNull:
			wrapB, ok := b.(*graphql.NonNull)
			if !ok {
				return true
			}
			a, b = wrapA.OfType, wrapB.OfType
			continue
		}
		return !graphql.IsCompositeType(a) || !graphql.IsCompositeType(b)
	}
	return false
}

// collector finds the fields of selection sets, inline fragments and spread fragments included.
type collector struct {
	v     *validator
	visit int // of fragments: each is entered once
	fn    func(f *ast.Field, from graphql.Type)
}

func (c *collector) selections(set *ast.SelectionSet, from graphql.Type) {
	for _, s := range set.Selections {
		switch s := s.(type) {
		case *ast.Field:
			c.fn(s, from)
		case *ast.InlineFragment:
			c.selections(s.SelectionSet, c.v.condition(s, from))
		case *ast.FragmentSpread:
			if f := c.v.byName[s.Name.Value]; f != nil && f.visit != c.visit {
				f.visit = c.visit
				c.selections(f.set, f.on)
			}
		}
	}
}

// condition returns the type that an inline fragment selects from.
func (v *validator) condition(f *ast.InlineFragment, from graphql.Type) graphql.Type {
	if f.TypeCondition == nil {
		return from
	}
	return composite(v.schema.Type(f.TypeCondition.Name.Value))
}

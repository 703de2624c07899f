package validate

// Field Selection Merging (section 5.3.2). validate.go calls overlaps after all other checks.
// overlap_explain.go finds the messages for a document that breaks the rule, and uses expand and
// shapesConflict of this file.

import (
	"strings"

	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/query/graphql/internal/parser"
)

// Fields with the same response key must be mergeable (section 5.3.2). The specification compares
// all pairs of fields, of which there may be quadratically many. This file decides the rule for
// sets of fields: it groups fields by response key, compares each field with one of its group, and
// merges their subselections in turn. The time is proportional to the number of fields with
// fragments expanded. Only if there is a conflict, overlap_explain.go compares pairs to report it.
//
// The algorithm is by Simon Adameit, from Sangria. It separates two rules. Fields that may apply to
// the same object must be the same field with the same arguments ("same"). Fields of different
// objects must still have the same response shape ("shape"), so that clients can rely on the type
// of a key.

// overlapBudget limits the number of selections examined, with fragments expanded. It is more than
// twice Limits.Fields, so only a hostile document reaches it. The operations of a document share
// it.
const overlapBudget = 30_000

// overlaps checks all operations and the fragments that they reach. Fragments that are not used
// have been reported. Fragments are expanded in the operations that reach them, because a conflict
// may involve fields of two fragments.
func (v *validator) overlaps() {
	if v.enough() {
		return
	}
	o := overlapper{v: v, left: overlapBudget}
	for _, op := range v.operations {
		top := o.expand([]selected{{op.set, op.root}})
		if o.mergeable(top, mergeRules{shape: true, same: true}) {
			continue
		}
		// One conflict is sufficient: explain reports those of all operations.
		// A budget that is used up proves nothing about conflicts, so the document is rejected as
		// too complex.
		if o.left < 0 {
			v.report("OverlappingFieldsCanBeMerged", tooComplex, op.node.Loc)
		} else {
			v.explain()
		}
		return
	}
}

// tooComplex is the message if a budget is used up.
const tooComplex = "The document selects the same fields in too many ways to check whether they can " +
	"be merged."

// selected is a selection set and the type it selects from, which is nil if unknown. The type
// decides which objects the fields may apply to.
type selected struct {
	set  *parser.SelectionSet
	from *model.Type
}

// candidate is a field in a group of fields with the same response key.
type candidate struct {
	node *parser.Field
	from *model.Type  // type that the field is selected from; nil if unknown
	def  *model.Field // nil if unknown
	next int          // index of the next field with the same key, or -1
}

// below returns the selection set of the field.
func (m *candidate) below() selected {
	s := selected{set: m.node.SelectionSet}
	if m.def != nil {
		s.from = selectable(m.def.Type)
	}
	return s
}

// groups holds fields grouped by response key. The fields of a group form a linked list. They are
// linked by index, because add may move the fields to a larger array.
type groups struct {
	fields []candidate
	first  []int          // first field of each group, in order of the keys' first use
	last   []int          // last field of each group; add links the next one to it
	byKey  map[string]int // group of each key; nil while there are few keys, which are searched linearly
}

// find returns the index of the group of a key, or -1. Most selection sets have few keys, and a
// linear search of those needs no allocation.
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

// add appends a field to its group. It ignores a field that is equal to the last one of the group
// and has no arguments or subselections. A document may repeat a leaf thousands of times, and such
// copies cannot conflict with each other.
func (g *groups) add(m candidate) {
	const few = 8
	key := responseKey(m.node)
	i := g.find(key)
	if i < 0 {
		if len(g.first) == few { // a map is faster for more keys
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

// leaf reports whether the field has neither arguments nor a selection set.
func (m *candidate) leaf() bool { return m.node.SelectionSet == nil && len(m.node.Arguments) == 0 }

// overlapper checks whether fields are mergeable. left is the rest of the budget. A negative rest
// means that the result of mergeable is unknown.
type overlapper struct {
	v    *validator
	left int
}

// expand groups the fields of several selection sets, with fragments expanded. Each fragment is
// expanded once. It charges the budget for each selection that it examines, so the rest may become
// negative.
func (o *overlapper) expand(sets []selected) groups {
	var g groups
	c := collector{v: o.v, visit: o.v.nextVisit(), fn: func(f *parser.Field, from *model.Type) {
		m := candidate{node: f, from: from, next: -1}
		// The type of an introspection field is not compared.
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
	// Fragments follow after all sets, so that a fragment that several of them spread is expanded
	// once.
	c.fragments()
	o.left -= c.steps
	return g
}

// mergeRules selects the rules to check for fields with the same response key. A group of fields of
// several object types is checked once for shape, and for each type for sameness.
type mergeRules struct {
	shape bool // SameResponseShape: the fields have values of the same shape
	same  bool // fields that may apply to the same object are the same field
}

// mergeable reports whether all groups follow the rules of q, at every depth. It recurses through
// groupMergeable, one level of fields at a time. measure limits the number of levels.
func (o *overlapper) mergeable(g groups, q mergeRules) bool {
	for _, first := range g.first {
		// Fields of two different object types never occur in one object of the response. Fields of
		// an interface or union may occur with either.
		parents := g.parents(first)
		if len(parents) == 1 { // all fields may apply to the same object
			if !o.groupMergeable(g, first, parents[0], q) {
				return false
			}
			continue
		}
		// Shapes are compared across all object types. The rule "same" is then checked per object
		// type.
		if q.shape && !o.groupMergeable(g, first, nil, mergeRules{shape: true}) {
			return false
		}
		for _, parent := range parents {
			if q.same && !o.groupMergeable(g, first, parent, mergeRules{same: true}) {
				return false
			}
		}
	}
	return true
}

// groupMergeable reports whether the group that begins with field first follows the rules of q. If
// parent is not nil, fields of other object types are skipped. The subselections of the remaining
// fields are merged and checked as one selection set, as execution will merge them. A field without
// a definition has been reported and is not compared by shape.
func (o *overlapper) groupMergeable(g groups, first int, parent *model.Type, q mergeRules) bool {
	// one is the representative of the group, typ the first known type.
	var one *candidate
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
		// Both relations are transitive, so comparing each field with the first one is sufficient.
		if q.same && one != f && difference(one.node, f.node) != "" {
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
		return false // the caller checks the budget to distinguish this from a conflict
	}
	return len(below) == 0 || o.mergeable(o.expand(below), q)
}

// parents returns the object types that the fields of a group select from. Fields of interfaces and
// unions have to be compared with each of them. If there is no object type, the result is a single
// nil. A group of a single field also has this result: it cannot conflict with itself, and only its
// subfields are checked.
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

// isObject reports whether t is an object type, as opposed to an interface or union.
func isObject(t *model.Type) bool {
	return t != nil && t.Kind == model.Object
}

// shapesConflict implements SameResponseShape for two types: both have the same list and non-null
// wrappers, and scalars and enums are identical. Composite types do not conflict by themselves;
// their fields decide. The type names inside the wrappers are compared as pointers, because a
// schema has one Type for each name.
func shapesConflict(a, b *model.Ref) bool {
	for a.Elem != nil && b.Elem != nil && a.NonNull == b.NonNull {
		a, b = a.Elem, b.Elem
	}
	if a.NonNull != b.NonNull || a.Elem != nil || b.Elem != nil {
		return true
	}
	return a.Type != b.Type && !(a.Type.IsComposite() && b.Type.IsComposite())
}

// selectable returns the composite type that subfields of a field of type r select from, or nil.
func selectable(r *model.Ref) *model.Type {
	if t := r.Named(); t.IsComposite() {
		return t
	}
	return nil
}

// collector calls fn for the fields of selection sets, with inline fragments and spread fragments
// expanded. It is used for one traversal. Other traversals must not run between its calls, because
// they overwrite the visit numbers of fragments.
type collector struct {
	v     *validator
	visit int // number of this traversal; each fragment is expanded once
	steps int // number of selections examined
	fn    func(f *parser.Field, from *model.Type)

	spread []*fragment // fragments that are not yet expanded
}

// fragments expands the spread fragments. They follow the selection sets that spread them, so that
// the fields of the latter are first in messages.
func (c *collector) fragments() {
	for len(c.spread) > 0 {
		list := c.spread
		c.spread = nil
		for _, f := range list {
			c.selections(f.set, f.on)
		}
	}
}

// selections visits one selection set and records the fragments that it spreads.
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

// condition returns the type that an inline fragment selects from, or nil if that is unknown.
func (v *validator) condition(f *parser.InlineFragment, from *model.Type) *model.Type {
	if f.TypeCondition == nil {
		return from
	}
	return v.composite(f.TypeCondition)
}

package exec

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/graphql-go/graphql/language/ast"

	"github.com/stoa-go/stoa/query/graphql/internal/gqlerror"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/query/graphql/internal/parser"
)

// occurrence is a place where fields of the same objects are selected, and when it counts.
type occurrence struct {
	set  *ast.SelectionSet
	when []term
}

// group is all fields of a set that have one key.
type group struct {
	key     string
	fields  []selected
	node    *node
	settled bool // one counts in any case, so that further ones change nothing about where it stands
}

// selected is a field, and when it counts.
type selected struct {
	field *ast.Field
	when  []term
}

// gathering is CollectFields (section 6.3.2) for all values that variables may have: the groups in the order of their
// first occurrences, and all occurrences that might be the first.
type gathering struct {
	c      *compiler
	typ    *model.Type
	groups []*group
	byKey  map[string]*group
	order  []place
	spread map[string][][]term // fragments, and when they count
}

// place is where a group may have its first occurrence.
type place struct {
	group *group
	when  []term
}

// set merges what is selected from the objects of a type.
func (c *compiler) set(typ *model.Type, from []occurrence) *set {
	g := gathering{c: c, typ: typ, byKey: map[string]*group{}}
	for _, o := range from {
		g.walk(o.set, o.when)
	}
	s := &set{typ: typ, steps: make([]step, 0, len(g.order))}
	for _, group := range g.groups {
		group.node = c.node(typ, group)
	}
	c.decide(s, g.order)
	s.join()
	for _, group := range g.groups {
		s.gather(group.node)
	}
	s.columns = c.columns(s, g.groups)
	c.bytes += 96 + 16*len(s.steps) + 24*len(s.loads) + 16*len(s.columns)
	return s
}

// walk goes over a selection set.
func (g *gathering) walk(set *ast.SelectionSet, when []term) {
	for _, s := range set.Selections {
		switch s := s.(type) {
		case *ast.Field:
			if when, ok := g.c.conditions(when, s.Directives); ok {
				g.field(s, when)
			}
		case *ast.InlineFragment:
			if when, ok := g.c.conditions(when, s.Directives); ok && g.applies(s.TypeCondition) {
				g.walk(s.SelectionSet, when)
			}
		case *ast.FragmentSpread:
			g.fragment(s, when)
		}
	}
}

// fragment goes over a fragment, but only once for as much as that can change anything.
func (g *gathering) fragment(s *ast.FragmentSpread, when []term) {
	when, ok := g.c.conditions(when, s.Directives)
	f := g.c.fragments[s.Name.Value]
	if !ok || f == nil || !g.applies(f.TypeCondition) {
		return
	}
	for _, earlier := range g.spread[s.Name.Value] {
		if within(earlier, when) {
			return
		}
	}
	if g.spread == nil {
		g.spread = map[string][][]term{}
	}
	g.spread[s.Name.Value] = append(g.spread[s.Name.Value], when)
	g.walk(f.SelectionSet, when)
}

// applies is DoesFragmentTypeApply where all types are objects.
func (g *gathering) applies(on *ast.Named) bool { return on == nil || on.Name.Value == g.typ.Name }

// field adds an occurrence to its group.
func (g *gathering) field(f *ast.Field, when []term) {
	key := f.Name.Value
	if f.Alias != nil {
		key = f.Alias.Value
	}
	to := g.byKey[key]
	if to == nil {
		to = &group{key: key}
		g.byKey[key] = to
		g.groups = append(g.groups, to)
	}
	to.fields = append(to.fields, selected{f, when})
	if !to.settled {
		g.order = append(g.order, place{to, when})
		to.settled = len(when) == 0
	}
}

// node makes the node of a group.
func (c *compiler) node(typ *model.Type, g *group) *node {
	first := g.fields[0].field
	n := &node{key: g.key, field: c.field(typ, first.Name.Value)}
	for _, f := range g.fields {
		line, column := parser.Place(f.field.Loc)
		if at := (gqlerror.Place{Line: line, Column: column}); !slices.Contains(n.places, at) && len(n.places) < 20 {
			n.places = append(n.places, at)
		}
	}
	n.label, _ = jsontext.AppendQuote([]byte{','}, n.key)
	n.label = append(n.label, ':')
	c.bytes += 360 + 2*len(n.key) + 16*len(n.places)
	if n.field == c.e.cfg.Schema.TypeName {
		n.label = append(append(append(n.label, '"'), typ.Name...), '"')
		return n
	}
	n.nonNull = n.field.Type.NonNull
	c.arguments(n, typ, first.Arguments)
	if fetched(n.field.Source) {
		n.load = c.to.loads
		c.to.loads++
	}
	if named := n.field.Type.Named(); named.Composite() {
		n.sub = c.set(named, g.below())
	} else {
		n.leaf = leafOf(n.field)
	}
	n.write = writerOf(n.field, &n.leaf)
	return n
}

// below is what is selected from the values of a group. Where all of its fields count at the same time, what is below
// need not ask again when that is.
func (g *group) below() []occurrence {
	same := !slices.ContainsFunc(g.fields, func(f selected) bool { return !slices.Equal(f.when, g.fields[0].when) })
	var out []occurrence
	for _, f := range g.fields {
		o := occurrence{set: f.field.SelectionSet}
		if !same {
			o.when = f.when
		}
		out = append(out, o)
	}
	return out
}

// field returns the definition of a field of a valid document.
func (c *compiler) field(typ *model.Type, name string) *model.Field {
	s := c.e.cfg.Schema
	switch {
	case name == s.TypeName.Name:
		return s.TypeName
	case typ == s.Query && s.MetaSchema != nil && name == s.MetaSchema.Name:
		return s.MetaSchema
	case typ == s.Query && s.MetaType != nil && name == s.MetaType.Name:
		return s.MetaType
	}
	return typ.Field(name)
}

// gather notes what is to be fetched for a node. What is fetched below the nodes of a connection is fetched for its page,
// and so by whoever has that; the item of a change is there when the change is.
func (s *set) gather(n *node) {
	if fetched(n.field.Source) && n.field.Source != model.Meta {
		s.loads = append(s.loads, load{node: n})
		return
	}
	switch n.field.Source {
	case model.Nodes, model.Edges, model.Node, model.Watch:
		if n.write == constant {
			return
		}
		for _, l := range n.sub.loads {
			if l.via[0] == 0 {
				l.via[0] = n.group
			} else if n.group != 0 {
				l.via[1] = n.group
			}
			s.loads = append(s.loads, l)
		}
	}
}

// columns are the members of items that somebody will look at: those that are shown, and those that lead on.
func (c *compiler) columns(s *set, groups []*group) []string {
	r := s.typ.Resource
	if r == nil {
		return nil
	}
	columns := []string{r.ID()}
	for _, g := range groups {
		n := g.node
		var more []string
		switch {
		case n.write == constant:
			continue
		case n.field.Source == model.Member:
			more = []string{n.field.Member.Name}
		case n.field.Source == model.Related:
			more = []string{c.e.cfg.Catalog.KeyField(r, n.field.Relation)}
		case n.field.Source == model.Computed:
			return nil // it may look at everything
		case n.write == connectionNodes, n.write == connectionEdges, n.write == edgeNode:
			if more = n.sub.columns; more == nil {
				return nil
			}
		}
		for _, name := range more {
			if name == "" {
				return nil
			}
			if !slices.Contains(columns, name) {
				columns = append(columns, name)
			}
		}
	}
	return columns
}

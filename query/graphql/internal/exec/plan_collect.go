package exec

// Merging of selection sets and expansion of fragments, at compile time. Called by plan_compile.go.

import (
	"cmp"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/query/graphql/internal/gqlerror"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/query/graphql/internal/parser"
)

// occurrence is a selection set with the conditions under which it applies.
type occurrence struct {
	set  *parser.SelectionSet
	when []term
}

// group is the set of fields with one response key in a selection set. The first field decides the
// name and the arguments.
type group struct {
	key     string
	fields  []selected
	field   *field
	settled bool // an occurrence is unconditional, so further ones do not change the position
}

// selected is a field with the conditions under which it is selected.
type selected struct {
	field *parser.Field
	when  []term
}

// fieldCollector implements CollectFields (section 6.3.2) for all values of variables at once. It
// records the groups in the order of their first occurrences, and each occurrence that may be the
// first.
type fieldCollector struct {
	c      *compiler
	typ    *model.Type
	groups []*group
	byKey  map[string]*group
	order  []candidate
	spread map[string][][]term // visited fragments with their conditions
}

// candidate is an occurrence that may be the first of its group. The order of candidates is the
// order of the response (section 6.3.2).
type candidate struct {
	group *group
	when  []term
}

// compileSet merges selection sets on objects of one type. It recurses through compileField, as
// deep as validate.Limits.Depth allows.
func (c *compiler) compileSet(typ *model.Type, from []occurrence) *selectionSet {
	g := fieldCollector{c: c, typ: typ, byKey: map[string]*group{}}
	for _, o := range from {
		g.walk(o.set, o.when)
	}
	s := &selectionSet{typ: typ, ops: make([]fieldOp, 0, len(g.order))}
	// Fields are compiled after all selection sets have been collected, because a later fragment
	// can add subfields to an earlier field.
	for _, group := range g.groups {
		group.field = c.compileField(typ, group)
	}
	c.addOps(s, g.order)
	c.join(s)
	for _, group := range g.groups {
		s.addFetches(group.field)
	}
	s.columns = c.columns(s, g.groups)
	c.bytes += 96 + 16*len(s.ops) + 24*len(s.fetches) + 16*len(s.columns)
	return s
}

// walk collects the fields of a selection set. Conditions of an enclosing fragment apply to its
// fields, so they are passed on.
func (g *fieldCollector) walk(set *parser.SelectionSet, when []term) {
	for _, s := range set.Selections {
		switch s := s.(type) {
		case *parser.Field:
			if when, ok := g.c.conditions(when, s.Directives); ok {
				g.addField(s, when)
			}
		case *parser.InlineFragment:
			if when, ok := g.c.conditions(when, s.Directives); ok && g.applies(s.TypeCondition) {
				g.walk(s.SelectionSet, when)
			}
		case *parser.FragmentSpread:
			g.fragment(s, when)
		}
	}
}

// fragment collects the fields of a fragment. It skips the fragment if it was visited under the
// same or weaker conditions. A second visit under other conditions is needed, because it may select
// fields that the first one does not.
func (g *fieldCollector) fragment(s *parser.FragmentSpread, when []term) {
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

// applies implements DoesFragmentTypeApply for object types and their interfaces.
func (g *fieldCollector) applies(on *parser.NamedType) bool {
	return on == nil || on.Name.Value == g.typ.Name ||
		slices.ContainsFunc(g.typ.Interfaces, func(t *model.Type) bool { return t.Name == on.Name.Value })
}

// addField adds an occurrence to its group.
func (g *fieldCollector) addField(f *parser.Field, when []term) {
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
		g.order = append(g.order, candidate{to, when})
		to.settled = len(when) == 0
	}
}

// compileField compiles the field of a group. Validation has checked that all fields of the group
// have one name and the same arguments (section 5.3.2).
func (c *compiler) compileField(typ *model.Type, g *group) *field {
	first := g.fields[0].field
	c.fields++
	n := &field{key: g.key, def: c.definitionOf(typ, first.Name.Value)}
	// An error names at most 20 locations; a document can select one key thousands of times.
	for _, f := range g.fields {
		if at := gqlerror.Location(*f.field.Loc); !slices.Contains(n.locations, at) && len(n.locations) < 20 {
			n.locations = append(n.locations, at)
		}
	}
	// The label is written as it is in each run. The comma of the first field of an object becomes
	// its brace.
	n.label, _ = jsontext.AppendQuote([]byte{','}, n.key)
	n.label = append(n.label, ':')
	c.bytes += 360 + 2*len(n.key) + 16*len(n.locations)
	// The concrete type is known, so __typename is part of the label and costs nothing at run time.
	if n.def == c.e.cfg.Schema.TypeName {
		n.label = append(append(append(n.label, '"'), typ.Name...), '"')
		return n
	}
	n.nonNull = n.def.Type.NonNull
	c.arguments(n, first.Arguments)
	if fetched(n.def.Source) {
		n.fetchIndex = c.to.fetches
		c.to.fetches++
		c.setByID(n, typ)
		c.depth++
		defer func() { c.depth-- }()
	}
	if named := n.def.Type.Named(); named.Kind == model.Interface {
		c.compileParts(n, named, g)
	} else if named.IsComposite() {
		n.sub = c.compileSet(named, g.below())
	} else {
		n.leaf = leafOf(n.def)
	}
	n.write = writerOf(n.def, &n.leaf)
	return n
}

// setByID finds out whether a field is a relation by id, and whether another one of its level leads to the
// same resource.
func (c *compiler) setByID(n *field, parent *model.Type) {
	if c.depth == 0 && c.to.Kind == parser.OperationMutation {
		clear(c.byID) // the root fields are executed one after the other
	}
	if n.def.Source != model.Related || !parent.Resource.LeadsByID(n.def.Relation) {
		return
	}
	at := target{n.def.Resource, c.depth}
	n.byID, c.to.levels = true, c.to.levels || c.byID[at]
	c.byID[at] = true
}

// compileParts compiles the selection of an interface for each possible type, because selection sets
// are those of object types. Each part has a place for its items. A selection that applies to every
// type is compiled for each, so the fields are counted again: validation has counted them once.
func (c *compiler) compileParts(n *field, abstract *model.Type, g *group) {
	from := g.below()
	for _, t := range abstract.Possible {
		part := &field{def: n.def, key: n.key, locations: n.locations, fetchIndex: c.to.fetches}
		c.to.fetches++
		part.sub = c.compileSet(t, from)
		n.parts = append(n.parts, part)
		if c.fields > cmp.Or(c.e.cfg.Rules.Fields, maxFields) {
			c.tooMany = true
			return
		}
	}
	c.bytes += 360 * len(n.parts)
}

// below returns the selection sets of a group's fields. If all fields have the same conditions,
// their selection sets need none.
func (g *group) below() []occurrence {
	same := !slices.ContainsFunc(g.fields, func(f selected) bool {
		return !slices.Equal(f.when,
			g.fields[0].when)
	})
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

// definitionOf returns the definition of a field in a valid document.
func (c *compiler) definitionOf(typ *model.Type, name string) *model.Field {
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

// addFetches records what is fetched for a field. Fetches below the nodes of a connection belong to
// the page, and are moved up to the field that fetches it. The item of a change is available with
// the change.
func (s *selectionSet) addFetches(n *field) {
	if fetched(n.def.Source) && n.def.Source != model.Meta {
		s.fetches = append(s.fetches, fetchOp{field: n})
		return
	}
	switch n.def.Source {
	case model.Nodes, model.Edges, model.Node, model.Watch:
		if n.write == constant {
			return
		}
		// At most two fields with a switch are between a root field and its items: edges or
		// nodes, and node. The field of the fetch has a switch of its own.
		for _, l := range n.sub.fetches {
			if l.via[0] == 0 {
				l.via[0] = n.group
			} else if n.group != 0 {
				l.via[1] = n.group
			}
			s.fetches = append(s.fetches, l)
		}
	}
}

// columns returns the members of items that are written or used to follow relations, or nil for
// all. A store may then read fewer columns. Fields that are switched off in a run are included,
// because the plan does not depend on variables.
func (c *compiler) columns(s *selectionSet, groups []*group) []string {
	r := s.typ.Resource
	if r == nil {
		return nil
	}
	// Entries are identified by their id: for relations, entity tags and cursors.
	columns := []string{r.Describe().ID}
	for _, g := range groups {
		n := g.field
		var more []string
		switch {
		case n.write == constant:
			continue
		case n.def.Source == model.Member:
			more = []string{n.def.Member.Name}
		case n.def.Source == model.Related, n.def.Source == model.RelatedPage:
			more = []string{r.KeyField(n.def.Relation)}
		case n.def.Source == model.Computed:
			return nil // the function receives the whole item
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

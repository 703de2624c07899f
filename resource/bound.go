package resource

// Bound resources: a definition together with what a catalog adds to it, which is mainly its relations.
// Called by catalog.go, and by protocols and parts. It calls relation_filter.go and relation_through.go.

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/internal/keys"
)

// bind returns the resource as it is in a catalog.
func (r *Resource) bind(c *Catalog) *Resource {
	b := newResource(r.core, r.projection)
	b.definition = r.definition
	b.env = &env{context: c.context, joins: map[*query.Join]*core{}}
	return b
}

// context returns the context of what the catalog calls: writes by definitions name the caller by the
// Principal of c. It is ctx if each resource with fields for a principal is in c alone.
func (c *Catalog) context(ctx context.Context) context.Context {
	for _, core := range c.stamped {
		if len(*core.principals.Load()) > 1 {
			if ctx.Value(catalogKey{}) == any(c) {
				return ctx
			}
			return context.WithValue(ctx, catalogKey{}, c)
		}
	}
	return ctx
}

// Binding is what PartInfo.Bind gets of a catalog. It is valid after [NewCatalog] has returned, too.
type Binding struct{ catalog *Catalog }

// Resource returns a resource as it is in the catalog. It has no relations and no [Resource.QueryTarget] if
// it is no part of the catalog and not the Items of one.
func (b Binding) Resource(r *Resource) *Resource {
	if r == nil {
		return nil
	}
	for _, p := range b.catalog.parts {
		if p.resource != nil && p.resource.definition == r.definition {
			return p.resource
		}
	}
	return r.bind(b.catalog)
}

// Context returns the context for a function of the program: what it writes names the caller by the
// Principal of the catalog. It is ctx for the zero Binding.
func (b Binding) Context(ctx context.Context) context.Context {
	if b.catalog == nil {
		return ctx
	}
	return b.catalog.context(ctx)
}

// bindRelations finds the targets of the relations of a resource.
func (c *Catalog) bindRelations(r *Resource) {
	links := map[string]*link{}
	for _, rel := range r.projection.relations {
		l := &link{relation: rel, target: c.mustFind("relation "+rel.Name+" of "+r.Name(), rel.Target)}
		switch {
		case rel.Through != "":
			c.bindThrough(r, l)
		case rel.By != "":
			l.by = byReader("resource: relation "+rel.Name+" of "+r.Name()+": ", l.target, rel.By)
		}
		if rel.names != nil && len(rel.names) != len(l.target.core.id.Key) {
			panic(fmt.Sprintf("resource: relation %s of %s: Field names %d fields, but the id of %s has %d",
				rel.Name, r.Name(), len(rel.names), rel.Target, max(1, len(l.target.core.id.Key))))
		}
		links[rel.Name] = l
	}
	r.env.relations = links
}

// bindThrough finds the resource of Through and its fields.
func (c *Catalog) bindThrough(r *Resource, l *link) {
	at := "resource: relation " + l.Name + " of " + r.Name() + ": "
	join := c.mustFind("relation "+l.Name+" of "+r.Name(), l.relation.Through)
	t := &through{join: &link{relation: l.relation, target: join}}
	t.join.by = byReader(at, join, l.By)
	to := join.core.typ.Field(l.To)
	if why := keys.Unfit(to, false); why != "" {
		panic(fmt.Sprintf("%sTo names %q of %s, %s", at, l.To, join.Name(), why))
	}
	toTarget := &relation{Name: l.Name, Limit: 1, field: keys.NewReader(to)}
	t.to = &link{relation: toTarget, target: l.target}
	if l.field == nil && l.keysOf == nil && !join.projection.needsMore() {
		t.order = linkOrder(join.core.key, l.By, l.To)
	}
	t.setJoined(l)
	ops := &join.core.ops
	changes := ops.insert != nil && ops.delete != nil
	if t.order != nil && changes && ops.deleted != nil && !join.core.allowRecreate {
		panic(fmt.Sprintf("%sa link that was removed could not be made again, because %s remembers "+
			"deletions; set Options.AllowRecreate, and Recreate of its store", at, join.Name()))
	}
	l.through = t
}

// LinkedBy returns the resource of Relation.Through if [Resource.Link] and [Resource.Unlink] can change the
// links: its id consists of the fields By and To, a new item needs no other member, and the relation has
// neither Field nor Keys. Otherwise join is nil. by is the JSON name of By, or "" if join has no such member.
func (r *Resource) LinkedBy(relation string) (join *Resource, by string) {
	if l := r.env.relations[relation]; l != nil && l.through != nil && l.through.order != nil {
		join = l.through.join.target
		by = join.projection.fieldOf(l.By)
	}
	return join, by
}

// bindQueries sets the steps of the relations that Options.Query declares for filters, and the fields
// of related items that it declares as sort keys and for groups. It panics if the store cannot answer one
// of them.
func (r *Resource) bindQueries() {
	names := r.projection.querySupport(r.core.query).Relations
	for _, name := range names {
		l := r.env.relations[name]
		at := fmt.Sprintf("resource: %s: Options.Query.Relations names %q: ", r.Name(), name)
		if l.steps = l.hops(r); l.steps == nil {
			panic(at + "the relation has a function Keys, and filters need a Field")
		}
		for _, h := range l.steps {
			if why := h.mistake(); why != "" {
				panic(at + why)
			}
		}
	}
	r.env.sorts, r.env.groups = r.bindPaths(pathSort), r.bindPaths(pathGroup)
	r.env.target = r.newTarget()
}

// QueryTarget describes what a list of a bound resource can be asked, for [query.Parse] and
// [query.ParseAggregation]: it has the Support, Value, IsList and Relation of their options. It is nil for a
// definition. The result is the same for each call and must not be changed.
func (r *Resource) QueryTarget() *query.Target { return r.env.target }

// newTarget makes the result of QueryTarget.
func (r *Resource) newTarget() *query.Target {
	return &query.Target{
		Support: r.Describe().Query,
		Value:   func(field, text string) (any, error) { return r.Type().Field(field).ParseOperand(text) },
		IsList:  func(field string) bool { return r.Type().Field(field).ComparableElem() },
		Relation: func(name string) *query.Target {
			l := r.env.relations[name]
			if l == nil || l.steps == nil {
				return nil
			}
			t := *l.target.env.target
			t.Many = l.Many
			return &t
		},
	}
}

// bindPaths sets the fields of the links of r for a use of paths, and returns their paths in the names of
// the catalog. It panics if the store cannot answer one of them.
func (r *Resource) bindPaths(use pathUse) (paths []string) {
	list, declared := use.declared(r.core.query)
	for _, path := range declared {
		if !isPath(path, r.core.typ) {
			continue
		}
		relation, name, _ := strings.Cut(path, ".")
		l := r.env.relations[relation]
		if l == nil {
			continue // the view does not have the relation
		}
		at := fmt.Sprintf("resource: %s: Options.Query.%s names %q: ", r.Name(), list, path)
		target := l.target.core
		_, fields := use.declared(target.query)
		switch f := target.typ.Field(name); {
		case f == nil:
			panic(fmt.Sprintf("%s%s has no field %q", at, target.name, name))
		case f.Key != nil:
			panic(fmt.Sprintf("%s%q is a composite id; name one of its fields", at, name))
		case name != target.id.Name && !slices.Contains(fields, name):
			panic(fmt.Sprintf("%sdeclare %q in Options.Query.%s of %s", at, name, list, target.name))
		}
		h := l.pathHop(r)
		if why := h.joinMistake(); why != "" {
			panic(at + why)
		}
		shown := l.target.projection.fieldOf(name)
		if shown == "" || l.target.projection.typ.Field(shown).WriteOnly {
			continue
		}
		if l.paths[use] == nil {
			l.paths[use] = map[string]*relatedField{}
		}
		l.paths[use][shown] = &relatedField{hop: h, field: name}
		r.env.joins[h.join] = target
		paths = append(paths, relation+"."+shown)
	}
	return paths
}

// bindPart replaces a part by the one that its PartInfo.Bind returns.
func (c *Catalog) bindPart(p *catalogPart) {
	if p.Bind == nil {
		return
	}
	bound := p.Bind(Binding{c})
	if reflect.TypeOf(bound) != reflect.TypeOf(p.definition) {
		panic(fmt.Sprintf("resource: part %s is a %T, but PartInfo.Bind returned a %T; a type that embeds a "+
			"part needs a Bind of its own, or nil", p.Name, p.definition, bound))
	}
	p.part = bound
}

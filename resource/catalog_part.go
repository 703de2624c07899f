package resource

// Parts: what a catalog needs to know about each thing that it serves. Called by catalog.go, once
// for each part. It calls idempotency.go for guarantees.

import (
	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/resource/tx"
)

// Part is something that a [Catalog] serves: a [*Resource], a [*Lookup], a collection of package
// blob, a command of package command, or a type of an application. Protocols find the kinds of
// parts that they know with [PartsOf] and leave out the others, so a new kind of part needs a
// protocol that serves it, and nothing else.
type Part interface {
	// Part describes the part. [NewCatalog] calls it once.
	Part() PartInfo
}

// PartInfo describes a [Part] to a [Catalog]. Only Name is required.
type PartInfo struct {
	// Name is the path of the part: "orders" or, for an action, "area/action". No item of the
	// resource area can then have the id action.
	Name string
	// Keyed reports whether an Idempotency-Key applies to the part, because requests can change
	// something.
	Keyed bool
	// Runner is the runner of the transactions in which the part writes. Nil means that it has none.
	Runner tx.Runner
	// Jobs is the name of the resource that holds the jobs of the part, which must be in the
	// catalog. Requests then write jobs, in the transactions of that resource. Empty means that
	// there are no jobs.
	Jobs string
	// DerivesIDs reports whether something new can have an id that is derived from a key; see
	// [Key.NewID].
	DerivesIDs bool
	// Items is a resource with the name of the part that lists what it contains, such as the files
	// of package blob. It has the GET of the path, a type in GraphQL, relations and events. It is
	// read-only: the part writes, and calls [Resource.Publish]. Nil means that there is none.
	Items *Resource
	// Bind, if not nil, returns the part as it is in one catalog. It is for parts that use a resource or
	// call functions of a program. [NewCatalog] calls it once, after it has bound its resources, and serves
	// the result, which has the same type. The part itself does not change, because it may be in several
	// catalogs.
	Bind func(b Binding) Part
	// Guarantee, if not nil, corrects Create, Others and Reason of the guarantee of a key, which
	// the catalog derives from Runner. [NewCatalog] calls it once, before it applies DerivesIDs.
	Guarantee func(g *idempotency.Guarantee)
	// Report is the text about the part in the start-up report, in whole lines. A line with a path
	// and two spaces precedes indented details, such as "    weak: reason"; see [Catalog.BriefReport].
	Report string
}

// PartsOf returns the parts of one type, bound to the catalog, in the order in which they were given to it,
// in a new slice. Pass the parts themselves, not these, to another NewCatalog.
func PartsOf[P Part](c *Catalog) []P {
	var out []P
	for _, p := range c.parts {
		if p, ok := p.part.(P); ok {
			out = append(out, p)
		}
	}
	return out
}

// catalogPart is a part and what the catalog has found out about it.
type catalogPart struct {
	PartInfo
	definition Part                  // as it was given to NewCatalog
	part       Part                  // bound
	resource   *Resource             // the part or its Items, bound; nil without
	guarantee  idempotency.Guarantee // zero if no key applies
}

// newCatalogPart describes a part, and binds it if it is a resource.
func newCatalogPart(c *Catalog, p Part) *catalogPart {
	r, isResource := p.(*Resource)
	if isResource {
		p = r.definition
	}
	cp := &catalogPart{PartInfo: p.Part(), definition: p, part: p}
	switch {
	case isResource:
		cp.resource = r.bind(c)
		cp.part = cp.resource
	case cp.Items != nil:
		cp.resource = cp.Items.bind(c)
	}
	return cp
}

// target returns the resource that the part writes to, which for an import is that of its items, or nil.
func (p *catalogPart) target() *Resource {
	if into, ok := p.part.(interface{ Into() *Resource }); ok {
		return into.Into()
	}
	return p.resource
}

// Part describes the resource to a catalog.
func (r *Resource) Part() PartInfo {
	return PartInfo{
		Name:       r.core.name,
		Keyed:      r.Can(OpCreate) || r.Can(OpReplace) || r.Can(OpDelete) || r.Can(OpRestore),
		Runner:     r.core.ops.runner,
		DerivesIDs: r.derivesIDs(),
		Report:     r.forReport().Summary(),
	}
}

// Part describes the lookup to a catalog.
func (l *Lookup) Part() PartInfo {
	bind := func(b Binding) Part {
		bound := *l
		bound.binding = b
		return &bound
	}
	return PartInfo{Name: l.name, Bind: bind, Report: "/" + l.name + "  a lookup of /" + l.target + "\n"}
}

// guaranteeOf returns what a key guarantees for a part.
func (c *Catalog) guaranteeOf(p *catalogPart) idempotency.Guarantee {
	level := c.opts.Idempotency.LevelFor(p.Runner)
	g := idempotency.Guarantee{Name: p.Name, Create: level, Others: level}
	switch {
	case level == idempotency.ExactlyOnce:
		g.Reason = "the write and its record commit in one transaction"
	case p.Runner != nil:
		g.Reason = "the write and its record commit in different transactions"
	default:
		g.Reason = "the write has no transaction"
	}
	if p.Guarantee != nil {
		p.Guarantee(&g)
	}
	if p.DerivesIDs && level < idempotency.ByIdentity {
		g.Create = idempotency.ByIdentity
		g.Reason = "the id of a new item is derived from the key; otherwise " + g.Reason
	}
	return g
}

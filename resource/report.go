package resource

// The start-up report of a catalog. Called by applications. It calls package report for the text
// about a resource.

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/internal/report"
)

// Report returns a description of the catalog in plain text, to be logged at start-up: the paths,
// the capabilities of each collection, and settings that weaken security. [Catalog.BriefReport]
// shortens it.
func (c *Catalog) Report() string {
	var b strings.Builder
	for _, p := range c.parts {
		b.WriteString(p.Report)
		if p.Keyed && c.opts.Idempotency != nil {
			reportKeys(&b, &p.guarantee)
		}
		r := p.resource
		if r == nil {
			continue
		}
		if hooks := r.core.hookIsolation(); hooks != "" {
			fmt.Fprintf(&b, "    hooks: %s\n", hooks)
		}
		if c.opts.Feed != nil {
			fmt.Fprintf(&b, "    feed: %s\n", r.core.eventDelivery())
		}
		for _, rel := range r.projection.relations {
			if t := r.env.relations[rel.Name].through; t != nil && t.joined == nil {
				fmt.Fprintf(&b, "    relation: %s reads %s first, and its pages at most %d of an item: %s\n",
					rel.Name, rel.Through, maxLinks, t.unjoined)
			}
		}
		if p.Items == nil { // otherwise the part reports its own warnings
			for _, warning := range r.forReport().Warnings() {
				fmt.Fprintf(&b, "    weak: %s\n", warning)
			}
		}
	}
	if c.opts.Idempotency == nil &&
		slices.ContainsFunc(c.parts, func(p *catalogPart) bool { return p.Keyed }) {
		b.WriteString("keys: no CatalogOptions.Idempotency: Idempotency-Key is ignored\n")
	}
	return b.String()
}

// BriefReport is [Catalog.Report] without details. Lines that are not about a path precede the
// others. Each path has a line, with its methods, the guarantee of keyed requests and how writes
// become events. Each weakness has a line at the end, with its paths. others are the reports of
// handlers and of the application, in the format of Report; they are shortened together with it.
func (c *Catalog) BriefReport(others ...string) string {
	return report.Brief(c.Report() + strings.Join(others, ""))
}

// reportKeys writes the guarantee of a key.
func reportKeys(b *strings.Builder, g *idempotency.Guarantee) {
	level := g.Others.String()
	if g.Create != g.Others {
		level = g.Create.String() + ", or " + level
	}
	fmt.Fprintf(b, "    keys: %s: %s\n", level, g.Reason)
}

// forReport returns what the report states about the resource.
func (r *Resource) forReport() *report.Resource {
	c, ops := r.core, &r.core.ops
	out := &report.Resource{
		Name: c.name, Type: c.typ, Create: r.Can(OpCreate), Replace: r.Can(OpReplace), Patch: r.Can(OpPatch),
		Delete: r.Can(OpDelete), Restore: r.Can(OpRestore), Batches: r.batches(),
		Authorize: ops.authorize != nil, Scope: c.scope != nil,
		Public: c.public, Deletes: ops.delete != nil, Remembers: ops.deleted != nil, HidesGone: c.hideGone,
		RemembersRecent: c.deletions != nil,
		Logged:          c.publisher.Load() != nil,
	}
	for _, a := range []struct {
		name string
		has  bool
	}{
		{"Creator", ops.create != nil}, {"Inserter", ops.insert != nil}, {"Replacer", ops.replace != nil},
		{"Deleter", ops.delete != nil}, {"Tombstoner", ops.deleted != nil}, {"Counter", ops.count != nil},
		{"Aggregator", ops.aggregate != nil},
		{"Restorer", ops.restore != nil},
		{"MultiGetter", ops.getMany != nil}, {"MultiInserter", ops.insertMany != nil},
		{"BatchLister", ops.listByKeys != nil}, {"BatchCounter", ops.countByKeys != nil},
		{"JSONLister", ops.listJSON != nil},
		{"Revisioner", ops.getRevision != nil}, {"RevisionLister", ops.listRevisions != nil},
		{"Searcher", ops.search != nil}, {"Joiner", ops.joiner != nil}, {"Transactor", ops.runner != nil},
		{"Locker", ops.getForUpdate != nil}, {"Watcher", ops.watch != nil},
	} {
		if a.has {
			out.Capabilities = append(out.Capabilities, a.name)
		}
	}
	support := r.definition.Describe().Query
	out.ScopeComplete = r.core.scopeComplete
	support.Group = append(slices.Clip(support.Group), r.groupPaths()...)
	out.Aggregates, out.Groups = support.CanAggregate(), support.Group
	out.Search, out.Unsearched = support.Search, len(support.Search) < len(c.query.Search)
	for _, field := range slices.Sorted(maps.Keys(support.Filter)) {
		switch {
		case field == "q" || field == "highlight":
			out.OfSearch = append(out.OfSearch, field)
		case out.Aggregates && query.IsAggregateParameter(field):
			out.Reserved = append(out.Reserved, field)
		}
	}
	if ops.listJSON != nil {
		out.Lists = "encoded by the collection"
		if why := r.needsValues(); why != "" {
			out.Lists = "encoded from values: " + why
		}
	}
	if r.projection.down == nil {
		return out
	}
	out.View, out.Lossy = r.projection.name, r.projection.lossy
	for _, field := range slices.Sorted(maps.Keys(c.query.Filter)) {
		if support.Filter[r.projection.fieldOf(field)] == nil {
			out.Filters = append(out.Filters, field)
		}
	}
	for _, field := range withoutPaths(c.query, c.typ).Sort {
		if !slices.Contains(support.Sort, r.projection.fieldOf(field)) {
			out.Sorts = append(out.Sorts, field)
		}
	}
	return out
}

// groupPaths returns the fields of related items by which items can be grouped, in the names of their
// collections.
func (r *Resource) groupPaths() (paths []string) {
	for _, path := range r.core.query.Group {
		name, _, _ := strings.Cut(path, ".")
		isRelation := func(rel *relation) bool { return rel.Name == name }
		if isPath(path, r.core.typ) && slices.ContainsFunc(r.projection.relations, isRelation) {
			paths = append(paths, path)
		}
	}
	return paths
}

// hookIsolation returns whether other items that hooks read may change before the write is committed.
// It is empty if there are no hooks that decide about writes.
func (c *core) hookIsolation() string {
	const mayChange = "other items that they read may change before the write"
	switch {
	case c.ops.before == nil && c.ops.authorize == nil:
		return ""
	case c.ops.runner == nil:
		return "without a transaction; " + mayChange
	case !c.hooksInTx:
		return "outside of the transaction (Options.HooksOutsideTx); " + mayChange
	}
	level, known := c.ops.runner.(interface{ Isolation() string })
	switch {
	case !known:
		return "in the transaction of the write"
	case level.Isolation() == "serializable":
		return "in the transaction of the write, serializable"
	}
	return "in the transaction of the write, " + level.Isolation() +
		"; lock other items that they read (resource.GetForUpdate)"
}

// eventDelivery returns how writes become events.
func (c *core) eventDelivery() string {
	o := c.publisher.Load()
	switch {
	case c.ops.watch != nil:
		return "by the collection itself"
	case o == nil:
		return "none (Options.NoEvents)"
	case o.runner != nil:
		return "in the transaction of each write"
	case c.ops.runner == nil:
		return "after each write, and a crash in between loses the event: the collection has no transactions"
	case o.feed.Transactions() == nil:
		return "after each write, and a crash in between loses the event: the log has no transactions"
	}
	return "after each write, and a crash in between loses the event: the log is in another database"
}

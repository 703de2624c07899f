package resource

// What descriptions of an API need to know and requests do not: openapi and graphql ask for it once, when they are made.

// Policy is what [Options] say about how a resource is served, defaults filled in.
type Policy struct {
	Public                bool // every caller may do everything
	Authorized            bool // Options.Authorize is set
	RequireIfMatch        bool
	AllowRecreate         bool
	PageSize, MaxPageSize int
	// AssignsIDs says that the store chooses ids for new items, and TakesIDs that a client can.
	AssignsIDs, TakesIDs bool
	// Remembers says that what was deleted is known as deleted.
	Remembers bool
}

// Policy returns how the resource is served. It is the same for all of its views.
func (r *Resource) Policy() Policy {
	h := r.core
	return Policy{
		Public: h.ops.authorize == nil && h.scope == nil, Authorized: h.ops.authorize != nil, RequireIfMatch: h.requireIfMatch,
		AllowRecreate: h.allowRecreate,
		PageSize:      h.pageSize, MaxPageSize: h.maxPageSize,
		AssignsIDs: h.ops.create != nil, TakesIDs: h.ops.insert != nil, Remembers: h.ops.deleted != nil,
	}
}

// Samples returns the samples that [Options] give, in the shape of r, as pointers to its Go type. Those that r cannot
// express are left out.
func (r *Resource) Samples() []any {
	var out []any
	for _, s := range r.core.samples {
		if !r.projection.expresses(s) {
			continue
		}
		if v, err := r.projection.fromStored(s); err == nil {
			out = append(out, v)
		}
	}
	return out
}

// Lookups returns the lookups of the catalog in the order in which they were given.
func (c *Catalog) Lookups() []*Lookup { return PartsOf[*Lookup](c) }

// Limits returns what requests may ask for, defaults filled in.
func (c *Catalog) Limits() Limits { return c.opts.Limits }

// Related returns where a relation of r, one of the catalog's resources, leads to, and whether to many items. It is nil if
// there is no such relation.
func (c *Catalog) Related(r *Resource, relation string) (target *Resource, many bool) {
	l := c.links[r][relation]
	if l == nil {
		return nil, false
	}
	return l.target, l.Many
}

// RelationLimit returns how many items follow at most from one item by a relation of r, one of the catalog's resources: 1
// where it leads to one item. It is 0 if there is no such relation.
func (c *Catalog) RelationLimit(r *Resource, relation string) int {
	l := c.links[r][relation]
	if l == nil {
		return 0
	}
	return l.Limit
}

// KeyField returns the JSON name of the field of r that has to be read to follow a relation of r, one of the catalog's
// resources. It is empty if that is not known, or not a field that r shows: then all of them have to be.
func (c *Catalog) KeyField(r *Resource, relation string) string {
	switch l := c.links[r][relation]; {
	case l == nil || l.keysOf != nil:
		return ""
	case l.field != nil:
		return r.projection.fieldOf(l.field.Field.Name)
	}
	return r.ID()
}

// Target returns the resource of the catalog that a lookup leads to; nil if the lookup is not one of its parts.
func (c *Catalog) Target(l *Lookup) *Resource {
	if p := c.byName[l.name]; p != nil && p.part == Part(l) {
		return c.byName[l.target].resource()
	}
	return nil
}

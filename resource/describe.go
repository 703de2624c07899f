package resource

// Descriptions of resources and relations. Called by protocols when they are constructed.

import (
	"slices"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/schema"
)

// Description describes a resource to protocols, which route requests and generate documents from
// it. It does not change.
type Description struct {
	// Stored is the schema of the items in the collection, which all views share. See
	// [Resource.Type] for that of the view.
	Stored *schema.Type
	// ID is the JSON name of the id field in the projection.
	ID string
	// Key has the JSON names, in the projection, of the fields from which a composite id is computed.
	// Nil means that the id is not composite.
	Key []string
	// Query declares what a list can filter, sort and group by, in the field names of the projection.
	// [Resource.Aggregate] is available if it declares aggregates. Only that of a bound resource has sort
	// keys and groups that are fields of related items.
	Query query.Support
	// Relations are the names of the relations, in the order in which they were declared.
	Relations []string
	// Samples are those of [Options] that the projection can show, as pointers to its Go type.
	Samples []any

	// Public reports that neither Options.Authorize nor Options.Scope is set, whatever
	// Options.Public is, and Authorized that Options.Authorize is set.
	Public, Authorized bool
	// RequireIfMatch and AllowRecreate are those of [Options].
	RequireIfMatch, AllowRecreate bool
	// PageSize and MaxPageSize are those of [Options], defaults filled in.
	PageSize, MaxPageSize int

	// AssignsIDs reports that the store can choose the id of a new item, and TakesIDs that a client
	// can.
	AssignsIDs, TakesIDs bool
	// Remembers reports whether the store is a [Tombstoner]. RemembersRecent reports whether the
	// process remembers Options.RecentDeletes instead.
	Remembers, RemembersRecent bool
	// Counts reports whether [Resource.Count] is available: the collection is a [Counter], and if
	// it has Options.Authorize then also Options.ScopeComplete, because a total must not reveal what
	// a list hides.
	Counts bool
	// Batches reports whether [Resource.Batch] is available: the collection is a [Transactor], and
	// items can be created.
	Batches bool
}

// Describe returns the description of the resource. It is the same for each call, and the caller
// must not change it.
func (r *Resource) Describe() *Description { return r.description() }

// newDescription makes the description.
func (r *Resource) newDescription() *Description {
	c, p := r.core, r.projection
	d := &Description{
		Stored: c.typ, ID: r.id(), Query: p.querySupport(c.query),
		Public: c.ops.authorize == nil && c.scope == nil, Authorized: c.ops.authorize != nil,
		RequireIfMatch: c.requireIfMatch, AllowRecreate: c.allowRecreate,
		PageSize: c.pageSize, MaxPageSize: c.maxPageSize,
		AssignsIDs: c.ops.create != nil, TakesIDs: c.ops.insert != nil, Remembers: c.ops.deleted != nil,
		Counts: c.ops.count != nil && (c.ops.authorize == nil || c.scopeComplete), Batches: r.batches(),
	}
	d.Query.Sort = append(slices.Clip(d.Query.Sort), r.env.sorts...)
	d.Query.Group = append(slices.Clip(d.Query.Group), r.env.groups...)
	if p.id.Key != nil {
		d.Key = namesOf(p.id.Key)
	}
	d.RemembersRecent = c.deletions != nil
	for _, rel := range p.relations {
		d.Relations = append(d.Relations, rel.Name)
	}
	for _, sample := range c.samples {
		if !p.expresses(sample) {
			continue
		}
		if v, err := p.fromStored(sample); err == nil {
			d.Samples = append(d.Samples, v)
		}
	}
	return d
}

// batches reports whether batches are supported: all operations must be one transaction.
func (r *Resource) batches() bool { return r.core.ops.runner != nil && r.Can(OpCreate) }

// Limits returns the limits of requests, with defaults filled in.
func (c *Catalog) Limits() Limits { return c.opts.Limits }

// Related returns the target of a relation of a bound resource, and how many items [Resource.Follow] returns
// at most for one item: zero for a relation to one item. The target is nil if there is no such relation.
func (r *Resource) Related(relation string) (target *Resource, most int) {
	l := r.env.relations[relation]
	switch {
	case l == nil:
		return nil, 0
	case !l.Many:
		return l.target, 0
	}
	return l.target, l.Limit
}

// KeyField returns the JSON name of the field that [Resource.Follow] reads for a relation. It is empty if
// the relation has a function instead of a field, or if r does not show the field. A caller that selects
// fields then has to read all of them. For a relation By without Field and Keys it is the id field.
func (r *Resource) KeyField(relation string) string {
	switch l := r.env.relations[relation]; {
	case l == nil || l.keysOf != nil:
		return ""
	case l.field != nil:
		return r.projection.fieldOf(l.field.Field.Name)
	}
	return r.id()
}

// Target returns the resource of the items that a lookup returns, and nil if the lookup is not part of
// the catalog.
func (c *Catalog) Target(l *Lookup) *Resource {
	if p := c.byName[l.name]; p != nil && (p.part == Part(l) || p.definition == Part(l)) {
		return c.Resource(l.target)
	}
	return nil
}

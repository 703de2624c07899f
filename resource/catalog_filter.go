package resource

// Queries of lists in a catalog: the relations through which a list can be filtered, sorted and grouped.
// Called by catalog.go and by protocols. It calls relation_filter.go and catalog_paths.go.

import (
	"context"
	"fmt"
	"slices"

	"github.com/stoa-go/stoa/query"
)

// attachQueries sets the steps of the relations that Options.Query declares for filters, and the fields
// of related items that it declares as sort keys and for groups. It panics if the store cannot answer one
// of them.
func (c *Catalog) attachQueries(r *Resource) {
	names := r.projection.querySupport(r.core.query).Relations
	for _, name := range names {
		l := c.links[r][name]
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
	sorts, groups := c.attachPaths(r, pathSort), c.attachPaths(r, pathGroup)
	c.targets[r] = c.newTarget(r, sorts, groups)
	if names == nil && sorts == nil && groups == nil {
		return
	}
	c.joined = append(c.joined, r)
	r.catalogs.Add(1)
	for {
		old := r.resolve.Load()
		isOther := func(ctx context.Context) bool { return old != nil && ctx.Value(catalogKey{}) != any(c) }
		resolve := &resolver{
			filter: func(ctx context.Context, f query.Filter) (query.Filter, error) {
				if isOther(ctx) {
					return old.filter(ctx, f)
				}
				return resolveRelations(ctx, f, c.links[r])
			},
			path: func(ctx context.Context, use pathUse, key query.Order, before []query.Order) (
				query.Order, error) {
				if isOther(ctx) {
					return old.path(ctx, use, key, before)
				}
				return joinedKey(ctx, use, key, before, c.links[r])
			},
		}
		if r.resolve.CompareAndSwap(old, resolve) {
			return
		}
	}
}

// QueryTarget describes the fields by which a list of r, a resource of the catalog, can be filtered,
// sorted and grouped, and the relations through which it can be filtered, for [query.Parse] and
// [query.ParseAggregation]: it has the Support, Value, IsList and Relation of their options. Support.Sort
// and Support.Group have the paths of fields of related items, in the names of their resource in the
// catalog. The result is the same for each call and must not be changed.
func (c *Catalog) QueryTarget(r *Resource) *query.Target { return c.targets[r] }

// newTarget makes the result of QueryTarget. sorts and groups are the paths of fields of related items.
func (c *Catalog) newTarget(r *Resource, sorts, groups []string) *query.Target {
	support := r.Describe().Query
	support.Sort = append(slices.Clip(support.Sort), sorts...)
	support.Group = append(slices.Clip(support.Group), groups...)
	return &query.Target{
		Support: support,
		Value:   func(field, text string) (any, error) { return r.Type().Field(field).ParseOperand(text) },
		IsList:  func(field string) bool { return r.Type().Field(field).ComparableElem() },
		Relation: func(name string) *query.Target {
			l := c.links[r][name]
			if l == nil || l.steps == nil {
				return nil
			}
			t := *c.targets[l.target]
			t.Many = l.Many
			return &t
		},
	}
}

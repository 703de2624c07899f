package main

import (
	"slices"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/schema"
)

// collections are what the shop keeps. They share a database, so that they can change together.
type collections struct {
	db     *memory.DB
	orders *memory.Store[Order]
	users  *memory.Store[User]
	places *memory.Store[Place]
	cache  string // Cache-Control of what is served from them
	now    func() time.Time
}

// newCollections returns empty ones. now tells when what is written was written.
func newCollections(cache string, now func() time.Time) *collections {
	db := memory.NewDB()
	return &collections{
		db: db,
		orders: memory.New(&memory.Options[Order]{DB: db, Now: now,
			Index: []string{"status", "customerId", "createdAt"}}),
		users: memory.New(&memory.Options[User]{DB: db, Now: now, Index: []string{"active", "role"}}),
		places: memory.New(&memory.Options[Place]{DB: db, Now: now,
			Index: []string{"name", "country", "kind", "admin", "population", "lat", "lon"}}),
		cache: cache,
		now:   now,
	}
}

// catalogs serve the collections, each in the shapes of one contract, by its name. Places are alike in all of them.
func (c *collections) catalogs() map[string]*resource.Catalog {
	orders, users, places := c.ordersResource(), c.usersResource(), c.placesResource()
	orders11 := ordersV11(orders)
	return map[string]*resource.Catalog{
		"2.0.0": resource.NewCatalog(nil, orders, users, places),
		"1.1.0": resource.NewCatalog(nil, orders11, users, places),
		"1.0.0": resource.NewCatalog(nil, ordersV10(orders11), usersV10(users), places),
	}
}

// assigned takes away that clients may choose ids: the shop does.
func assigned[T any](c resource.Collection[T]) resource.Ops[T] {
	ops := resource.OpsOf(c)
	ops.Insert = nil
	return ops
}

// everything lets clients filter by every field of T that is a single value, and sort by it. Stores that cannot answer
// all of that declare less.
func everything[T any]() query.Support {
	s := query.Support{Filter: map[string][]query.Op{}}
	for _, f := range schema.For[T]().Fields {
		if f.Comparable() {
			s.Filter[f.Name] = comparisons(f)
			s.Sort = append(s.Sort, f.Name)
		}
	}
	return s
}

// comparisons are those that make sense for a field.
func comparisons(f *schema.Field) []query.Op {
	ops := []query.Op{query.Eq, query.Ne, query.In, query.NotIn}
	isTime := f.Type.Format == "date-time"
	if f.Type.Kind != schema.Boolean {
		ops = append(ops, query.Lt, query.Lte, query.Gt, query.Gte)
	}
	if f.Type.Kind == schema.String && !isTime {
		ops = append(ops, query.Contains, query.StartsWith)
	}
	if f.Nullable {
		ops = append(ops, query.IsNull)
	}
	return slices.Clip(ops)
}

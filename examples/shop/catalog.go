package main

// The collections and the catalog of each contract. main.go calls newCollections once and catalogs
// once; every contract shares the same stores.

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/middleware"
	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/job"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/rest"
	"github.com/stoa-go/stoa/resource/schema"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
)

// collections are the stores and services of the shop. They share a database, so one transaction
// can change several of them. Stores are [resource.Ops] and not tables, so that the rest of the
// shop does not depend on the kind of database.
type collections struct {
	db     *database
	orders resource.Ops[Order]
	users  resource.Ops[User]
	places resource.Ops[Place]

	// Only the resources of the catalogs are reachable by clients. These are not among them.
	passwords  resource.Ops[Password]
	tokens     resource.Ops[Token]
	fileOwners resource.Ops[FileOwner]

	once     *idempotency.Guard
	changes  *feed.Feed
	jobs     *job.Jobs
	logins   *middleware.Attempts
	sessions *middleware.Sessions[User]
	folder   *folder
	auth     bool // writes require a bearer token
	rate     middleware.Rate
	cache    string // Cache-Control of items and lists
	now      func() time.Time

	patience time.Duration // for tests; see settings
}

// newCollections opens the collections of a database and creates missing tables. now is the clock
// for timestamps. The caller must call close if there is no error. Errors are collected, so that
// one start reports all of them.
func newCollections(
	ctx context.Context, db *database, s settings, now func() time.Time,
) (*collections, error) {
	c := &collections{db: db, auth: s.auth, rate: s.rate, cache: s.cache, now: now, patience: s.patience,
		logins: middleware.NewAttempts(&middleware.AttemptsOptions{Wait: s.patience})}
	c.sessions = c.newSessions()
	var errs [9]error
	// The table of users is created first, because orders refer to it by a foreign key.
	c.users, errs[0] = openCollection[User](ctx, c, "users", sqltable.Options{})
	c.orders, errs[1] = openCollection[Order](ctx, c, "orders",
		sqltable.Options{References: map[string]string{"customerId": "users"}})
	c.places, errs[2] = openCollection[Place](ctx, c, "places", sqltable.Options{Search: placesSearch})
	c.passwords, errs[3] = openCollection[Password](ctx, c, "passwords", sqltable.Options{Forget: true})
	c.tokens, errs[4] = openCollection[Token](ctx, c, "tokens", sqltable.Options{Forget: true})
	c.fileOwners, errs[8] = openCollection[FileOwner](ctx, c, "file_owners", sqltable.Options{Forget: true})
	kept, err := openCollection[job.Job](ctx, c, "jobs", sqltable.Options{Forget: true})
	errs[5] = err
	c.once, errs[6] = c.newKeyGuard(ctx, s)
	c.changes, errs[7] = c.newFeed(ctx, s)
	// Jobs need the store only. They start when serve calls Run.
	c.jobs = c.newJobs(kept)
	if err = errors.Join(errs[:]...); err == nil {
		c.folder, err = openFolder(s.files, db)
	}
	if err != nil {
		return c, errors.Join(err, c.changes.Close())
	}
	// The feed reports logouts and changes of users in all processes. Without -auth no user is
	// checked.
	if c.auth {
		go c.endStreams(ctx, endedSessions)
		go c.endStreams(ctx, "users")
	}
	return c, nil
}

// close stops the feed and closes the folder of files. It does not close the database.
func (c *collections) close() error { return errors.Join(c.changes.Close(), c.folder.close()) }

// openCollection returns the collection with this name. opts are options of its SQL table; in
// memory they are ignored. Every field that clients can filter or sort by has an index, because a
// query without one reads the whole table. An index costs time for each write, so a service with
// large tables declares fewer fields in its Query.
func openCollection[T any](
	ctx context.Context, c *collections, name string, opts sqltable.Options,
) (resource.Ops[T], error) {
	index := allFields[T]().Sort
	if c.db.sql == nil {
		return resource.OpsOf(memory.New(&memory.Options[T]{DB: c.db.memory, Now: c.now, Index: index})), nil
	}
	opts.Modified, opts.Index, opts.Now = "modified_at", index, c.now
	table := sqltable.New[T](c.db.sql, name, &opts)
	return table.Ops(), table.CreateTable(ctx)
}

// catalogs returns one catalog for each contract, by name. The contracts differ in orders and users
// only. Each catalog has its own resources of orders and users, views of the same stores. Policies,
// hooks and events are those of the newest contract, so an older contract cannot bypass them.
func (c *collections) catalogs() map[string]*resource.Catalog {
	orders, users, places := c.ordersResource(), c.usersResource(), c.placesResource()
	orders11 := ordersV11(orders)
	common := []resource.Part{
		places,
		c.filesPart(),
		c.jobs.Resource(),
		command.NewImport("places/import", places),
		c.loginCommand(),
		c.cancelCommand(orders, c.jobs),
	}
	common = append(common, c.sessionCommands()...)
	// Keys are scoped to the principal, so two users may use the same key. The guard and the feed
	// are shared by all contracts, which lets a retry or a subscription change the contract.
	opts := resource.CatalogOptions{Principal: c.principal, Idempotency: c.once, Feed: c.changes}
	if !c.auth {
		opts.Limits.Streams = 10_000 // all callers share one principal
	}
	catalog := func(parts ...resource.Part) *resource.Catalog {
		return resource.NewCatalog(&opts, append(parts, common...)...)
	}
	return map[string]*resource.Catalog{
		"2.0.0": catalog(orders, users),
		"1.1.0": catalog(orders11, users),
		"1.0.0": catalog(ordersV10(orders11), usersV10(users)),
	}
}

// restOptions returns the options that all contracts share. By default clients may store responses,
// but must revalidate them. A public value of -cache is for data that every caller may see.
func (c *collections) restOptions() *rest.Options {
	cached := rest.ResourceOptions{Cache: c.cache, VersionInPatch: true}
	return &rest.Options{
		Challenge: middleware.Challenge(realm),
		Resources: map[string]rest.ResourceOptions{
			"orders": cached,
			"users":  cached,
			"places": cached,
			"files":  cached,
		},
	}
}

// assigned removes Insert, so that the shop assigns ids and clients cannot choose them.
func assigned[T any](ops resource.Ops[T]) resource.Ops[T] {
	ops.Insert, ops.InsertMany = nil, nil
	return ops
}

// allFields lets clients filter and sort by every field of T that holds a single value. A store
// that cannot answer all of these queries declares fewer. Lists can also be filtered through relations.
func allFields[T any](relations ...string) query.Support {
	s := query.Support{Filter: map[string][]query.Op{}, Relations: relations}
	for _, f := range schema.For[T]().Fields {
		if f.Comparable() {
			s.Filter[f.Name] = comparisons(f)
			s.Sort = append(s.Sort, f.Name)
		}
	}
	return s
}

// comparisons returns the filter operators that make sense for a field. An operator that is not
// returned here is a 400 for clients, not a wrong result.
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

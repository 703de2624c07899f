package resource

// The catalog: what protocols serve together, its options and its limits. Called by programs and
// protocols. It binds resources (bound.go) and attaches them to the feed
// (publish.go).

import (
	"context"
	"fmt"
	"log/slog"
	"regexp"
	"strings"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/resource/cache"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/internal/mistakes"
	"github.com/stoa-go/stoa/resource/observe"
)

// Catalog is a set of parts that protocols serve together, such as one contract of an API. Package
// rest serves it as REST, package graphql as GraphQL. A Catalog does not change after [NewCatalog]
// and is safe for concurrent use.
type Catalog struct {
	opts    CatalogOptions
	parts   []*catalogPart          // in the order given
	byName  map[string]*catalogPart // commands under area/action
	streams callers
	stamped []*core // with fields for a principal
}

// CatalogOptions adjust a [Catalog]. The zero value is ready to use.
type CatalogOptions struct {
	// Principal returns the name of the caller, for the log, for idempotency keys, for
	// Limits.Streams and for fields with the tag set:"createdBy" or set:"modifiedBy". It returns ""
	// for an anonymous caller. If Principal is nil, all callers are anonymous. A resource in several
	// catalogs, such as the contracts of one API, stores the name of the catalog that serves the
	// request; a write outside of a request stores the first name that is not empty.
	Principal func(ctx context.Context) string

	// Limits bound a request.
	Limits Limits

	// Logger receives internal errors, with the id that the response to the client contains.
	// Default [slog.Default].
	Logger *slog.Logger

	// Idempotency keeps the records of requests with an Idempotency-Key. A repeated request is not
	// carried out again; it receives the response of the first. [Catalog.Guarantees] and the
	// start-up report state what is guaranteed for each part. Keys are scoped to the Principal, which
	// must be set. A keyed request of an anonymous caller is rejected with 400. Catalogs that serve
	// the same resources, such as the contracts of one API, share one Guard. NewCatalog panics if they
	// have different parts of one name: these need a Guard with another Service.
	//
	// If Idempotency is nil, keys are ignored, as draft-ietf-httpapi-idempotency-key-header-08
	// section 2 permits. The description of the API then does not list the header field.
	Idempotency *idempotency.Guard

	// Observe is called at the end of each request of REST and each operation of GraphQL, for metrics and
	// traces. ctx is that of the request, with the values of all middleware. It must return quickly, must
	// not panic, and may be called concurrently. Modules otelobserver and promobserver have functions for
	// OpenTelemetry and Prometheus. If Observe is nil, nothing is measured.
	Observe func(ctx context.Context, o observe.Observation)
	// ObserveMount is the prefix of all routes in observations, such as "/t/{tenant}". Default: as
	// [Catalog.Route] finds it. Set it below gin, and below a mux in [http.StripPrefix].
	ObserveMount string

	// Cache keeps encoded items of collections that are a [Revisioner] or a [RevisionLister]. A resource
	// in several catalogs uses that of the first. If Cache is nil, the catalog has a cache of
	// [cache.DefaultBytes]; cache.New(0) keeps nothing. See also Options.NoCache.
	Cache *cache.Cache

	// Feed receives an event for every write of the resources and serves subscribers. If its log
	// shares the Runner of a collection, the event is appended in the transaction of the write.
	// Otherwise it is appended after the write: a crash between the two loses the event, and
	// events of concurrent writes may be in a different order. The start-up report states which
	// of the two applies. Members that are writeOnly and fields that are not in JSON do not get
	// into the log.
	//
	// Events come from the methods of [Resource] alone. A command that writes to the store itself
	// causes none, unless it calls [Resource.Publish]. The log identifies a resource by its name, so a
	// subscriber under one name receives no writes that were made under another. See also
	// Options.NoEvents.
	//
	// Catalogs that serve the same resources share one Feed. The caller that made the Feed closes
	// it on shutdown, which ends all streams. If Feed is nil, only collections that are a
	// [feed.Watcher] have subscribers.
	Feed *feed.Feed
}

// Limits bound a request. A zero field means its default.
type Limits struct {
	// Body limits the request body in bytes, before and after decompression. Default 1 MiB.
	Body int64
	// URL limits the request target in bytes. Default 8192. RFC 9110 section 4.1 recommends at
	// least 8000.
	URL int
	// Depth limits the nesting of JSON. Default 64.
	Depth int
	// Names limits the members of one JSON object. Default 1000.
	Names int
	// Operations limits the operations of a JSON Patch, and of a batch. Default 1000.
	Operations int
	// Terms limits the comparisons in a filter. Default 20.
	Terms int
	// Expand limits the relations in ?expand= of a REST request. Default 8.
	Expand int
	// Streams limits the open event streams of one principal, over REST and GraphQL together.
	// Default 100. One more is rejected with 429. Streams of anonymous callers are not counted,
	// because many of them may share an address. If anonymous callers may subscribe, limit
	// connections in a proxy.
	Streams int
	// ImportLines and ImportBytes are the limits of an import over REST; see MaxLines and MaxBytes of
	// [ImportOptions], also for the defaults.
	ImportLines int
	ImportBytes int64
}

// orDefaults returns l with defaults for the limits that are not set.
func (l Limits) orDefaults() Limits {
	or := func(v *int, d int) {
		if *v <= 0 {
			*v = d
		}
	}
	if l.Body <= 0 {
		l.Body = 1 << 20
	}
	or(&l.URL, 8192)
	or(&l.Depth, 64)
	or(&l.Names, 1000)
	or(&l.Operations, 1000)
	or(&l.Terms, 20)
	or(&l.Expand, 8)
	or(&l.Streams, 100)
	return l
}

// validPath matches the name of a part.
var validPath = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.~-]*(/[A-Za-z0-9][A-Za-z0-9_.~-]*)?$`)

// ofType returns the type of a nil pointer in an interface, for messages.
func ofType(v any) string {
	if v == nil {
		return ""
	}
	return fmt.Sprintf(" (a %T)", v)
}

// NewCatalog returns a catalog of the parts. opts may be nil. It panics if a part is nil, if two parts
// have the same name, if a name is not a valid path, if a relation, a lookup or the Jobs of a command name a
// resource that is not among the parts, if Relation.By names a field without query.Eq, if a relation of
// Support.Relations has keys without query.In and the collections are no [Joiner], if the collections of a
// path in Support.Sort or Support.Group are not joined, or if a resource is in another catalog with another
// Feed. It also panics if Principal is nil and Idempotency is not, or a resource has fields for a principal,
// and if another catalog has the same Idempotency and a different part of one name. A view is the same part
// as its base, and commands may differ in catalogs that share another part.
func NewCatalog(opts *CatalogOptions, parts ...Part) *Catalog {
	c := &Catalog{byName: map[string]*catalogPart{}}
	if opts != nil {
		c.opts = *opts
	}
	if c.opts.Idempotency != nil && c.opts.Principal == nil {
		panic("resource: NewCatalog: CatalogOptions.Idempotency needs Principal, the owner of a key; " +
			"without authentication set a function that returns a constant")
	}
	if m := c.opts.ObserveMount; m != "" && (m[0] != '/' || m[len(m)-1] == '/') {
		panic(fmt.Sprintf("resource: CatalogOptions.ObserveMount is %q; use a form like /t/{tenant}", m))
	}
	c.opts.Limits = c.opts.Limits.orDefaults()
	if c.opts.Cache == nil {
		c.opts.Cache = cache.New(cache.DefaultBytes)
	}
	for i, p := range parts {
		if mistakes.Nil(p) {
			panic(fmt.Sprintf("resource: NewCatalog: part %d is nil%s; pass an initialized part or remove it",
				i+1, ofType(p)))
		}
		cp := newCatalogPart(c, p)
		if !validPath.MatchString(cp.Name) {
			panic(fmt.Sprintf("resource: invalid part name %q; use the form area or area/action", cp.Name))
		}
		if c.byName[cp.Name] != nil {
			panic(fmt.Sprintf("resource: two parts of the catalog have the name %q; rename one of them",
				cp.Name))
		}
		c.byName[cp.Name] = cp
		c.parts = append(c.parts, cp)
	}
	for _, p := range c.parts {
		c.resolve(p)
	}
	for _, r := range c.Resources() {
		r.bindQueries()
	}
	for _, p := range c.parts {
		c.bindPart(p)
	}
	c.identifyParts()
	for _, p := range c.parts {
		if c.opts.Idempotency != nil && p.Keyed {
			p.guarantee = c.guaranteeOf(p)
		}
		r := p.resource
		if r == nil {
			continue
		}
		r.core.attachCache(c.opts.Cache)
		r.core.attachPrincipal(c, c.opts.Principal)
		if r.core.principals.Load() != nil {
			c.stamped = append(c.stamped, r.core)
		}
		if c.opts.Feed != nil {
			r.core.attach(c.opts.Feed, c.Logger())
		}
	}
	return c
}

// Resource returns the resource with this name, bound to the catalog, and nil if there is none. The resource
// may be the PartInfo.Items of another part. The result is the same pointer for each call.
func (c *Catalog) Resource(name string) *Resource {
	if p := c.byName[name]; p != nil {
		return p.resource
	}
	return nil
}

// Resources returns the resources of the catalog, each as [Catalog.Resource] does, in a new slice. [PartsOf]
// excludes the PartInfo.Items of other parts.
func (c *Catalog) Resources() []*Resource {
	var out []*Resource
	for _, p := range c.parts {
		if p.resource != nil {
			out = append(out, p.resource)
		}
	}
	return out
}

// resolve looks up the targets of relations, lookups and jobs. All parts have been added before.
func (c *Catalog) resolve(p *catalogPart) {
	if l, ok := p.part.(*Lookup); ok {
		c.mustFind("lookup "+p.Name, l.target)
	}
	if p.Jobs != "" {
		p.Runner = c.mustFind("part "+p.Name, p.Jobs).core.ops.runner
	}
	if area, action, ok := strings.Cut(p.Name, "/"); ok { // the path of an item with this id is taken
		if above := c.Resource(area); above != nil && above.ValidID(action) {
			above.core.reserved.Store(action, true)
		}
	}
	if p.resource != nil {
		c.bindRelations(p.resource)
	}
}

// mustFind returns the resource with this name. It panics with the name of the part that refers to
// it.
func (c *Catalog) mustFind(user, name string) *Resource {
	r := c.Resource(name)
	if r == nil {
		panic(fmt.Sprintf("resource: %s: the catalog has no resource %q; pass it to NewCatalog", user, name))
	}
	return r
}

// Logger returns CatalogOptions.Logger, or [slog.Default].
func (c *Catalog) Logger() *slog.Logger {
	if c.opts.Logger != nil {
		return c.opts.Logger
	}
	return slog.Default()
}

// Principal returns the name of the caller, and "" for an anonymous caller. See
// CatalogOptions.Principal.
func (c *Catalog) Principal(ctx context.Context) string {
	if c.opts.Principal == nil {
		return ""
	}
	return c.opts.Principal(ctx)
}

package resource

import (
	"context"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/internal/keys"
)

// Catalog is the set of parts that protocols serve together, such as one contract of an API: package rest serves it as REST,
// package graphql as GraphQL.
//
// A Catalog does not change after [NewCatalog] and is safe for concurrent use.
type Catalog struct {
	opts    CatalogOptions
	parts   []*catalogPart          // in the order given
	byName  map[string]*catalogPart // commands under area/action
	links   map[*Resource]map[string]*link
	streams callers
}

// CatalogOptions adjust a [Catalog]. The zero value is fine.
type CatalogOptions struct {
	// Principal names the caller of a request, for the log; "" is nobody. Nil means nobody is known.
	Principal func(ctx context.Context) string
	// Limits bound what a request may ask for.
	Limits Limits
	// Logger is told of what clients are not: internal errors, with the id that the answer carried. Nil means
	// [slog.Default].
	Logger *slog.Logger
	// Once keeps the keys of requests that write: one that comes again with the same Idempotency-Key is not done again, and
	// gets the answer of the first. What that is worth for each part is in [Catalog.Guarantees], and in the start-up report.
	// Whose a key is Principal says: a key of nobody is refused (400). All catalogs that serve one thing, such as those of its
	// contracts, share one Guard.
	//
	// Nil means that keys are ignored, as the draft allows
	// (draft-ietf-httpapi-idempotency-key-header-07 section 2): a client sees that from the description of the API, and from
	// a repetition that is answered without Idempotency-Replayed.
	Idempotency *idempotency.Guard
	// Feed is where every write of the resources becomes an event, and what clients listen to. An event is appended in the
	// transaction of its change where the log has the Runner of the collection; else right behind it: then a crash between
	// the two loses it, and so does a log that fails, while transactions and processes that change one item at once may be told
	// in the other order. The start-up report says which it is. Members that are writeOnly, and fields that are not in JSON, do
	// not get into the log. All catalogs that serve one thing, such as those of its contracts, share one Feed, and whoever made it
	// closes it when the server is told to end, so that clients come back elsewhere.
	//
	// One listens by GET of a collection or of an item with Accept: text/event-stream (WHATWG HTML section 9.2). Filters and fields
	// are those of a list. It begins behind Last-Event-ID, or, where a browser cannot send that yet, the parameter lastEventId, or
	// else now; what cannot be gone on from is 410, before the stream begins. Lists and items have an Event-Cursor, from which on
	// nothing is missed that is not in them: of a list that is read page by page, that of the first page. A stream ends when the context of its request does, when nobody reads it for ten
	// seconds, and with the Feed; it goes on when the item that it is of has been deleted, which may come back.
	//
	// What does not write by the methods of [Resource] is no event: a command that changes the store itself is not noticed.
	// In the log a resource is known by its name: what has one name in the catalogs of a Feed is one thing, and whoever listens
	// under one name hears of no write under another.
	// See also Options.NoEvents.
	//
	// Nil means that nobody can listen, but to resources whose collection is a [feed.Watcher].
	Feed *feed.Feed
}

// Limits bound a request. A zero field means its default.
type Limits struct {
	// Body is the largest content in bytes, before and after decompression; 1 MiB by default.
	Body int64
	// URL is the largest request target in bytes; 8192 by default, and at least 8000 is what RFC 9110 section 4.1
	// recommends to support.
	URL int
	// Depth is how deep JSON may nest, 64 by default, and Names how many members one object may have, 1000 by default.
	Depth, Names int
	// Operations is the largest number of operations in a JSON Patch; 1000 by default.
	Operations int
	// Terms is the largest number of comparisons in a filter; 20 by default.
	Terms int
	// Expand is the largest number of relations that one request may follow; 8 by default.
	Expand int
	// Streams is how many streams of events one caller, as Principal names it, may have open at a time, over REST and over
	// GraphQL together; 100 by default. One more is 429. Who has no name is not counted, as with WebSockets, since many may come
	// from one address: where strangers can listen, bound the connections in front. A catalog for which everybody is the same
	// one needs more.
	Streams int
}

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

// NewCatalog returns a catalog of the parts. opts may be nil. It panics if two parts have one
// name, if a name cannot be a path, and if a relation of a
// part, or the Jobs of a command, lead to a resource that is not among the parts.
func NewCatalog(opts *CatalogOptions, parts ...Part) *Catalog {
	c := &Catalog{byName: map[string]*catalogPart{}, links: map[*Resource]map[string]*link{}}
	if opts != nil {
		c.opts = *opts
	}
	c.opts.Limits = c.opts.Limits.orDefaults()
	for _, p := range parts {
		cp := &catalogPart{PartInfo: p.Part(), part: p}
		if !validPath.MatchString(cp.Name) {
			panic(fmt.Sprintf("resource: %q cannot be the name of a part: it is of the form area or area/action", cp.Name))
		}
		if c.byName[cp.Name] != nil {
			panic(fmt.Sprintf("resource: two parts of the catalog are at /%s", cp.Name))
		}
		c.byName[cp.Name] = cp
		c.parts = append(c.parts, cp)
	}
	for _, p := range c.parts {
		c.resolve(p)
	}
	for _, p := range c.parts {
		if c.opts.Idempotency != nil && p.Keyed {
			p.guarantee = c.guaranteeOf(p)
		}
		if r := p.asResource(); c.opts.Feed != nil && r != nil {
			r.core.attach(c.opts.Feed, c.Logger())
		}
	}
	return c
}

// Parts returns the parts in the order in which they were given.
func (c *Catalog) Parts() []Part {
	out := make([]Part, len(c.parts))
	for i, p := range c.parts {
		out[i] = p.part
	}
	return out
}

// Resources returns the resources of the catalog in the order in which they were given.
func (c *Catalog) Resources() []*Resource { return PartsOf[*Resource](c) }

// resolve finds the targets of relations, lookups and jobs, now that all parts are known.
func (c *Catalog) resolve(p *catalogPart) {
	if l, ok := p.part.(*Lookup); ok {
		c.mustFind("lookup "+p.Name, l.target)
	}
	if p.Jobs != "" {
		p.Runner = c.mustFind("part "+p.Name, p.Jobs).core.ops.runner
	}
	if area, action, ok := strings.Cut(p.Name, "/"); ok { // an item with this id could not be requested
		if above := c.byName[area].asResource(); above != nil && above.ValidID(action) {
			above.core.reserved.Store(action, true)
		}
	}
	if r := p.asResource(); r != nil {
		c.resolveRelations(r)
	}
}

// resolveRelations finds the targets of the relations of a resource.
func (c *Catalog) resolveRelations(r *Resource) {
	links := map[string]*link{}
	for _, rel := range r.projection.relations {
		l := &link{relation: rel, target: c.mustFind("relation "+rel.Name+" of "+r.Name(), rel.Target)}
		if rel.By != "" {
			f := l.target.core.typ.Field(rel.By) // a view may hide or rename it
			if f == nil || !slices.Contains(l.target.core.query.Filter[rel.By], query.Eq) {
				panic(fmt.Sprintf("resource: relation %s of %s: %s does not declare %q for query.Eq",
					rel.Name, r.Name(), rel.Target, rel.By))
			}
			l.by = keys.NewReader(f)
		}
		links[rel.Name] = l
	}
	c.links[r] = links
}

func (c *Catalog) mustFind(user, name string) *Resource {
	r := c.byName[name].asResource()
	if r == nil {
		panic(fmt.Sprintf("resource: %s leads to %q, which is no resource of this catalog", user, name))
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

// Principal returns the caller as CatalogOptions.Principal names it; "" for an unknown one.
func (c *Catalog) Principal(ctx context.Context) string {
	if c.opts.Principal == nil {
		return ""
	}
	return c.opts.Principal(ctx)
}

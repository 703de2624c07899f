package resource

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/version"
)

// Catalog is a set of parts served together: an [http.Handler] for all of their paths. Mount it anywhere; behind
// [http.StripPrefix] the URLs it gives out keep the prefix. It answers every request itself, errors included, always
// with problem details (RFC 9457).
//
// An id is one segment of a path, escaped, so it may hold nearly anything. But a proxy in front may decode %2F on the way
// (nginx does where proxy_pass names a path), and then a/b is two segments: ids without reserved characters arrive
// everywhere.
//
// What a request is for it notes in Request.Pattern, such as "/orders/{id}", in place of the pattern by which a mux has found
// the catalog: logs and traces name requests by that. It is the path as the catalog sees it; a [http.StripPrefix] in between
// does not pass it on.
//
// A Catalog does not change once it is made and is safe for concurrent use.
type Catalog struct {
	opts     CatalogOptions
	parts    []Part
	table    map[string]*route
	commands map[string]map[string]*route // by area and action
	links    map[*Resource]map[string]*link
	routes   []*route // in the order of the parts
	streams  callers
}

// Part is something a [Catalog] can serve: a [*Resource], a [*Lookup], a [*Command] or [*Blobs].
type Part interface {
	// addTo is unexported, so that only this package makes parts: each needs its place on every door.
	addTo(c *Catalog) *route
}

// CatalogOptions adjust a [Catalog]. The zero value is fine.
type CatalogOptions struct {
	// Base stands before every path in the URLs that are given out. It is for what the catalog cannot see: a proxy that
	// strips a prefix ("/api"), or clients that want absolute URLs ("https://api.example.com"). Empty means
	// path-absolute references from the root as the request saw it. An absolute Base leads every client to one host, so
	// where the host names the contract each catalog has a Base of its own.
	Base string
	// Principal names the caller of a request, for the log; "" is nobody. Nil means nobody is known.
	Principal func(ctx context.Context) string
	// Challenge is the WWW-Authenticate value of a 401, "Bearer" if empty (RFC 9110 section 11.6.1).
	Challenge string
	// Limits bound what a request may ask for.
	Limits Limits
	// Logger is told of what clients are not: internal errors, with the id that the answer carried. Nil means
	// [slog.Default].
	Logger *slog.Logger
	// Once keeps the keys of requests that write: one that comes again with the same Idempotency-Key is not done again, and
	// gets the answer of the first. What that is worth for each part is in [Catalog.Guarantees], and in the start-up report.
	// Whose a key is Principal says: a key of nobody is refused (400). All catalogs that serve one thing, such as those of its
	// contracts, share one Keeper.
	//
	// Nil means that keys are ignored, as the draft allows
	// (draft-ietf-httpapi-idempotency-key-header-07 section 2): a client sees that from the description of the API, and from
	// a repetition that is answered without Idempotency-Replayed.
	Once *idempotency.Keeper
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

// NewCatalog returns a handler for the parts. opts may be nil. It panics if two parts have one path, if a relation of a
// part, or the Jobs of a command, lead to a resource that is not among the parts, and if Base has a query or ends with a
// slash.
func NewCatalog(opts *CatalogOptions, parts ...Part) *Catalog {
	c := &Catalog{parts: parts, table: map[string]*route{}, commands: map[string]map[string]*route{},
		links: map[*Resource]map[string]*link{}}
	if opts != nil {
		c.opts = *opts
	}
	if strings.ContainsAny(c.opts.Base, "?#") || strings.HasSuffix(c.opts.Base, "/") {
		panic(fmt.Sprintf("resource: CatalogOptions.Base %q has a query or ends with a slash", c.opts.Base))
	}
	c.opts.Limits = c.opts.Limits.orDefaults()
	if c.opts.Challenge == "" {
		c.opts.Challenge = "Bearer"
	}
	for _, p := range parts {
		rt := p.addTo(c)
		rt.patternList, rt.patternItem = "/"+rt.name, "/"+rt.name+"/{id}"
		table, name := c.table, rt.name
		if area, action, ok := strings.Cut(rt.name, "/"); ok {
			if c.commands[area] == nil {
				c.commands[area] = map[string]*route{}
			}
			table, name = c.commands[area], action
		}
		if table[name] != nil {
			panic(fmt.Sprintf("resource: two parts of the catalog are at /%s", rt.name))
		}
		table[name] = rt
		c.routes = append(c.routes, rt)
	}
	for _, rt := range c.routes {
		c.resolve(rt)
	}
	for _, rt := range c.routes {
		if c.opts.Once != nil && rt.writable() {
			rt.keyed, rt.guaranteed = true, c.guarantee(rt)
		}
		if rt.command != nil {
			rt.gives = shortHash(fingerprint(rt.command.out, 0))
		}
		if c.opts.Feed != nil && rt.resource != nil {
			rt.resource.core.attach(c.opts.Feed, c.logger())
		}
	}
	return c
}

// Resources returns the resources of the catalog in the order in which they were given.
func (c *Catalog) Resources() []*Resource {
	var out []*Resource
	for _, p := range c.parts {
		if r, ok := p.(*Resource); ok {
			out = append(out, r)
		}
	}
	return out
}

// resolve finds the ends of relations and lookups, now that all parts are known.
func (c *Catalog) resolve(rt *route) {
	switch {
	case rt.lookup != nil:
		rt.resource = c.mustFind("lookup "+rt.name, rt.lookup.target)
		return
	case rt.command != nil:
		c.resolveCommand(rt)
		return
	case rt.resource == nil:
		return
	}
	links := map[string]*link{}
	for _, rel := range rt.resource.projection.relations {
		l := &link{relation: rel, target: c.mustFind("relation "+rel.Name+" of "+rt.name, rel.Target)}
		if rel.By != "" {
			f := l.target.core.typ.Field(rel.By) // a view that hides or renames it is led to all the same
			if f == nil || !declaresEq(l.target.core.query.Filter[rel.By]) {
				panic(fmt.Sprintf("resource: relation %s of %s: %s does not declare %q for query.Eq",
					rel.Name, rt.name, rel.Target, rel.By))
			}
			l.by = newKeyReader(f)
		}
		links[rel.Name] = l
	}
	c.links[rt.resource] = links
}

func (c *Catalog) mustFind(who, name string) *Resource {
	rt := c.table[name]
	if rt == nil || rt.resource == nil || rt.lookup != nil {
		panic(fmt.Sprintf("resource: %s leads to %q, which is no resource of this catalog", who, name))
	}
	return rt.resource
}

func (c *Catalog) logger() *slog.Logger {
	if c.opts.Logger != nil {
		return c.opts.Logger
	}
	return slog.Default()
}

// ServeHTTP answers one request.
func (c *Catalog) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := call{c: c, w: w, r: r, sel: version.From(r.Context()), mediaType: typeJSON}
	x.contractTag = x.sel.Contract()
	defer x.recoverPanic()
	if err := x.serve(); err != nil {
		x.fail(err)
	}
}

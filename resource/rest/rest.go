// Package rest serves the resources of a [resource.Catalog] as an HTTP API.
//
//	catalog := resource.NewCatalog(nil, orders, users)
//	http.ListenAndServe("localhost:8080", rest.New(catalog, nil))
//
// serves GET, HEAD, POST and OPTIONS at /orders, and GET, HEAD, PUT, PATCH, DELETE and OPTIONS at
// /orders/{id}, if the collections have the capabilities. The package implements content
// negotiation, validators and preconditions (RFC 9110), patches (RFC 6902, RFC 7396), problem
// details (RFC 9457), links between pages (RFC 8288), preferences (RFC 7240), range requests, CSV
// (RFC 4180) and change feeds (text/event-stream). It uses only the exported API of package resource.
//
// A request is parsed by route.go (path and method), negotiate.go (media type and contract) and
// body.go. The handler then calls one method of a Resource, and represent.go and validators.go
// write the response.
package rest

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/blob"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/contract"
	"github.com/stoa-go/stoa/resource/csv"
	"github.com/stoa-go/stoa/resource/httpbody"
	"github.com/stoa-go/stoa/resource/patch"
)

// Options configure a [Handler]. The zero value is ready to use.
type Options struct {
	// Base is the prefix of every path in the URLs of responses. Set it to what the handler cannot
	// see: a path prefix that a proxy strips ("/api"), or the origin if clients need absolute URLs
	// ("https://api.example.com"). Default empty: URLs are absolute paths, as in the request. It
	// must not have a query or end with a slash. If the host selects the contract, use one handler
	// with its own Base for each host, because an absolute Base sends every client to one host.
	Base string
	// Challenge is the WWW-Authenticate value of a 401 (RFC 9110 section 11.6.1). Default "Bearer".
	Challenge string
	// CommandNoContent answers commands without output with 204. Default false: 200 with an empty
	// JSON object, which also suits clients that decode each response.
	CommandNoContent bool
	// RequirePatchType refuses PATCH with application/json (415), so that clients have to name the
	// format of a patch. Default false: application/json is a merge patch.
	RequirePatchType bool
	// PatchFormats are additional formats of PATCH, for all resources. Default none: JSON Merge Patch
	// and JSON Patch.
	PatchFormats []patch.Format
	// CSV is the form of text/csv that lists and imports have if a request does not select another by
	// the parameters of the media type. Default: commas, a header row, no byte order mark, and
	// formulas as they are; see [csv.Dialect].
	CSV csv.Dialect
	// Origins are other origins, such as "https://app.example.com". Their pages may send every request,
	// also those that need no CORS preflight: a POST of a form, of text/plain or without Content-Type.
	// Default none: such a request of another origin is 403. Requests without Sec-Fetch-Site and
	// Origin, which browsers do not send, are not affected. If a proxy replaces Host and a page is
	// not served by TLS, name the origin of that page. The handler does not send CORS headers; use a
	// middleware for them.
	Origins []string
	// Resources configures single resources and collections of blobs, by name.
	Resources map[string]ResourceOptions
}

// ResourceOptions configure one resource, or one collection of blobs, which uses Cache only.
type ResourceOptions struct {
	// Cache is the Cache-Control value of items and lists. Default "private, no-cache". A value
	// that allows a cache to respond without revalidation means that a client may not see its own
	// writes (RFC 9111 section 4.4).
	Cache string
	// Media is the name of an item in vendor media types: order in
	// application/vnd.shop.1.order+json. Default: the name of the stored Go type in lower case.
	Media string
	// AlwaysETagOnPut sends an ETag with every successful PUT. RFC 9110 section 9.3.4 allows it
	// only if the body was stored without changes. Many servers send it anyway, because it saves
	// clients a request.
	AlwaysETagOnPut bool
	// RepeatedDelete is the status code of a DELETE of an item that is already deleted: 410 or 204.
	// Default 410. If neither the collection nor the process remembers the deletion, or the caller may
	// not know of it, the status code is 404.
	RepeatedDelete int
	// HideQuery leaves the URLs of equivalent GET requests out of the response to QUERY: Location,
	// Content-Location and Link. Set it if filters are confidential, because URLs are often logged
	// (RFC 10008 section 4).
	HideQuery bool
	// VersionInPatch lets a patch name the contract by the member of version.Body, as the bodies of
	// POST, PUT and commands do: a merge patch, and an object in one of Options.PatchFormats that is
	// JSON. Without it the member is data, and unknown.
	VersionInPatch bool
}

// settings returns the options of the named resource or collection of blobs, with every default
// except that of Media.
func (o *Options) settings(name string) ResourceOptions {
	var r ResourceOptions
	if o != nil {
		r = o.Resources[name]
	}
	if r.Cache == "" {
		r.Cache = "private, no-cache"
	}
	if r.RepeatedDelete == 0 {
		r.RepeatedDelete = http.StatusGone
	}
	return r
}

// Resource returns the options of r with the defaults filled in. o may be nil.
func (o *Options) Resource(r *resource.Resource) ResourceOptions {
	settings := o.settings(r.Name())
	if settings.Media == "" {
		settings.Media = strings.ToLower(r.Describe().Stored.Name)
	}
	return settings
}

// Blobs returns the options of b with the default of Cache filled in. o may be nil.
func (o *Options) Blobs(b *blob.Collection) ResourceOptions { return o.settings(b.Name()) }

// CommandMedia returns the name of the input and output of a command in vendor media types. It is
// the action of the command in lower case.
func CommandMedia(c *command.Command) string {
	_, action, _ := strings.Cut(c.Name(), "/")
	return strings.ToLower(action)
}

// Handler serves a catalog at the paths of its parts. It can be mounted at any path; URLs in
// responses include a prefix that [http.StripPrefix] has removed. Every error response has problem
// details (RFC 9457).
//
// An id is one escaped path segment and may contain almost any character. A proxy may decode %2F
// (nginx does if proxy_pass has a path), and a/b then becomes two segments. Ids without reserved
// characters are safe.
//
// The handler sets Request.Pattern, such as "/orders/{id}", so that logs and traces can name the
// route. The pattern does not include a prefix that [http.StripPrefix] has removed, and the
// middleware outside StripPrefix does not see it.
//
// A Handler is safe for concurrent use.
type Handler struct {
	catalog *resource.Catalog
	opts    Options
	// by collection and action
	limits      resource.Limits
	patchTypes  []string // the media types of PATCH
	crossOrigin *http.CrossOriginProtection
	// in the order of the catalog
	table    map[string]*route
	commands map[string]map[string]*route // by area and action
	routes   []*route                     // in the order of the parts
}

// New returns the handler of a catalog. opts may be nil. It panics if catalog is nil, if Base has a
// query or ends with a slash, if CSV has another delimiter than those of [csv.Dialect], if a format in
// PatchFormats is not valid or has the media type of another one, if Origins has a value that is not an
// origin, if Resources names a resource that is not in the catalog, or if RepeatedDelete is neither 204
// nor 410.
func New(catalog *resource.Catalog, opts *Options) *Handler {
	if catalog == nil {
		panic("rest: New: catalog is nil; pass the catalog to serve")
	}
	h := &Handler{catalog: catalog, limits: catalog.Limits(), table: map[string]*route{},
		commands: map[string]map[string]*route{}}
	if opts != nil {
		h.opts = *opts
	}
	if strings.ContainsAny(h.opts.Base, "?#") || strings.HasSuffix(h.opts.Base, "/") {
		panic(fmt.Sprintf("rest: Options.Base %q must not have a query or fragment or end with a slash",
			h.opts.Base))
	}
	if err := h.opts.CSV.Check(); err != nil {
		panic("rest: Options.CSV: " + err.Error())
	}
	if h.opts.Challenge == "" {
		h.opts.Challenge = "Bearer"
	}
	h.opts.PatchFormats = slices.Clone(h.opts.PatchFormats)
	h.patchTypes = h.opts.patchTypes()
	h.crossOrigin = newCrossOrigin(h.opts.Origins)
	for _, p := range resource.PartsOf[resource.Part](catalog) {
		// Other protocols may have kinds of parts that REST does not serve.
		if rt := h.newRoute(p); rt != nil {
			h.add(rt)
		}
	}
	// A job is rendered by the resource that stores it, which may be added after the command.
	for _, rt := range h.routes {
		if rt.command != nil && rt.command.Jobs() != nil {
			rt.jobs = h.table[rt.command.Jobs().Name()].resource
			rt.jobsMedia = h.opts.Resource(rt.jobs).Media
		}
	}
	// Sorted, so that a program with two mistakes always reports the same one.
	for _, name := range slices.Sorted(maps.Keys(h.opts.Resources)) {
		rt := h.table[name]
		// The options of a lookup are those of its target.
		if rt == nil || rt.lookup != nil {
			panic(fmt.Sprintf("rest: Options.Resources names %q, which is not a resource of the catalog",
				name))
		}
		if s := h.opts.settings(name).RepeatedDelete; s != http.StatusNoContent && s != http.StatusGone {
			panic(fmt.Sprintf("rest: Options.Resources[%q].RepeatedDelete is %d, but must be 204 or 410",
				name, s))
		}
	}
	return h
}

// add registers a route by its path. The name of a command has two segments, such as
// "orders/cancel".
func (h *Handler) add(rt *route) {
	table, name := h.table, rt.name
	if area, action, ok := strings.Cut(rt.name, "/"); ok {
		if h.commands[area] == nil {
			h.commands[area] = map[string]*route{}
		}
		table, name = h.commands[area], action
	}
	table[name] = rt
	h.routes = append(h.routes, rt)
}

// Report returns the weak settings, for the start-up report: for each a line with the path and an
// indented line with the reason. It is empty if there is none.
func (h *Handler) Report() string {
	var b strings.Builder
	for _, rt := range h.routes {
		// A shared cache that stores a response to one principal can send it to another.
		if len(rt.cache) > 0 && strings.Contains(rt.cache[0], "public") {
			for _, items := range h.guarded(rt) {
				const weak = "/%s\n    weak: Cache-Control is public, but access to %s is restricted\n"
				fmt.Fprintf(&b, weak, rt.name, items)
			}
		}
	}
	return b.String()
}

// guarded names what responses of a route contain or depend on, and some callers may not see.
func (h *Handler) guarded(rt *route) (items []string) {
	switch {
	case rt.blobs != nil:
		if rt.blobs.Options().Authorize != nil {
			items = append(items, "the items")
		}
	case rt.resource != nil && rt.lookup == nil:
		d := rt.resource.Describe()
		if !d.Public {
			items = append(items, "the items")
		}
		for _, relation := range d.Relations {
			target, _ := rt.resource.Related(relation)
			if target != nil && target != rt.resource && !target.Describe().Public {
				items = append(items, "the related items "+relation)
			}
		}
	}
	return items
}

// ServeHTTP handles one request. A panic becomes 500, or an aborted connection if the response has
// started.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := call{h: h, w: w, r: r, sel: contract.From(r.Context()), mediaType: typeJSON}
	// Entity tags of two contracts differ, because their bodies do (RFC 9110 section 8.8.3).
	x.contractTag = x.sel.Name()
	if ctx, rec := h.catalog.Record(r.Context()); rec != nil {
		observed := x // a copy, so that x stays on the stack
		observed.serveObserved(ctx, rec)
		return
	}
	x.answer()
}

// answer serves the request and sends the problem details of an error.
func (c *call) answer() {
	// net/http would only close the connection. A proxy in front would then report 502.
	defer c.recoverPanic()
	if err := c.serve(); err != nil {
		c.fail(err)
	}
}

// buffers is the pool of buffers for request and response bodies. Buffers over 1 MiB are not
// reused.
var buffers = httpbody.NewBuffers(4096, 1<<20)

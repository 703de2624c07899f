// Package rest serves the resources of a [resource.Catalog] as an HTTP API.
//
//	catalog := resource.NewCatalog(nil, orders, users)
//	http.ListenAndServe("localhost:8080", rest.New(catalog, nil))
//
// answers GET, HEAD, POST and OPTIONS at /orders, and GET, HEAD, PUT, PATCH, DELETE and OPTIONS at /orders/{id}, as far as the
// collections have the capabilities. It is one protocol over package resource, and uses its exported API only: negotiation,
// validators and preconditions (RFC 9110), patches (RFC 6902, RFC 7396), problem details (RFC 9457), links between pages
// (RFC 8288), preferences (RFC 7240), range requests and change feeds (text/event-stream).
//
// A request is read by route.go (path and method), negotiate.go (media type and contract) and body.go, calls one method of a
// Resource, and is answered by represent.go and validators.go.
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
	"github.com/stoa-go/stoa/resource/httpbody"
	"github.com/stoa-go/stoa/version"
)

// Options adjust a [Handler]. The zero value is ready to use.
type Options struct {
	// Base precedes every path in the URLs of responses. It is for what the handler cannot see: a proxy that strips a prefix
	// ("/api"), or clients that need absolute URLs ("https://api.example.com"). Empty means path-absolute references from the
	// root as the request has it. An absolute Base leads every client to one host, so if the host names the contract, each
	// handler has a Base of its own. It has no query and does not end with a slash.
	Base string
	// Challenge is the WWW-Authenticate value of a 401 (RFC 9110 section 11.6.1). Default "Bearer".
	Challenge string
	// Resources are the settings of single parts, by name: those of resources and of blobs.
	Resources map[string]ResourceOptions
}

// ResourceOptions are the settings of one resource, or of one collection of blobs.
type ResourceOptions struct {
	// Cache is the Cache-Control value of items and lists. Default "private, no-cache". Any value that lets a cache answer
	// without revalidation means that a client may not see its own writes (RFC 9111 section 4.4).
	Cache string
	// Media is the name of an item in vendor media types: order in application/vnd.shop.1.order+json. Default: the name of
	// the stored Go type in lower case.
	Media string
	// AlwaysETagOnPut sends an ETag with every successful PUT. RFC 9110 section 9.3.4 allows it only if the body was stored
	// octet by octet; many servers send it anyway, and clients save a request.
	AlwaysETagOnPut bool
	// RepeatedDelete is the status code for deleting a deleted item: 410 or 204. Default 410.
	RepeatedDelete int
}

// of returns the settings of the part with this name, with the defaults of all but Media.
func (o *Options) of(name string) ResourceOptions {
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

// Resource returns the settings of a resource with the defaults filled in. A nil o has none.
func (o *Options) Resource(r *resource.Resource) ResourceOptions {
	settings := o.of(r.Name())
	if settings.Media == "" {
		settings.Media = strings.ToLower(r.Describe().Stored.Name)
	}
	return settings
}

// Blobs returns the settings of a collection of blobs with the defaults filled in. A nil o has none.
func (o *Options) Blobs(b *blob.Collection) ResourceOptions { return o.of(b.Name()) }

// CommandMedia returns the name of the input and output of a command in vendor media types: its action in lower case.
func CommandMedia(c *command.Command) string {
	_, action, _ := strings.Cut(c.Name(), "/")
	return strings.ToLower(action)
}

// Handler serves a catalog at the paths of its parts. It can be mounted anywhere; below [http.StripPrefix] the URLs of its
// responses keep the prefix. It answers every request itself, and every error with problem details (RFC 9457).
//
// An id is one escaped segment of a path and may contain almost anything. But a proxy may decode %2F on the way (nginx does if
// proxy_pass names a path), and then a/b is two segments; ids without reserved characters are safe.
//
// It sets Request.Pattern, such as "/orders/{id}", so that logs and traces can name the route. That is the path as the handler
// sees it; an [http.StripPrefix] in between does not pass it on.
//
// A Handler is safe for concurrent use.
type Handler struct {
	catalog  *resource.Catalog
	opts     Options
	limits   resource.Limits
	table    map[string]*route
	commands map[string]map[string]*route // by area and action
	routes   []*route                     // in the order of the parts
}

var (
	_ version.Reserver = (*Handler)(nil)
	_ version.Opaque   = (*Handler)(nil)
)

// New returns the handler of a catalog. opts may be nil. It panics if Base has a query or ends with a slash, if Resources names
// a part that the catalog does not have, and if RepeatedDelete is neither 204 nor 410.
func New(catalog *resource.Catalog, opts *Options) *Handler {
	h := &Handler{catalog: catalog, limits: catalog.Limits(), table: map[string]*route{}, commands: map[string]map[string]*route{}}
	if opts != nil {
		h.opts = *opts
	}
	if strings.ContainsAny(h.opts.Base, "?#") || strings.HasSuffix(h.opts.Base, "/") {
		panic(fmt.Sprintf("rest: Options.Base %q has a query or ends with a slash", h.opts.Base))
	}
	if h.opts.Challenge == "" {
		h.opts.Challenge = "Bearer"
	}
	for _, p := range catalog.Parts() {
		if rt := h.newRoute(p); rt != nil {
			h.add(rt)
		}
	}
	for _, rt := range h.routes {
		if rt.command != nil && rt.command.Jobs() != nil {
			rt.jobs = h.table[rt.command.Jobs().Name()].resource
			rt.jobsMedia = h.opts.Resource(rt.jobs).Media
		}
	}
	for _, name := range slices.Sorted(maps.Keys(h.opts.Resources)) {
		rt := h.table[name]
		if rt == nil || rt.lookup != nil {
			panic(fmt.Sprintf("rest: Options.Resources names %q, which is no resource of the catalog", name))
		}
		if s := h.opts.of(name).RepeatedDelete; s != http.StatusNoContent && s != http.StatusGone {
			panic(fmt.Sprintf("rest: Options.Resources[%q].RepeatedDelete is %d, but must be 204 or 410", name, s))
		}
	}
	return h
}

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

// Report describes settings that are weaker than they could be, one line each, for the start-up report.
func (h *Handler) Report() string {
	var b strings.Builder
	for _, rt := range h.routes {
		guarded := rt.resource != nil && rt.lookup == nil && rt.resource.Describe().Authorized ||
			rt.blobs != nil && rt.blobs.Options().Authorize != nil
		if guarded && strings.Contains(rt.cache[0], "public") {
			fmt.Fprintf(&b, "/%s\n    weak: Cache-Control is public, but access to the items is restricted\n", rt.name)
		}
	}
	return b.String()
}

// ServeHTTP answers one request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := call{h: h, w: w, r: r, sel: version.From(r.Context()), mediaType: typeJSON}
	x.contractTag = x.sel.Contract()
	defer x.recoverPanic()
	if err := x.serve(); err != nil {
		x.fail(err)
	}
}

// buffers hold request and response bodies.
var buffers = httpbody.NewBuffers(4096, 1<<20)

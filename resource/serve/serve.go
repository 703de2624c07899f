// Package serve mounts everything about a [resource.Catalog] with one line:
//
//	http.ListenAndServe("localhost:8080", serve.New(catalog, nil))
//
// A [Handler] serves these paths:
//
//	/                           an index, in HTML for browsers and in JSON for others
//	/orders, /orders/{id} ...   the catalog over REST (package rest)
//	/graphql                    the catalog over GraphQL, with its page (package graphql)
//	/openapi.json, .yaml        the OpenAPI document (package openapi)
//	/docs                       a documentation page (package docspage)
//	/health, /ready             health checks for load balancers and orchestrators
//	/.well-known/api-catalog    links to the documents (RFC 9727)
//	/llms.txt                   a summary in Markdown for language models
//
// Each part can be left out by [Options]. The handler can be mounted below a prefix with
// [http.StripPrefix]; all links then include the prefix.
//
// # Versions
//
// An API with several versions has a catalog for each of them. [NewContract] returns the handler of
// one, for a [version.Negotiator], and [NewVersions] serves the Negotiator and the paths that belong
// to no version:
//
//	opts := &serve.Options{Title: "Shop"}
//	api := version.New([]version.Contract{
//		{Name: "2.0.0", Handler: serve.NewContract(current, opts)},
//		{Name: "1.0.0", Handler: serve.NewContract(older, opts)},
//	}, []version.Strategy{version.Path{}}, &version.Options{Default: "2.0.0"})
//	http.ListenAndServe("localhost:8080", serve.NewVersions(api, opts))
//
// The document of a version is /openapi/2.0.0.json; set OpenAPI of its [version.Contract] to this path
// if responses should link to it. /openapi lists the versions. /openapi.json is the document of the
// default version or, without a default, of the newest.
//
// # Dependencies
//
// The package imports REST, GraphQL and OpenAPI. A program that needs only one of them imports its
// package instead and has a smaller binary.
package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/stoa-go/stoa/middleware"
	"github.com/stoa-go/stoa/query/graphql"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/httpbody"
	"github.com/stoa-go/stoa/resource/internal/mount"
	"github.com/stoa-go/stoa/resource/openapi"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/rest"
	"github.com/stoa-go/stoa/version"
)

// Options configures a [Handler] and a [Contract]. The zero value serves everything to every caller.
// Nil means the zero value.
type Options struct {
	// Title is the name of the API in all documents and pages. Default "API".
	Title string
	// Description is a sentence or a paragraph about the API, in CommonMark. Default empty.
	Description string

	// Challenge is the WWW-Authenticate value of responses to callers without valid credentials, from REST,
	// GraphQL and Authorize (RFC 9110 section 11.6.1), such as the result of [middleware.Challenge]. It can
	// have several challenges, separated by commas. Default "Bearer".
	Challenge string

	// REST are the options of the REST handler, which the OpenAPI document describes too. Challenge
	// must be empty, because that above applies.
	REST *rest.Options
	// GraphQL are the options of the GraphQL handler. Title and Description have the defaults above.
	// Challenge must be empty, because that above applies.
	GraphQL *graphql.Options
	// OpenAPI are the options of the OpenAPI documents. Title and Description have the defaults
	// above. REST and Negotiator must be nil, because they are set by this package.
	OpenAPI *openapi.Options

	// Ready are the checks of /ready, by name, such as a ping of the database. Nil means that the
	// server is ready unless it is shutting down. /health runs no checks, because a restart of the
	// process does not repair a database.
	Ready map[string]func(ctx context.Context) error
	// Authorize is called for requests of documents and pages: the index, OpenAPI, the schema and
	// the page of GraphQL, the documentation page, the API catalog and llms.txt. An error rejects the
	// request; it is [resource.ErrUnauthenticated], [resource.ErrForbidden] or a [*problem.Details].
	// Health checks need no authorization, and operations have that of their resources. GraphQL
	// introspection is an operation: see [graphql.Options]. Nil means that documents and pages are
	// public.
	Authorize func(r *http.Request) error

	// NoREST leaves out REST, and the documents about it.
	NoREST bool
	// NoGraphQL leaves out GraphQL.
	NoGraphQL bool
	// NoOpenAPI leaves out the OpenAPI documents and /docs.
	NoOpenAPI bool
	// NoDocs leaves out the documentation page at /docs.
	NoDocs bool
	// NoHealth leaves out /health and /ready.
	NoHealth bool
	// NoAPICatalog leaves out /.well-known/api-catalog.
	NoAPICatalog bool
	// NoLLMs leaves out /llms.txt.
	NoLLMs bool
	// NoIndex leaves out the index.
	NoIndex bool
}

// orDefaults returns a copy of o with the defaults. It panics if REST, GraphQL or OpenAPI have options
// that this package sets.
func (o *Options) orDefaults() *Options {
	out := Options{}
	if o != nil {
		out = *o
	}
	if out.Title == "" {
		out.Title = "API"
	}
	out.NoOpenAPI = out.NoOpenAPI || out.NoREST
	if d := out.OpenAPI; d != nil && (d.REST != nil || d.Negotiator != nil) {
		panic("serve: Options.OpenAPI must have no REST and no Negotiator; " +
			"set Options.REST, and pass the Negotiator to NewVersions")
	}
	if out.REST != nil && out.REST.Challenge != "" || out.GraphQL != nil && out.GraphQL.Challenge != "" {
		panic("serve: Options.REST and Options.GraphQL must have no Challenge; set Options.Challenge")
	}
	out.Challenge = cmp.Or(out.Challenge, "Bearer")
	return &out
}

// Handler serves an API with its documents and pages. Create it with [New] or [NewVersions]. It is
// safe for concurrent use.
type Handler struct {
	opts       *Options
	api        http.Handler        // a *Contract or the negotiator
	negotiator *version.Negotiator // nil without versions
	contracts  []*contractRoutes   // newest first
	routes     map[string]*route
}

// contractRoutes is a version of the API with the paths of its documents.
type contractRoutes struct {
	*Contract
	name string // "" without versions
	path string // of the OpenAPI document without its extension, such as "/openapi/2.0.0"
}

// New returns the handler of a catalog. opts may be nil. It panics if the name of a part is a path
// of the handler, such as "health", and if the handlers for REST, GraphQL or OpenAPI cannot be made.
func New(c *resource.Catalog, opts *Options) *Handler {
	contract := NewContract(c, opts)
	h := &Handler{opts: contract.opts, api: contract,
		contracts: []*contractRoutes{{contract, "", "/openapi"}}}
	h.addRoutes()
	return h
}

// NewVersions returns the handler of a negotiator. The handlers of its contracts are made by
// [NewContract]; at least one must be. A contract with another handler, or on another server, has no
// document here. The options of NewContract decide about REST, GraphQL and OpenAPI, those of
// NewVersions about everything else. opts may be nil. NewVersions panics like [New], and if opts has
// Authorize but a contract with GraphQL has not.
func NewVersions(n *version.Negotiator, opts *Options) *Handler {
	h := &Handler{opts: opts.orDefaults(), api: n, negotiator: n}
	for _, c := range n.Contracts() {
		if contract, ok := c.Handler.(*Contract); ok {
			if h.opts.Authorize != nil && contract.opts.Authorize == nil && contract.graphql != nil {
				panic("serve: NewVersions has Authorize, and NewContract of version " + c.Name +
					" has not, so its GraphQL page would be public; pass the same Options to both")
			}
			h.contracts = append(h.contracts, &contractRoutes{contract, c.Name, "/openapi/" + c.Name})
		}
	}
	if len(h.contracts) == 0 {
		panic("serve: no contract of the Negotiator has a Handler of serve.NewContract, " +
			"which must not be wrapped")
	}
	h.addRoutes()
	return h
}

// route is a path that belongs to no version.
type route struct {
	part    string // for messages
	private bool   // needs Options.Authorize
	handler http.Handler
}

// addRoutes fills the table of routes and checks the names of all parts against it.
func (h *Handler) addRoutes() {
	h.routes = map[string]*route{}
	o := h.opts
	add := func(omit bool, path, part string, handler http.HandlerFunc) {
		if !omit {
			h.routes[path] = &route{part, true, handler}
		}
	}
	add(o.NoIndex, "/", "the index (Options.NoIndex)", h.serveIndex)
	add(o.NoAPICatalog, "/.well-known/api-catalog", "the API catalog (Options.NoAPICatalog)",
		h.serveAPICatalog)
	add(o.NoLLMs, "/llms.txt", "the summary (Options.NoLLMs)", h.serveLLMs)
	if !o.NoHealth {
		const part = "a health check (Options.NoHealth)"
		h.routes["/health"] = &route{part, false, middleware.Health(nil, nil)}
		h.routes["/ready"] = &route{part, false, middleware.Health(o.Ready, nil)}
	}
	h.addDocuments()
	h.addDocs()
	for _, c := range h.contracts {
		for _, p := range resource.PartsOf[resource.Part](c.catalog) {
			h.checkName(c, p.Part().Name)
		}
	}
}

// checkName panics if the name of a part is one of the paths, or begins with one.
func (h *Handler) checkName(c *contractRoutes, name string) {
	first, _, _ := strings.Cut(name, "/")
	rt := h.routes["/"+first]
	if rt == nil && c.graphql != nil && "/"+first == graphqlPath {
		rt = &route{part: "GraphQL (Options.NoGraphQL)"}
	}
	if rt != nil {
		panic(fmt.Sprintf("serve: /%s is the path of %s, and of the part %q of the catalog; "+
			"rename the part, or leave the other out and mount it at another path", first, rt.part, name))
	}
}

// ServeHTTP serves the documents and pages itself, and passes all other requests to the API. It sets
// Request.Pattern, as REST does.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := r.URL.Path
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	rt := h.routes[path]
	trimmed := strings.TrimSuffix(path, "/")
	switch {
	case rt != nil:
		r.Pattern = path
		if !rt.private || authorize(h.opts, w, r) {
			rt.handler.ServeHTTP(w, r)
		}
	case trimmed != path && h.routes[trimmed] != nil:
		location := h.base(r) + trimmed
		if r.URL.RawQuery != "" {
			location += "?" + r.URL.RawQuery
		}
		w.Header().Set("Location", location)
		w.Header().Set("Cache-Control", "no-store")
		w.WriteHeader(http.StatusPermanentRedirect)
	case strings.HasPrefix(path, "/openapi/") && h.routes["/openapi"] != nil:
		problem.Write(w, r, problem.New(problem.NotFound, "There is no document of this version."))
	default:
		h.api.ServeHTTP(w, r)
	}
}

// authorize calls Options.Authorize and writes the response if it returns an error. Documents have
// Cache-Control: no-cache, so a cache revalidates them and each request is authorized.
func authorize(o *Options, w http.ResponseWriter, r *http.Request) bool {
	if o.Authorize == nil {
		return true
	}
	err := o.Authorize(r)
	if err == nil {
		return true
	}
	d := resource.Problem(err)
	if d.StatusCode() == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", o.Challenge)
	}
	problem.Write(w, r, d)
	return false
}

// base returns the prefix of all links: that of REST, without a trailing slash.
func (h *Handler) base(r *http.Request) string { return h.baseOf() + mount.Prefix(r) }

// baseOf returns rest.Options.Base.
func (h *Handler) baseOf() string {
	if o := h.contracts[0].opts.REST; o != nil {
		return o.Base
	}
	return ""
}

// serveStatic serves content that is rendered for each request, as a document that clients
// revalidate.
func serveStatic(w http.ResponseWriter, r *http.Request, contentType string, content []byte) {
	if httpbody.ReadOnly(w, r) {
		w.Header().Set("Cache-Control", "no-cache")
		httpbody.NewDocument(content).Serve(w, r, contentType)
	}
}

// Shutdown ends the GraphQL operations of all contracts and waits for them, as
// [graphql.Handler.Shutdown] does. Call it after [http.Server.Shutdown].
func (h *Handler) Shutdown(ctx context.Context) error {
	errs := make(chan error, len(h.contracts))
	for _, c := range h.contracts {
		go func() { errs <- c.shutdown(ctx) }()
	}
	var all error
	for range h.contracts {
		all = errors.Join(all, <-errs)
	}
	return all
}

// Report returns a description of the API in plain text, to be logged at start-up: the paths, the
// capabilities of each collection, and settings that weaken security.
func (h *Handler) Report() string {
	paths := []string{}
	for path, rt := range h.routes {
		if rt.part != "" && !strings.HasPrefix(path, "/openapi/") {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	pages := "pages: " + strings.Join(paths, " ") + "\n"
	if h.negotiator == nil {
		c := h.contracts[0]
		return c.catalog.BriefReport(pages, c.report())
	}
	newest := h.contracts[0]
	return newest.catalog.BriefReport(pages, newest.report()) + h.negotiator.BriefReport()
}

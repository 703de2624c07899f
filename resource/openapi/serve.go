package openapi

// Rendering and serving of the document, which is rendered again only if the contract changes.

import (
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/httpbody"
	"github.com/stoa-go/stoa/resource/problem"
)

// rendering is the immutable document for one status of its contract. Requests that have it keep
// using it while a new one is rendered. of is the status to compare with.
type rendering struct {
	of       lifecycle
	json     []byte
	document *httpbody.Document
}

// newRendering renders the document. It panics only because of a bug in this package; the inputs
// have been validated.
func newRendering(c *resource.Catalog, o *Options, now lifecycle) *rendering {
	text, err := json.Marshal(describe(c, o, &now), jsontext.WithIndent("  "))
	if err != nil {
		panic(fmt.Sprintf("openapi: %v", err))
	}
	text = append(text, '\n')
	return &rendering{now, text, httpbody.NewDocument(text)}
}

// The media types of the document. Browsers and most tools request plain JSON. The other type is
// the one that the OpenAPI Initiative recommends; IANA has not registered a type for the format.
const (
	mediaJSON    = "application/json"
	mediaOpenAPI = "application/vnd.oai.openapi+json;version=3.1"
)

// offers are the types for content negotiation. Clients send the OpenAPI type with and without its
// parameter. The first type is preferred if the client accepts several equally, as with Accept:
// */*.
var offers = []string{mediaJSON, mediaOpenAPI, "application/vnd.oai.openapi+json"}

const allow = "GET, HEAD, OPTIONS"

// ServeHTTP serves the document for any path. The response has an entity tag and Cache-Control:
// no-cache, so that clients see a deprecation at once and transfer the document only if it has
// changed. It needs no authentication; a middleware restricts access if the document is not public.
func (d *Document) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		d.serve(w, r)
	case http.MethodOptions:
		h := w.Header()
		h.Set("Allow", allow)
		h.Set("Cache-Control", "no-store")
		h.Set("X-Content-Type-Options", "nosniff")
		w.WriteHeader(http.StatusNoContent)
	// Known methods are 405 and all others 501, as in package rest.
	case http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodConnect,
		http.MethodTrace:
		p := problem.New(problem.MethodNotAllowed, "The document is read-only; use GET or HEAD.")
		p.Header = http.Header{"Allow": {allow}}
		problem.Write(w, r, p)
	default: // RFC 9110 section 9.1
		problem.Write(w, r, problem.New(problem.NotImplemented,
			"The method is not implemented; use GET, HEAD or OPTIONS."))
	}
}

// serve responds with the representation that the client accepts. Each has its own entity tag (RFC
// 9110 section 8.8.3.3).
func (d *Document) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	// first, because the errors below depend on these fields too
	h.Add("Vary", "Accept, Accept-Encoding")
	i, ok := header.Accept(r.Header["Accept"], offers)
	if !ok {
		p := problem.New(problem.NotAcceptable, "The document is served as "+mediaJSON+" or "+mediaOpenAPI+
			".")
		p.Extensions = map[string]any{"available": offers[:2]}
		problem.Write(w, r, p)
		return
	}
	// Without this check, Document.Serve would send a coding that the client has excluded.
	if enc := header.AcceptEncoding(r.Header["Accept-Encoding"]); !enc.Gzip && !enc.Identity {
		problem.Write(w, r, problem.New(problem.NotAcceptable,
			"The document is served uncompressed or with gzip; Accept-Encoding allows neither."))
		return
	}
	// A field that cannot be parsed is rejected as in package rest, instead of being ignored.
	if _, err := header.ParseTags(r.Header["If-None-Match"]); err != nil {
		p := problem.New(problem.InvalidHeader, "If-None-Match must be * or a list of entity tags.")
		p.Errors = []problem.Violation{{Header: "If-None-Match", Code: "syntax"}}
		problem.Write(w, r, p)
		return
	}
	// Both forms of the OpenAPI type receive the form with the version, which is more precise.
	media := mediaJSON
	if i > 0 {
		media = mediaOpenAPI
	}
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Content-Type-Options", "nosniff")
	d.current().document.Serve(w, r, media)
}

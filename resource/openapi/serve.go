package openapi

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

// rendering is the document as it is for one state of its contract. It does not change.
type rendering struct {
	of       lifecycle
	json     []byte
	document *httpbody.Document
}

// newRendering panics only if a printer of this package is wrong: everything that it is given has been checked before.
func newRendering(c *resource.Catalog, o *Options, now lifecycle) *rendering {
	text, err := json.Marshal(describe(c, o, &now), jsontext.WithIndent("  "))
	if err != nil {
		panic(fmt.Sprintf("openapi: %v", err))
	}
	text = append(text, '\n')
	return &rendering{now, text, httpbody.NewDocument(text)}
}

// The representations: plain JSON is what browsers and most tools ask for and can show; the other name is the right one.
const (
	mediaJSON    = "application/json"
	mediaOpenAPI = "application/vnd.oai.openapi+json;version=3.1"
)

// offers are what an Accept is compared with. Clients write the registered type with and without its parameter.
var offers = []string{mediaJSON, mediaOpenAPI, "application/vnd.oai.openapi+json"}

const allow = "GET, HEAD, OPTIONS"

// ServeHTTP answers with the document, whatever the path. It has an entity tag and asks caches to check it each time, so
// that a client sees the deprecation of its contract at once and transfers the document only when it has changed.
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
	case http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodConnect, http.MethodTrace:
		p := problem.New(problem.MethodNotAllowed, "The document can only be read.")
		p.Header = http.Header{"Allow": {allow}}
		problem.Write(w, r, p)
	default: // RFC 9110 section 9.1
		problem.Write(w, r, problem.New(problem.NotImplemented, "There is no such method."))
	}
}

// serve answers with the representation that the client accepts. Each has an entity tag of its own (RFC 9110 section 8.8.3.3).
func (d *Document) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	// First of all, since the refusals below depend on these fields as well.
	h.Add("Vary", "Accept, Accept-Encoding")
	i, ok := header.Accept(r.Header["Accept"], offers)
	if !ok {
		p := problem.New(problem.NotAcceptable, "The document is served as "+mediaJSON+" or "+mediaOpenAPI+".")
		p.Extensions = map[string]any{"available": offers[:2]}
		problem.Write(w, r, p)
		return
	}
	if enc := header.AcceptEncoding(r.Header["Accept-Encoding"]); !enc.Gzip && !enc.Identity {
		problem.Write(w, r, problem.New(problem.NotAcceptable, "The document is sent as it is or with gzip."))
		return
	}
	if _, err := header.ParseTags(r.Header["If-None-Match"]); err != nil {
		p := problem.New(problem.InvalidHeader, "If-None-Match is not a list of entity tags, nor *.")
		p.Errors = []problem.Violation{{Header: "If-None-Match", Code: "syntax"}}
		problem.Write(w, r, p)
		return
	}
	media := mediaJSON
	if i > 0 {
		media = mediaOpenAPI
	}
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Content-Type-Options", "nosniff")
	d.current().document.Serve(w, r, media)
}

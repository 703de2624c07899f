package openapi

// Serving of the variants of a document. variant.go renders them.

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/stoa-go/stoa/resource/contract"
	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/internal/mount"
	"github.com/stoa-go/stoa/resource/problem"
)

const allow = "GET, HEAD, OPTIONS"

// ServeHTTP serves the document for any path. The parameter profile selects the profile: default or
// full. The parameter openapi selects the version of OpenAPI: 3.0, 3.1 or 3.2. Other parameters are
// ignored. Accept selects JSON or YAML, and with the parameter version of the media type the version
// of OpenAPI. Without a preference, a path that ends with .yaml or .yml is YAML, and any other JSON.
//
// The response has an entity tag and Cache-Control: no-cache, so that clients see a deprecation at
// once and transfer the document only if it has changed. It needs no authentication; a middleware
// restricts access if the document is not public.
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

// serve responds with the variant that the client requests. Each has its own entity tag (RFC 9110
// section 8.8.3.3).
func (d *Document) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	// first, because the errors below depend on these fields too
	h.Add("Vary", "Accept, Accept-Encoding")
	v, err := requested(r.URL)
	if err != nil {
		problem.Write(w, r, err)
		return
	}
	list := offersFor(v.Version, isYAML(r.URL.Path))
	i, ok := header.Accept(r.Header["Accept"], mediaTypes(list))
	if !ok {
		p := problem.New(problem.NotAcceptable,
			"The document is served as JSON and YAML, in the media types that available lists.")
		p.Extensions = map[string]any{"available": mediaTypes(list)}
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
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Content-Type-Options", "nosniff")
	v.Version, v.YAML = list[i].version, list[i].yaml
	d.render(v, d.opts.base(r)).document.Serve(w, r, list[i].sent)
}

// requested returns the variant that the parameters of a URL select. The version is "" if they
// select none, and YAML is not set.
func requested(u *url.URL) (v Variant, p *problem.Details) {
	invalid := func(name, detail string) *problem.Details {
		p := problem.New(problem.InvalidParameter, "The parameter "+name+" "+detail+".")
		p.Errors = []problem.Violation{{Parameter: name, Code: "invalidValue", Detail: detail}}
		return p
	}
	query := u.Query()
	switch values := query["profile"]; {
	case len(values) == 0 || len(values) == 1 && values[0] == "default":
	case len(values) == 1 && values[0] == "full":
		v.Full = true
	default:
		return v, invalid("profile", "must be default or full")
	}
	if values := query["openapi"]; len(values) > 0 {
		if v.Version = versionOf(values[0]); v.Version == "" || len(values) > 1 {
			return v, invalid("openapi", "must be 3.0, 3.1 or 3.2")
		}
	}
	return v, nil
}

// isYAML reports whether a path has the file name extension of YAML.
func isYAML(path string) bool {
	return strings.HasSuffix(path, ".yaml") || strings.HasSuffix(path, ".yml")
}

// base returns the path prefix of the default server that [http.StripPrefix] has removed from the
// request. It is "" if Servers are set. If the Negotiator has removed a segment that names a contract,
// that is not part of the prefix.
func (o *Options) base(r *http.Request) string {
	if len(o.Servers) > 0 {
		return ""
	}
	prefix := mount.Prefix(r)
	if o.Negotiator != nil {
		segment, _, _ := strings.Cut(contract.From(r.Context()).URL("/"), "?")
		prefix = strings.TrimSuffix(prefix, strings.TrimSuffix(segment, "/"))
	}
	return prefix
}

// bases returns the base URLs of the API: Servers or, as in the links of responses, Base of REST and the
// prefix at which the document is mounted.
func (b *builder) bases() []string {
	switch rest := b.o.REST; {
	case len(b.o.Servers) > 0:
		return b.o.Servers
	case rest != nil:
		return []string{orElse(rest.Base+b.base, "/")}
	}
	return []string{orElse(b.base, "/")}
}

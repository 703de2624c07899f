package httpbody

// Pages for browsers: one HTML document with a Content-Security-Policy. Called by the documentation
// pages, the page of GraphQL and the index of an API.

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"

	"github.com/stoa-go/stoa/resource/problem"
)

// Page is an HTML document with the response header of a page that contains untrusted text: it
// allows only the sources of its policy, and no framing, referrer or content sniffing. Create it
// with [NewPage]. It is safe for concurrent use.
type Page struct {
	document *Document
	policy   string
}

// NewPage returns a page. sources are the directives of its Content-Security-Policy (level 3), such
// as "script-src 'sha256-...'; img-src data:". All other sources are blocked. [InlineSource] returns
// the source expression of an inline script or style.
func NewPage(html, sources string) *Page {
	policy := PagePolicy(sources)
	return &Page{NewDocument([]byte(html), policy), policy}
}

// PagePolicy returns the Content-Security-Policy of a page with the given directives.
func PagePolicy(sources string) string {
	return "default-src 'none'; " + sources + "; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}

// InlineSource returns the source expression for the content of an inline script or style element
// (Content Security Policy, section 2.3.1).
func InlineSource(content string) string {
	sum := sha256.Sum256([]byte(content))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// ServeHTTP responds to GET and HEAD with the page, as [Document.Serve] does, and to other methods
// as [ReadOnly] does. Cache-Control is no-cache, unless the header has a value.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if ReadOnly(w, r) {
		SetPageHeader(w.Header(), p.policy)
		p.document.Serve(w, r, "text/html; charset=utf-8")
	}
}

// SetPageHeader sets the fields that the response with a page has besides those of its content.
// Cache-Control is no-cache, unless the header has a value.
func SetPageHeader(h http.Header, policy string) {
	if h["Cache-Control"] == nil {
		h.Set("Cache-Control", "no-cache")
	}
	h.Set("Content-Security-Policy", policy)
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
}

// ReadOnly reports whether the method is GET or HEAD. Otherwise it writes the response: 204 with
// Allow to OPTIONS, 405 to other standard methods, and 501 to unknown ones (RFC 9110 section 9.1).
func ReadOnly(w http.ResponseWriter, r *http.Request) bool {
	const allow = "GET, HEAD, OPTIONS"
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		return true
	case http.MethodOptions:
		h := w.Header()
		h.Set("Allow", allow)
		h.Set("Cache-Control", "no-store")
		h.Set("X-Content-Type-Options", "nosniff")
		w.WriteHeader(http.StatusNoContent)
	case http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodConnect,
		http.MethodTrace, "QUERY":
		d := problem.New(problem.MethodNotAllowed, "This path is read-only; use GET or HEAD.")
		d.Header = http.Header{"Allow": {allow}}
		problem.Write(w, r, d)
	default:
		problem.Write(w, r, problem.New(problem.NotImplemented,
			"The method is not implemented; use GET, HEAD or OPTIONS."))
	}
	return false
}

package playground

// A page that is a single HTML document, and the response headers of all pages.

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"

	"github.com/stoa-go/stoa/resource/httpbody"
	"github.com/stoa-go/stoa/resource/problem"
)

// document serves one HTML document with a Content-Security-Policy.
type document struct {
	page   *httpbody.Document
	policy string
}

// newDocument returns a handler that serves page.
func newDocument(page, policy string) *document {
	return &document{httpbody.NewDocument([]byte(page), policy), policy}
}

// ServeHTTP implements [http.Handler] as documented for [Handler].
func (d *document) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if readOnly(w, r) {
		guard(w.Header(), d.policy)
		d.page.Serve(w, r, "text/html; charset=utf-8")
	}
}

// readOnly reports whether the method is GET or HEAD. Otherwise it writes a response with status
// 405.
func readOnly(w http.ResponseWriter, r *http.Request) bool {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return true
	}
	d := problem.New(problem.MethodNotAllowed, "This is a page; it is read.")
	d.Header = http.Header{"Allow": {"GET, HEAD"}}
	problem.Write(w, r, d)
	return false
}

// guard sets the response headers that prevent framing, referrers and content sniffing.
func guard(h http.Header, policy string) {
	h.Set("Cache-Control", "no-cache")
	h.Set("Content-Security-Policy", policy)
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
}

// policy returns a Content-Security-Policy (level 3) that allows only the given directives.
func policy(admitted string) string {
	return "default-src 'none'; " + admitted + "; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}

// hash returns the source expression for an inline script or style (Content Security Policy,
// section 2.3.1).
func hash(content string) string {
	sum := sha256.Sum256([]byte(content))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

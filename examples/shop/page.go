package main

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"time"
)

//go:embed page.html
var pageHTML []byte

// newPage serves the start page. The page displays user input, so its policy allows only the
// embedded script and style, by their hashes.
func newPage() http.Handler {
	return serveHTML(pageHTML, fmt.Sprintf(
		"connect-src 'self'; img-src data:; form-action 'self'; script-src %s; style-src %s",
		hashesOf(pageHTML, "script"), hashesOf(pageHTML, "style")))
}

// serveHTML serves a page with a Content Security Policy that allows only the sources in policy.
// Browsers revalidate the page by its ETag, so a new version of the shop is shown immediately.
func serveHTML(html []byte, policy string) http.Handler {
	policy = "default-src 'none'; " + policy + "; base-uri 'none'; frame-ancestors 'none'"
	etag := etagOf(html)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Cache-Control", "no-cache")
		h.Set("Content-Security-Policy", policy)
		h.Set("ETag", etag)
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Content-Type-Options", "nosniff")
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(html))
	})
}

// etagOf returns the entity tag of some content.
func etagOf(content []byte) string {
	sum := sha256.Sum256(content)
	return `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
}

// hashesOf returns the source expressions for the elements of a page with this tag and no
// attributes. Elements with attributes are not allowed by the policy, so a script with src does not
// run.
func hashesOf(html []byte, tag string) string {
	var hashes []string
	for _, rest := range strings.Split(string(html), "<"+tag+">")[1:] {
		content, _, _ := strings.Cut(rest, "</"+tag+">")
		sum := sha256.Sum256([]byte(content))
		hashes = append(hashes, "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'")
	}
	return strings.Join(hashes, " ")
}

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

// newPage serves the page. It shows what users wrote, so the browser is told to run nothing but the script that is in
// it: the policy names script and style by their hashes.
func newPage() http.Handler {
	policy := fmt.Sprintf("default-src 'none'; connect-src 'self'; img-src data:; script-src %s; style-src %s; "+
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'", hashOf("script"), hashOf("style"))
	sum := sha256.Sum256(pageHTML)
	etag := `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Cache-Control", "no-cache")
		h.Set("Content-Security-Policy", policy)
		h.Set("ETag", etag)
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Content-Type-Options", "nosniff")
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(pageHTML))
	})
}

// hashOf returns the source expression for the content of the element of the page with this tag.
func hashOf(tag string) string {
	_, rest, _ := strings.Cut(string(pageHTML), "<"+tag+">")
	content, _, _ := strings.Cut(rest, "</"+tag+">")
	sum := sha256.Sum256([]byte(content))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

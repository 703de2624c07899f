// Package mount finds the path at which a handler is mounted.
package mount

import (
	"net/http"
	"net/url"
	"strings"
)

// Path returns the escaped path of a request relative to its handler, with a leading slash. A
// [http.StripPrefix] with a trailing slash removes the leading slash of the path, so Path adds it
// again.
func Path(r *http.Request) string {
	path := r.URL.EscapedPath()
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return path
}

// Prefix returns the escaped path prefix that [http.StripPrefix] has removed from a request, such as
// "/api". It is empty at the root, and if a middleware has rewritten the path in another way. Prefix
// never uses the Host field, because the client controls it.
func Prefix(r *http.Request) string {
	// RequestURI is the target as received, and URL.Path what is left of it after StripPrefix. The
	// difference is the prefix.
	// Both are escaped in the same way: a client may send characters that should have been escaped, and
	// absolute-form (RFC 9112 section 3.2.2).
	path := Path(r)
	// At the root, which is the usual case, both are equal and need not be parsed.
	if rest, ok := strings.CutPrefix(r.RequestURI, path); ok && (rest == "" || rest[0] == '?') {
		return ""
	}
	u, err := url.ParseRequestURI(r.RequestURI)
	if err != nil {
		return ""
	}
	full := u.EscapedPath()
	if path == "/" && !strings.HasSuffix(full, "/") && r.URL.Path == "" {
		path = "" // the prefix itself
	}
	prefix, ok := strings.CutSuffix(full, path)
	if !ok {
		return ""
	}
	return prefix
}

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

// Route returns a route for metrics and traces: path, after the segments of r.Pattern that match the
// prefix of the request. The result has no text of the request, except marker, the version between the
// prefix and the handler, with which path begins. If the pattern does not match the whole prefix, because
// the router sets none or another mux is between, Route returns path: the rest may be the name of a tenant.
func Route(r *http.Request, marker, path string) string {
	pattern := r.Pattern[max(strings.IndexByte(r.Pattern, '/'), 0):] // without method and host
	if strings.HasSuffix(pattern, path) {
		return withBraces(pattern)
	}
	prefix := strings.TrimSuffix(Prefix(r), marker)
	if prefix == "" || pattern == "" {
		return path
	}
	named, at := withBraces(pattern), 0
	for segment := range strings.SplitSeq(prefix[1:], "/") {
		if at >= len(named) {
			return path
		}
		name, _, _ := strings.Cut(named[at+1:], "/")
		at += 1 + len(name)
		plain, err := url.PathUnescape(segment)
		opens, closes := strings.Contains(name, "{"), strings.Contains(name, "}")
		switch {
		case name == "", name[0] == '*', strings.HasSuffix(name, "...}"): // a wildcard of the rest
			return path
		case opens != closes: // an expression of chi with a slash
			return path
		case !opens && (err != nil || plain != name):
			return path
		}
	}
	return named[:at] + path
}

// withBraces returns a pattern with the wildcards :tenant of echo and gin as {tenant}.
func withBraces(pattern string) string {
	if !strings.Contains(pattern, "/:") {
		return pattern
	}
	segments := strings.Split(pattern, "/")
	for i, s := range segments {
		if name, ok := strings.CutPrefix(s, ":"); ok {
			segments[i] = "{" + name + "}"
		}
	}
	return strings.Join(segments, "/")
}

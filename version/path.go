package version

import (
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Path names a contract by the first path segment: /v1/orders or /1/orders. A segment that does not
// look like a version belongs to the resource and names nothing. A segment that looks like one but
// selects no contract is 404, because the path identifies the resource (RFC 3986 section 3.3). The
// segment is removed from the path that the handler receives.
type Path struct{}

// Source returns "the path".
func (Path) Source() string { return "the path" }

// Vary returns nil, because the path is part of the cache key.
func (Path) Vary() []string { return nil }

// Find returns the first path segment if it looks like a version.
func (Path) Find(r *http.Request) (name string, ok bool) {
	name, _ = marker(r.URL)
	return name, name != ""
}

func (p Path) install(n *Negotiator) {
	rejectTwice(n.path, "Path")
	n.path = true
	n.add(p, place{locator: p, kind: inPath, status: http.StatusNotFound})
}

func (p Path) locate(n *Negotiator, r *http.Request, now time.Time) match {
	segment, ok := p.Find(r)
	if !ok {
		return match{}
	}
	return n.matchName(segment, now)
}

// marker returns the first path segment, decoded, if it looks like a version, and the index of its
// end in the escaped path.
func marker(u *url.URL) (name string, end int) {
	path := u.Path
	if u.RawPath != "" {
		path = u.EscapedPath() // EscapedPath ignores a RawPath that does not match Path
	}
	start := 0
	if strings.HasPrefix(path, "/") { // http.StripPrefix may have removed the slash
		start = 1
	}
	name, _, _ = strings.Cut(path[start:], "/")
	end = start + len(name)
	if u.RawPath != "" && strings.Contains(name, "%") {
		name, _ = url.PathUnescape(name) // the escapes of a parsed URL are valid
	}
	if !looksLikeName(name) {
		return "", 0
	}
	return name, end
}

// stripMarker removes the version from Path and RawPath, so that escaped slashes after it stay
// escaped. The path must have one.
func stripMarker(u *url.URL) {
	name, end := marker(u)
	if u.RawPath != "" {
		u.RawPath = u.EscapedPath()[end:]
		end = strings.Index(u.Path, name) + len(name)
	}
	if u.Path = u.Path[end:]; u.Path == "" {
		u.Path, u.RawPath = "/", ""
	}
	if u.RawPath != "" && u.RawPath == (&url.URL{Path: u.Path}).EscapedPath() {
		u.RawPath = "" // only the version was escaped in an unusual way
	}
}

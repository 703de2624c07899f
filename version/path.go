package version

import (
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Path names a contract by the first segment of the path: /v1/orders or /1/orders. A segment that is not spelled like a
// version is part of the resource and names nothing; one that is spelled like it and selects nothing is 404, since path
// and resource are one (RFC 3986 section 3.3). The handler sees the path without the marker.
type Path struct{}

// Source returns "the path".
func (Path) Source() string { return "the path" }

// Vary returns nil: the path is part of every cache's key.
func (Path) Vary() []string { return nil }

// Find returns the first segment of the path, if it is spelled like a version.
func (Path) Find(r *http.Request) (name string, ok bool) {
	name, _ = marker(r.URL)
	return name, name != ""
}

func (p Path) install(n *Negotiator) {
	once(n.path, "Path")
	n.path = true
	n.add(p, place{locator: p, kind: inPath, status: http.StatusNotFound})
}

func (p Path) locate(n *Negotiator, r *http.Request, now time.Time) finding {
	segment, ok := p.Find(r)
	if !ok {
		return finding{}
	}
	return n.read(segment, now)
}

// marker returns the first segment of the path, decoded, if it is spelled like a version, and where it ends in the escaped
// path.
func marker(u *url.URL) (name string, end int) {
	path := u.Path
	if u.RawPath != "" {
		path = u.EscapedPath() // RawPath is only a hint
	}
	start := 0
	if strings.HasPrefix(path, "/") { // which a StripPrefix may have taken
		start = 1
	}
	name, _, _ = strings.Cut(path[start:], "/")
	end = start + len(name)
	if u.RawPath != "" && strings.Contains(name, "%") {
		name, _ = url.PathUnescape(name) // it is that of a URL, so it can be decoded
	}
	if !looksLikeName(name) {
		return "", 0
	}
	return name, end
}

// stripMarker takes the marker, which is there, off both forms of the path, so that escaped slashes behind it stay
// escaped.
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
		u.RawPath = "" // it was the marker that had more than one spelling
	}
}

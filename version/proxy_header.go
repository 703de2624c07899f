package version

// The header of a response that was received from another server. Called by proxy.go.

import (
	"net/http"
	"net/url"
	"strings"
)

// received is the header of a response of another server.
type received struct {
	writer *writer
	base   *url.URL // of the contract on the other server
	from   *url.URL // of the request
	header http.Header
}

// merge moves the fields to the response of this server, as a handler would set them. The fields of
// an upgrade remain for httputil.
func (x *received) merge() {
	h := x.writer.Header()
	for name, lines := range x.header {
		switch name {
		case "Connection", "Upgrade":
			continue
		case "Vary", "Set-Cookie":
			h[name] = append(h[name][:len(h[name]):len(h[name])], lines...)
		case "Link":
			h[name] = append(h[name][:len(h[name]):len(h[name])], x.links(lines)...)
		case "Location", "Content-Location":
			h[name] = []string{x.local(lines[0])}
		default:
			h[name] = lines
		}
		delete(x.header, name)
	}
}

// links returns the links of the other server, without those that this server sends itself.
func (x *received) links(lines []string) (kept []string) {
	for _, list := range lines {
		for {
			list = strings.TrimLeft(list, ", \t")
			target, after, ok := strings.Cut(list, ">")
			if !ok || !strings.HasPrefix(target, "<") {
				break // empty or malformed
			}
			var params string
			params, list = cutMember(after)
			if !x.sends(relation(params)) {
				kept = append(kept, "<"+x.local(target[1:])+">"+params)
			}
		}
	}
	return kept
}

// sends reports whether this server sends a link with the relation type.
func (x *received) sends(rel string) bool {
	s := x.writer.selection
	switch strings.ToLower(rel) {
	case "deprecation":
		return s.contract.DeprecationLink != ""
	case "sunset":
		return s.contract.SunsetLink != ""
	case "service-desc":
		return s.contract.OpenAPI != ""
	case "successor-version":
		return s.successor() != ""
	}
	return false
}

// relation returns the value of the parameter rel (RFC 8288 section 3.3); "" if there is none.
func relation(params string) string {
	for params != "" {
		var param string
		param, params = cutUnquoted(params, ';')
		name, value, _ := strings.Cut(param, "=")
		if strings.EqualFold(strings.TrimSpace(name), "rel") {
			return strings.Trim(value, "\" \t")
		}
	}
	return ""
}

// local returns the reference of the other server as clients of this server must use it. References
// outside of the contract are unchanged.
func (x *received) local(ref string) string {
	u, err := x.from.Parse(ref)
	if err != nil || ref == "" || ref[0] == '#' || u.Scheme != x.base.Scheme ||
		!strings.EqualFold(u.Host, x.base.Host) {
		return ref
	}
	path, ok := strings.CutPrefix(u.EscapedPath(), x.base.EscapedPath())
	if !ok || path != "" && path[0] != '/' {
		return ref
	}
	s := x.writer.selection
	path = rooted(path)
	if u.RawQuery != "" {
		path = addQuery(path, u.RawQuery)
	}
	out := mountOf(s.request) + s.URL(path)
	if u.Fragment != "" {
		out += "#" + u.EscapedFragment()
	}
	if strings.HasPrefix(out, "//") {
		return "/." + out // otherwise it would name a host (RFC 3986 section 4.2)
	}
	return out
}

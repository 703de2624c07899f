package version

// Contracts on other servers. Called by writer.go in place of a handler. It redirects, or calls
// proxy.go.

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/stoa-go/stoa/resource/problem"
)

// remote is the other server of a contract.
type remote struct {
	contract string
	base     *url.URL // without a slash at the end
	proxy    *proxy   // nil if requests are redirected
}

// newRemote returns the server of a contract; nil without At. It panics if At is not valid.
func newRemote(c *Contract) *remote {
	fail := func(what string) { panic("version: contract " + c.Name + " " + what) }
	switch {
	case c.At == "" && c.Proxy:
		fail("has Proxy but no At; set At to the URL of the other server")
	case c.At == "":
		return nil
	case c.Handler != nil:
		fail("has Handler and At; remove one")
	}
	u, err := url.Parse(c.At)
	if err != nil {
		// The error repeats the URL, which may contain a password.
		fail("has an At that is not a URL; use one such as https://api-v1.example.com/v1")
	}
	if what := baseError(u); what != "" {
		fail(fmt.Sprintf("has At %q, %s; use a URL such as https://api-v1.example.com/v1", u.Redacted(),
			what))
	}
	base := &url.URL{Scheme: u.Scheme, Host: u.Host, RawPath: strings.TrimRight(u.EscapedPath(), "/")}
	base.Path, _ = url.PathUnescape(base.RawPath) // the escapes of a parsed URL are valid
	return &remote{contract: c.Name, base: base}
}

// baseError returns why paths cannot be appended to a URL; "" if they can.
func baseError(u *url.URL) string {
	nonASCII := func(c rune) bool { return c <= ' ' || c > '~' }
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return "which does not begin with http:// or https://"
	case u.Hostname() == "" || strings.ContainsFunc(u.Host, nonASCII):
		return "which has no host in ASCII"
	case u.User != nil:
		return "which has a user name"
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return "which has a query or a fragment"
	case hasDotSegment(u.Path):
		return "which has a dot segment"
	}
	return ""
}

// serve answers a request for the contract. A path with dot segments could leave the path of the
// base URL, so it is rejected.
func (m *remote) serve(w *writer, r *http.Request) {
	target := m.locate(r.URL)
	switch {
	case hasDotSegment(r.URL.Path):
		problem.Write(w, r, problem.New(problem.BadRequest,
			`The path contains the segment "." or ".."; remove it.`))
	case r.Method == http.MethodConnect: // it is for a host, not for a path
		problem.Write(w, r, problem.New(problem.NotImplemented, "The method CONNECT is not implemented."))
	case m.loops(w.selection.request, target):
		problem.Write(w, r, problem.New(problem.LoopDetected,
			"The servers of version "+m.contract+" refer to each other."))
	case m.proxy != nil:
		m.proxy.forward(w, r, m, target)
	default:
		redirect(w, target)
	}
}

// locate returns the URL of a request on the other server. Escapes in path and query are kept. The
// path begins with a slash, so that it cannot become part of the host.
func (m *remote) locate(in *url.URL) *url.URL {
	u := *m.base
	u.Path += rooted(in.Path)
	u.RawPath = m.base.EscapedPath() + rooted(in.EscapedPath())
	u.RawQuery, u.ForceQuery = in.RawQuery, in.ForceQuery
	return &u
}

// loops reports whether the request would come back: it was forwarded here before, or the redirect
// would lead to its own URL.
func (m *remote) loops(original *http.Request, target *url.URL) bool {
	if m.proxy != nil {
		return m.proxy.forwarded(original.Header)
	}
	return strings.EqualFold(target.Host, original.Host) && target.RequestURI() == original.RequestURI
}

// redirect sends 308, which keeps the method and the body (RFC 9110 section 15.4.9). Caches must
// not store it, because the contract may move and ends at its Sunset.
func redirect(w *writer, target *url.URL) {
	h := w.Header()
	target.RawQuery = escapeQuery(target.RawQuery)
	h["Location"] = []string{target.String()}
	h["Cache-Control"] = []string{"no-store"}
	h["Content-Length"] = []string{"0"}
	h["X-Content-Type-Options"] = []string{"nosniff"}
	w.WriteHeader(http.StatusPermanentRedirect)
}

// escapeQuery percent-encodes the bytes that no query contains (RFC 3986 section 3.4). Escapes are
// kept.
func escapeQuery(query string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(query) {
		if c := query[i]; c <= ' ' || c > '~' || strings.IndexByte("\"#<>\\^`{|}", c) >= 0 {
			b.Write([]byte{'%', hex[c>>4], hex[c&0xf]})
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// hasDotSegment reports whether a decoded path has a segment "." or "..". Some servers also
// separate segments by backslashes, and ignore what follows a semicolon.
func hasDotSegment(path string) bool {
	for segment := range strings.FieldsFuncSeq(path, func(c rune) bool { return c == '/' || c == '\\' }) {
		segment, _, _ = strings.Cut(segment, ";")
		if segment == "." || segment == ".." {
			return true
		}
	}
	return false
}

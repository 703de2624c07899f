package version

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/problem"
)

// describe makes the header values that tell of the life of a contract. Deprecation is a Structured Field date (RFC 9745
// section 2.1), Sunset an HTTP date (RFC 8594 section 3).
func (c *contract) describe() {
	c.echo = []string{c.Name}
	if at := c.Contract.Deprecated; !at.IsZero() {
		c.deprecation = []string{"@" + strconv.FormatInt(at.Unix(), 10)}
	}
	if at := c.Sunset; !at.IsZero() {
		c.sunset = []string{at.UTC().Format(http.TimeFormat)}
	}
	const openAPIType = "application/vnd.oai.openapi+json;version=3.1"
	html := []header.Param{{Name: "type", Value: "text/html"}}
	for _, link := range []header.Link{
		{Href: c.DeprecationLink, Rel: "deprecation", Params: html},
		{Href: c.SunsetLink, Rel: "sunset", Params: html},
		{Href: c.OpenAPI, Rel: "service-desc", Params: []header.Param{{Name: "type", Value: openAPIType}}},
	} {
		if link.Href != "" {
			c.links = append(c.links, string(header.AppendLink(nil, link)))
		}
	}
	// No room behind: whoever appends to what all responses share gets a copy.
	c.links = c.links[:len(c.links):len(c.links)]
}

// gone refuses a request to a contract that is retired, or away for a while. It says all that a response of the contract
// would say.
func (n *Negotiator) gone(q *inquiry) *problem.Details {
	c := q.contract
	d := problem.New(problem.VersionRetired, "Version "+c.Name+" is no longer served.")
	d.Header = http.Header{}
	s := &Selection{n: n, contract: c, request: q.request, now: q.now, place: q.place, raw: q.raw}
	n.stamp(d.Header, c)
	if link := s.successor(); link != "" {
		d.Header["Link"] = append(d.Header["Link"], link)
	}
	if wait := c.brownout(q.now); wait > 0 && !c.retired(q.now) {
		d.Detail = "Version " + c.Name + " is not served for a while, since it will soon be no more."
		seconds := (wait + time.Second - 1) / time.Second
		d.Header["Retry-After"] = []string{strconv.FormatInt(int64(seconds), 10)}
	}
	return d
}

// next returns the contract to move to; nil if there is none.
func (n *Negotiator) next(c *contract, now time.Time) *contract {
	if c.Successor != "" {
		next := n.lookup(c.Successor)
		if next.Preview || next.retired(now) {
			return nil
		}
		return next
	}
	if c.Sunset.IsZero() && !c.deprecated(now) {
		return nil
	}
	for _, next := range n.contracts {
		if next == c {
			break
		}
		if next.status(now) == Current {
			return next
		}
	}
	return nil
}

// successor returns a link to the target of the request in the contract to move to (RFC 5829 section 3.5); "" if there is
// none.
func (s *Selection) successor() string {
	c := s.contract
	if c.Successor == "" && c.Sunset.IsZero() && c.deprecation == nil {
		return ""
	}
	next := s.n.next(c, s.now)
	if next == nil {
		return ""
	}
	href := s.in(next)
	if href == "" {
		return ""
	}
	return string(header.AppendLink(nil, header.Link{Href: href, Rel: "successor-version"}))
}

// in returns the target of the request in another contract, named in the way in which the request has named its own, if
// that is part of the URL. Else it is named by the path or the query, as a link has nothing but a URL; "" if neither can.
func (s *Selection) in(next *contract) string {
	shortest := s.n.names(next, s.now)[0]
	mount, path := s.target()
	switch {
	case s.raw.host:
		_, domain := s.n.host.split(s.request.Host)
		label := s.n.host.Prefix + strings.ReplaceAll(shortest, ".", "-")
		return "//" + label + "." + domain + portOf(s.request.Host) + mount + path
	case s.n.path && (s.raw.path != "" || s.raw.query == ""):
		return mount + "/v" + shortest + path
	// which begins the name of a host, in a link
	case s.n.query != "" && !strings.HasPrefix(mount+path, "//"):
		return addQuery(mount+path, s.n.pair(shortest))
	}
	return ""
}

// target returns the URL of the request without what names the contract: what a StripPrefix took off, and the path. The
// query is left out. Its cursors and the names of its fields are those of this contract, and may mean nothing in another.
func (s *Selection) target() (mount, path string) {
	u := *s.request.URL
	mount = mountOf(s.request)
	if s.raw.path != "" {
		stripMarker(&u)
	}
	return mount, rooted(u.EscapedPath())
}

// mountOf returns what stands before the path as the Negotiator sees it, by the request line.
func mountOf(r *http.Request) string {
	full, _, _ := strings.Cut(r.RequestURI, "?")
	if i := strings.Index(full, "://"); i > 0 && full[0] != '/' { // absolute-form, RFC 9112 section 3.2.2
		_, full, _ = strings.Cut(full[i+len("://"):], "/")
		full = "/" + full
	}
	mount, ok := strings.CutSuffix(full, rooted(r.URL.EscapedPath()))
	if !ok {
		return ""
	}
	return mount
}

// rooted returns a path with the slash that a StripPrefix may have taken.
func rooted(path string) string {
	if strings.HasPrefix(path, "/") {
		return path
	}
	return "/" + path
}

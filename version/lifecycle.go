package version

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/problem"
)

// initHeader computes the header values about the life cycle of c. Deprecation is a Structured
// Field date (RFC 9745 section 2.1), Sunset an HTTP date (RFC 8594 section 3).
func (c *contract) initHeader() {
	c.echoValue = []string{c.Name}
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
	// Without spare capacity, append copies the slice, which all responses share.
	c.links = c.links[:len(c.links):len(c.links)]
}

// retiredProblem returns the 410 for a contract that is retired or in a brownout, with the header
// fields that its responses have.
func (n *Negotiator) retiredProblem(q *negotiation) *problem.Details {
	c := q.contract
	d := problem.New(problem.VersionRetired, "Version "+c.Name+" is no longer served.")
	d.Header = http.Header{}
	s := &selection{n: n, contract: c, request: q.request, now: q.now, place: q.place, spelled: q.spelled}
	n.setContractHeader(d.Header, c)
	if link := s.successor(); link != "" {
		d.Header["Link"] = append(d.Header["Link"], link)
	}
	if wait := c.brownout(q.now); wait > 0 && !c.retired(q.now) {
		d.Detail = "Version " + c.Name + " is temporarily not served, because it will be retired at " +
			c.Sunset.UTC().Format(time.RFC3339) + "."
		seconds := (wait + time.Second - 1) / time.Second
		d.Header["Retry-After"] = []string{strconv.FormatInt(int64(seconds), 10)}
	}
	return d
}

// next returns the successor of c; nil if there is none. Without Successor it is the newest current
// contract, if c is deprecated or has a Sunset.
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

// successor returns a link to the request target in the successor contract (RFC 5829 section 3.5);
// "" if there is no successor.
func (s *selection) successor() string {
	c := s.contract
	if c.Successor == "" && c.Sunset.IsZero() && c.deprecation == nil {
		return ""
	}
	next := s.n.next(c, s.now)
	if next == nil {
		return ""
	}
	href := s.targetIn(next)
	if href == "" {
		return ""
	}
	return string(header.AppendLink(nil, header.Link{Href: href, Rel: "successor-version"}))
}

// targetIn returns the request target in the contract next. It names the contract in the same part
// of the URL as the request. If the request named it elsewhere, the path or the query is used; ""
// if neither is a strategy. A contract on another server has its own URL.
func (s *selection) targetIn(next *contract) string {
	// next is served and no preview, so it has names.
	shortest := s.n.names(next, s.now)[0]
	mount, path := s.target()
	switch {
	case next.remote != nil && !next.Proxy:
		return next.remote.base.String() + path
	case s.spelled.host:
		_, domain := s.n.host.split(s.request.Host)
		label := s.n.host.Prefix + strings.ReplaceAll(shortest, ".", "-")
		return "//" + label + "." + domain + portOf(s.request.Host) + mount + path
	case s.n.path && (s.spelled.path != "" || s.spelled.query == ""):
		return mount + "/v" + shortest + path
	// a reference that begins with // would name a host
	case s.n.query != "" && !strings.HasPrefix(mount+path, "//"):
		return addQuery(mount+path, s.n.pair(shortest))
	}
	return ""
}

// target returns the request target without the version: the prefix that [http.StripPrefix] has
// removed, and the path. It omits the query, because cursors and field names belong to one
// contract.
func (s *selection) target() (mount, path string) {
	u := *s.request.URL
	mount = mountOf(s.request)
	if s.spelled.path != "" {
		stripMarker(&u)
	}
	return mount, rooted(u.EscapedPath())
}

// mountOf returns the part of the request target before the path that the Negotiator receives.
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

// rooted adds the leading slash that [http.StripPrefix] may have removed.
func rooted(path string) string {
	if strings.HasPrefix(path, "/") {
		return path
	}
	return "/" + path
}

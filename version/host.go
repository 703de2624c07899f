package version

import (
	"net/http"
	"strings"
	"time"

	"github.com/stoa-go/stoa/resource/problem"
)

// Host names a contract by a label before a domain: api-v1.example.com, and for a minor api-v1-1.example.com. A label
// that selects nothing is 404. Case, a port and a trailing dot do not matter (RFC 9110 section 4.2.3).
type Host struct {
	// Prefix is what the label begins with, before the number; "api-v" if empty.
	Prefix string
	// Domains are what follows the label: example.com. The bare domain is served and names nothing.
	Domains []string
	// Others are further hosts that are served and name nothing, such as 127.0.0.1, [::1] or www.example.com. A request for
	// any host that is neither of these, nor one of the Domains, nor begins with the Prefix before one, is 421 (RFC 9110
	// section 15.5.20). A request without a host, in HTTP/1.0, names nothing.
	Others []string
}

// Source returns "the host".
func (Host) Source() string { return "the host" }

// Vary returns nil: the host is part of every cache's key.
func (Host) Vary() []string { return nil }

// Find returns the number in the label before one of the domains.
func (h Host) Find(r *http.Request) (name string, ok bool) {
	label, domain := h.split(r.Host)
	if domain == "" || label == "" {
		return "", false
	}
	if name, ok = cutPrefixFold(label, h.prefix()); !ok {
		return "", false
	}
	return strings.ReplaceAll(name, "-", "."), true
}

// prefix is what labels begin with, also for a Host that nobody has installed.
func (h Host) prefix() string {
	if h.Prefix == "" {
		return "api-v"
	}
	return h.Prefix
}

// install refuses domains that end in a number, which is how addresses are told from names: so no literal is ever taken for
// a label before a domain.
func (h Host) install(n *Negotiator) {
	once(n.host != nil, "Host")
	if len(h.Domains) == 0 {
		panic("version: Host without Domains names nothing")
	}
	h.Prefix = h.prefix()
	domains := make([]string, len(h.Domains))
	for i, d := range h.Domains {
		domains[i] = strings.Trim(strings.ToLower(d), ".")
		last := domains[i][strings.LastIndexByte(domains[i], '.')+1:]
		if last == "" || isNumber(last) || strings.ContainsAny(d, ":/[]") {
			panic("version: " + d + " is no domain for Host; addresses are for its Others")
		}
	}
	others := make([]string, len(h.Others))
	for i, o := range h.Others {
		others[i] = bareHost(strings.ToLower(o))
	}
	h.Domains, h.Others = domains, others
	n.host = &h
	n.add(h, place{locator: n.host, kind: inHost, status: http.StatusNotFound})
}

// locate knows three outcomes beside a version: no host at all, as in HTTP/1.0, one of ours that names nothing, and one of
// somebody else, which is nothing to guess about.
func (h *Host) locate(n *Negotiator, r *http.Request, now time.Time) finding {
	if r.Host == "" {
		return finding{}
	}
	label, domain := h.split(r.Host)
	switch {
	case domain == "":
		return finding{kind: problem.Misdirected, raw: r.Host}
	case label == "":
		return finding{}
	}
	number, ok := cutPrefixFold(label, h.Prefix)
	if !ok { // somebody else's, until it is one of the Others
		return finding{kind: problem.Misdirected, raw: r.Host}
	}
	v, ok := parseNumbers(number, '-')
	if number = strings.ReplaceAll(number, "-", "."); !ok {
		return finding{kind: problem.MalformedVersion, raw: number}
	}
	return n.find(number, v, now)
}

// split returns what stands before one of the domains, and that domain. One of the other hosts is a domain, too, but
// for that nothing can stand before it. Both are empty for an authority that is none of ours.
//
// An IP literal has no labels. It is not mistaken for something that has, since no domain ends in a number.
func (h *Host) split(authority string) (label, domain string) {
	host := bareHost(authority)
	for _, other := range h.Others {
		if strings.EqualFold(host, other) {
			return "", other
		}
	}
	for _, d := range h.Domains {
		before := len(host) - len(d)
		if before < 0 || !strings.EqualFold(host[before:], d) {
			continue
		}
		if before == 0 {
			return "", d
		}
		if before > 1 && host[before-1] == '.' {
			return host[:before-1], d
		}
	}
	return "", ""
}

// bareHost returns the host of an authority: without the port, and without the dot of the root. What is no authority is
// returned as it is, and equals no host.
func bareHost(authority string) string {
	end := 0
	if strings.HasPrefix(authority, "[") {
		end = strings.IndexByte(authority, ']') + 1
	}
	host, port := authority, ""
	if i := strings.IndexByte(authority[end:], ':'); i >= 0 {
		host, port = authority[:end+i], authority[end+i+1:]
	}
	if port != "" && !isNumber(port) {
		return authority
	}
	return strings.TrimSuffix(host, ".")
}

// portOf returns the port of an authority with its colon; "" if there is none.
func portOf(authority string) string {
	colon := strings.LastIndexByte(authority, ':')
	if colon < 0 || !isNumber(authority[colon+1:]) {
		return ""
	}
	return authority[colon:]
}

// cutPrefixFold is [strings.CutPrefix] for names whose case does not matter.
func cutPrefixFold(s, prefix string) (after string, ok bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return s[len(prefix):], true
}

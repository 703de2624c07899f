package version

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/stoa-go/stoa/resource/problem"
)

// Host names a contract by a label before a domain: api-v1.example.com, or api-v1-1.example.com for
// 1.1. A label that selects no contract is 404. Case, port and a trailing dot are ignored (RFC 9110
// section 4.2.3).
type Host struct {
	// Prefix is the part of the label before the number. Default "api-v".
	Prefix string
	// Domains are the domains after the label, such as example.com. At least one is required. A
	// domain without a label is served and names no contract.
	Domains []string
	// Others are further hosts that are served and name no contract, such as 127.0.0.1, [::1] or
	// www.example.com. A request for any other host is rejected with 421 (RFC 9110 section
	// 15.5.20). An HTTP/1.0 request without Host names no contract.
	Others []string
}

// Source returns "the host".
func (Host) Source() string { return "the host" }

// Vary returns nil, because the host is part of the cache key.
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

// prefix returns Prefix or its default. Find may be called before install.
func (h Host) prefix() string {
	if h.Prefix == "" {
		return "api-v"
	}
	return h.Prefix
}

// install rejects domains that end in a number. IP addresses end in a number, so an address
// never matches a domain.
func (h Host) install(n *Negotiator) {
	rejectTwice(n.host != nil, "Host")
	if len(h.Domains) == 0 {
		panic("version: Host.Domains is empty; add at least one domain such as example.com")
	}
	h.Prefix = h.prefix()
	domains := make([]string, len(h.Domains))
	for i, d := range h.Domains {
		domains[i] = strings.Trim(strings.ToLower(d), ".")
		last := domains[i][strings.LastIndexByte(domains[i], '.')+1:]
		if last == "" || isNumber(last) || strings.ContainsAny(d, ":/[]") {
			panic(fmt.Sprintf("version: Host.Domains: %q is not a domain; put IP addresses in Host.Others",
				d))
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

// locate returns no match if there is no host or the host has no label, and Misdirected for an
// unknown host.
func (h *Host) locate(n *Negotiator, r *http.Request, now time.Time) match {
	if r.Host == "" {
		return match{}
	}
	label, domain := h.split(r.Host)
	switch {
	case domain == "":
		return match{kind: problem.Misdirected, raw: r.Host}
	case label == "":
		return match{}
	}
	number, ok := cutPrefixFold(label, h.Prefix)
	if !ok { // a label of Domains without the prefix; only Others may have those
		return match{kind: problem.Misdirected, raw: r.Host}
	}
	v, ok := parseParts(number, '-')
	if number = strings.ReplaceAll(number, "-", "."); !ok {
		return match{kind: problem.MalformedVersion, raw: number}
	}
	return n.matchVersion(number, v, now)
}

// split returns the label and the domain of an authority. The label is empty for a bare domain and
// for one of Others. Both are empty for an unknown host.
//
// An IP address never matches, because no domain ends in a number.
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

// bareHost returns the host of an authority without the port and the trailing dot. An invalid
// authority is returned unchanged and matches no host.
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

// cutPrefixFold is like [strings.CutPrefix] but ignores case.
func cutPrefixFold(s, prefix string) (after string, ok bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return s[len(prefix):], true
}

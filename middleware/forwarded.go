package middleware

// The syntax of Forwarded (RFC 7239) and X-Forwarded-For. Both are untrusted input.

import (
	"iter"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// hop is one element of the forwarding information: the request as one proxy received it.
type hop struct {
	addr        netip.Addr // peer of the proxy; the zero Addr if it is not an address, such as "unknown"
	proto, host string     // as requested; "" if unknown
}

// readHops parses Forwarded if rfc is true, and the X-Forwarded fields otherwise. The nearest proxy
// is first.
func readHops(h http.Header, rfc bool) []hop {
	if rfc {
		return readForwarded(strings.Join(h["Forwarded"], ","))
	}
	var out []hop
	for _, member := range fromEnd(h["X-Forwarded-For"]) {
		out = append(out, hop{addr: readNode(member)})
	}
	if out == nil {
		out = make([]hop, 1)
	}
	// Proto and Host are separate lists. Proxies that append to all three write members at the same
	// distance from the end. A list is shorter if a proxy replaces the field.
	for i, member := range fromEnd(h["X-Forwarded-Proto"]) {
		if i == len(out) {
			break
		}
		out[i].proto = strings.ToLower(member)
	}
	for i, member := range fromEnd(h["X-Forwarded-Host"]) {
		if i == len(out) {
			break
		}
		out[i].host = validHost(member)
	}
	return out
}

// fromEnd returns the members of a list field and their distance from the end. The last member, which
// the nearest proxy has added, is first.
func fromEnd(lines []string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		i := 0
		for _, line := range slices.Backward(lines) {
			for end := len(line); end >= 0; i++ {
				comma := strings.LastIndexByte(line[:end], ',')
				if !yield(i, strings.TrimSpace(line[comma+1:end])) {
					return
				}
				end = comma
			}
		}
	}
}

// maxElement limits the length of an element of Forwarded, and so the time to search for its
// beginning.
const maxElement = 1024

// readForwarded parses a Forwarded field (RFC 7239 section 4), the nearest proxy first. It parses
// from the end, because a client may have sent the beginning: malformed elements there do not
// affect the elements that proxies have appended.
func readForwarded(s string) []hop {
	var out []hop
	for s != "" {
		comma, next, ok := len(s), hop{}, false
		for !ok { // a comma may be inside a quoted string
			if comma = strings.LastIndexByte(s[:comma], ','); len(s)-comma > maxElement {
				return out
			}
			if next, ok = forwardedElement(s[comma+1:]); !ok && comma < 0 {
				return out
			}
		}
		// list members may be empty (RFC 9110 section 5.6.1)
		if strings.Trim(s[comma+1:], " \t") != "" {
			out = append(out, next)
		}
		s = s[:max(comma, 0)]
	}
	return out
}

// forwardedElement parses one element: pairs separated by semicolons.
func forwardedElement(s string) (out hop, ok bool) {
	for {
		name, value, rest, ok := forwardedPair(s)
		if !ok {
			return hop{}, false
		}
		switch strings.ToLower(name) {
		case "for":
			out.addr = readNode(value)
		case "proto":
			out.proto = strings.ToLower(value)
		case "host":
			out.host = validHost(value)
		}
		switch rest = strings.TrimLeft(rest, " \t"); {
		case rest == "":
			return out, true
		case rest[0] != ';':
			return hop{}, false
		}
		s = rest[1:]
	}
}

// forwardedPair parses name=value. An empty pair is valid.
func forwardedPair(s string) (name, value, rest string, ok bool) {
	s = strings.TrimLeft(s, " \t")
	if s == "" || s[0] == ';' {
		return "", "", s, true
	}
	name, s, ok = strings.Cut(s, "=")
	if !ok || name == "" || strings.ContainsFunc(name, notInToken) {
		return "", "", "", false
	}
	if strings.HasPrefix(s, `"`) {
		value, rest, ok = unquote(s[1:])
		return name, value, rest, ok
	}
	end := strings.IndexFunc(s, notInToken)
	if end < 0 {
		end = len(s)
	}
	return name, s[:end], s[end:], end > 0
}

// unquote parses the remainder of a quoted string after the opening quote (RFC 9110 section 5.6.4).
func unquote(s string) (value, rest string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			return b.String(), s[i+1:], true
		case '\\':
			if i++; i == len(s) {
				return "", "", false
			}
		}
		b.WriteByte(s[i])
	}
	return "", "", false
}

// readNode parses an address with an optional port: 192.0.2.1, 192.0.2.1:80, 2001:db8::1,
// [2001:db8::1], [2001:db8::1]:80. It returns the zero Addr if s is not an address.
func readNode(s string) netip.Addr {
	if at, err := netip.ParseAddrPort(s); err == nil {
		return at.Addr().Unmap().WithZone("")
	}
	if inner, ok := strings.CutPrefix(s, "["); ok {
		s, ok = strings.CutSuffix(inner, "]")
		if !ok || !strings.Contains(s, ":") {
			return netip.Addr{}
		}
	}
	addr, err := netip.ParseAddr(s)
	if err != nil {
		return netip.Addr{}
	}
	return addr.Unmap().WithZone("")
}

// validHost returns s if it is valid in a Host field, and "" otherwise.
func validHost(s string) string {
	if len(s) > 255+len(":65535") || strings.ContainsFunc(s, func(r rune) bool {
		return !isAlphanumeric(r) && !strings.ContainsRune("-._:[]", r)
	}) {
		return ""
	}
	return s
}

package middleware

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// hop is what a proxy says of one step of the way of a request.
type hop struct {
	addr        netip.Addr // of who came to it; the zero Addr for what is none, such as "unknown"
	proto, host string     // that were asked for; "" if it does not say
}

// readHops reads the fields of one kind, the nearest proxy first.
func readHops(h http.Header, rfc bool) []hop {
	if rfc {
		return readForwarded(strings.Join(h["Forwarded"], ","))
	}
	var out []hop
	for _, line := range h["X-Forwarded-For"] {
		for member := range strings.SplitSeq(line, ",") {
			out = append(out, hop{addr: readNode(strings.TrimSpace(member))})
		}
	}
	slices.Reverse(out)
	if out == nil {
		out = make([]hop, 1)
	}
	// These two are lists of their own, which need not be as long as that of the addresses.
	out[0].proto = strings.ToLower(lastMember(h["X-Forwarded-Proto"]))
	out[0].host = validHost(lastMember(h["X-Forwarded-Host"]))
	return out
}

func lastMember(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	last := lines[len(lines)-1]
	return strings.TrimSpace(last[strings.LastIndexByte(last, ',')+1:])
}

// maxElement is how long an element of Forwarded may be, so that looking for its beginning takes no time.
const maxElement = 1024

// readForwarded reads a Forwarded field, RFC 7239 section 4, the nearest proxy first. It is read from its end, since what
// stands in front may be a client's: whatever that is, it spoils nothing of what proxies have put behind it.
func readForwarded(s string) []hop {
	var out []hop
	for s != "" {
		comma, next, ok := len(s), hop{}, false
		for !ok { // a comma may stand in quotes
			if comma = strings.LastIndexByte(s[:comma], ','); len(s)-comma > maxElement {
				return out
			}
			if next, ok = forwardedElement(s[comma+1:]); !ok && comma < 0 {
				return out
			}
		}
		// a list may have members that are empty (RFC 9110 section 5.6.1)
		if strings.Trim(s[comma+1:], " \t") != "" {
			out = append(out, next)
		}
		s = s[:max(comma, 0)]
	}
	return out
}

// forwardedElement reads pairs with semicolons between them.
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

// forwardedPair reads name=value, or nothing at all.
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

// unquote reads what is left of a quoted string, RFC 9110 section 5.6.4.
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

// readNode reads an address, with or without a port: 192.0.2.1, 192.0.2.1:80, 2001:db8::1, [2001:db8::1], [2001:db8::1]:80.
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

// validHost returns a host that may stand in a Host field, and "" for any other.
func validHost(s string) string {
	if len(s) > 255+len(":65535") || strings.ContainsFunc(s, func(r rune) bool {
		return !isAlphanumeric(r) && !strings.ContainsRune("-._:[]", r)
	}) {
		return ""
	}
	return s
}

package middleware

import (
	"net/http"
	"net/netip"
	"strings"
)

// hops are what proxies say of the way of a request, in the order in which it went.
type hops struct {
	addrs       []netip.Addr // the zero Addr for what is none, such as "unknown"
	proto, host string       // as the last said
}

// readHops reads the fields of one kind.
func readHops(h http.Header, rfc bool) hops {
	if rfc {
		return readForwarded(strings.Join(h["Forwarded"], ","))
	}
	var out hops
	for _, line := range h["X-Forwarded-For"] {
		for member := range strings.SplitSeq(line, ",") {
			out.addrs = append(out.addrs, readNode(strings.TrimSpace(member)))
		}
	}
	out.proto = strings.ToLower(lastMember(h["X-Forwarded-Proto"]))
	out.host = validHost(lastMember(h["X-Forwarded-Host"]))
	return out
}

func lastMember(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	last := lines[len(lines)-1]
	return strings.TrimSpace(last[strings.LastIndexByte(last, ',')+1:])
}

// readForwarded reads a Forwarded field, RFC 7239 section 4. One that breaks the grammar says nothing.
func readForwarded(s string) hops {
	var out hops
	node := netip.Addr{} // of the element that is being read
	for s != "" {
		name, value, rest, ok := forwardedPair(s)
		if !ok {
			return hops{}
		}
		switch strings.ToLower(name) {
		case "for":
			node = readNode(value)
		case "proto":
			out.proto = strings.ToLower(value)
		case "host":
			out.host = validHost(value)
		}
		s = strings.TrimLeft(rest, " \t")
		if s == "" || s[0] == ',' {
			out.addrs = append(out.addrs, node)
			node = netip.Addr{}
		}
		if s != "" {
			if s[0] != ',' && s[0] != ';' {
				return hops{}
			}
			s = s[1:]
		}
	}
	return out
}

// forwardedPair reads name=value. A list may have members that are empty (RFC 9110 section 5.6.1).
func forwardedPair(s string) (name, value, rest string, ok bool) {
	s = strings.TrimLeft(s, " \t")
	if s == "" || s[0] == ',' || s[0] == ';' {
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

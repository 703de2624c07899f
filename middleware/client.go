package middleware

// The address of the client that trusted proxies report. forwarded.go reads the fields.

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// ClientAddressOptions configures [ClientAddress]. Nil means the zero value.
type ClientAddressOptions struct {
	// Forwarded selects the field Forwarded (RFC 7239) instead of the X-Forwarded fields. Only one
	// kind is used, because a proxy that writes one kind passes on the other as the client sent it.
	// Default false.
	Forwarded bool
	// Host replaces the Host of the request by the one that the proxies report. Default false,
	// because most proxies preserve Host, and one that does not set the forwarding field passes on
	// the client's value.
	Host bool
	// UnixSocket trusts each peer that is connected by a Unix domain socket, for a proxy on the same
	// machine. Such a peer has no address, so [Client] returns the zero Addr for all its requests if
	// it is not trusted, and [RateLimit] counts them as one client. Default false.
	UnixSocket bool
}

// ClientAddress returns a middleware that determines the address of the client if the server is
// reached through proxies. [Client] and [Secure] return the result. trusted are the networks of the
// proxies. Forwarding fields from other peers are ignored; with an empty list they are always
// ignored.
//
// The list of addresses is read from its end, which the nearest proxy has written. The first
// address that is not trusted is the client. A malformed entry ends the search. The scheme and the
// host are those that the same proxy reports, which is the one that the client is connected to. If
// it reports none, those of the next proxy apply. X-Forwarded-Proto and X-Forwarded-Host are read
// from their ends as well, so each proxy must either append to all three fields or replace these two.
//
// Forwarded, X-Forwarded-* and X-Real-Ip are always removed from the request, so that inner
// handlers cannot use them by mistake. opts may be nil.
func ClientAddress(trusted []netip.Prefix, opts *ClientAddressOptions) func(http.Handler) http.Handler {
	var o ClientAddressOptions
	if opts != nil {
		o = *opts
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			c := &clientInfo{addr: peer(r), secure: r.TLS != nil}
			host := ""
			if within(trusted, c.addr) || o.UnixSocket && overUnixSocket(r) {
				host = c.apply(readHops(r.Header, o.Forwarded), trusted)
			}
			inner := r.WithContext(context.WithValue(r.Context(), clientKey{}, c))
			inner.Header = withoutForwarded(r.Header)
			if o.Host && host != "" {
				inner.Host = host
			}
			defer func() { r.Pattern = inner.Pattern }()
			next.ServeHTTP(w, inner)
		})
	}
}

type clientKey struct{}

// clientInfo is the result of ClientAddress for one request.
type clientInfo struct {
	addr   netip.Addr
	secure bool
}

// apply reads the hops of trusted proxies and returns the requested host, or "". Entries before the
// client's address may be forged and are not read.
func (c *clientInfo) apply(hops []hop, trusted []netip.Prefix) (host string) {
	proto := ""
	for _, h := range hops {
		proto, host = cmp.Or(h.proto, proto), cmp.Or(h.host, host)
		if !h.addr.IsValid() {
			break
		}
		if c.addr = h.addr; !within(trusted, c.addr) {
			break
		}
	}
	switch proto {
	case "https":
		c.secure = true
	case "http":
		c.secure = false
	}
	return host
}

// overUnixSocket reports whether the server received r over a Unix domain socket.
func overUnixSocket(r *http.Request) bool {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return ok && local.Network() == "unix"
}

// Client returns the address of the client, as determined by [ClientAddress], and otherwise that of
// the connection. It returns the zero Addr if the connection has none.
func Client(r *http.Request) netip.Addr {
	if c, ok := r.Context().Value(clientKey{}).(*clientInfo); ok {
		return c.addr
	}
	return peer(r)
}

// Secure reports whether the client used TLS, as determined by [ClientAddress], and otherwise
// whether this server did.
func Secure(r *http.Request) bool {
	if c, ok := r.Context().Value(clientKey{}).(*clientInfo); ok {
		return c.secure
	}
	return r.TLS != nil
}

// withoutForwarded returns h without the forwarding fields. h itself is not changed.
func withoutForwarded(h http.Header) http.Header {
	copied := false
	for name := range h {
		if name != "Forwarded" && name != "X-Real-Ip" && !strings.HasPrefix(name, "X-Forwarded-") {
			continue
		}
		if !copied {
			h, copied = h.Clone(), true // the range continues over the original
		}
		delete(h, name)
	}
	return h
}

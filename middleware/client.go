package middleware

import (
	"cmp"
	"context"
	"net/http"
	"net/netip"
	"strings"
)

// ClientAddressOptions adjust [ClientAddress]. The zero value is meaningful; nil is the zero value.
type ClientAddressOptions struct {
	// Forwarded says that the proxies speak RFC 7239: the field Forwarded is read, and the X-Forwarded ones are not. Only one
	// kind is ever believed, since a proxy that writes one passes on what a client wrote into the other.
	Forwarded bool
	// Host says that the proxies tell which host was asked for, which then is the Host of the request. It is off, for a
	// proxy that does not set it passes on what a client says, and most pass on Host itself.
	Host bool
}

// ClientAddress returns a middleware that finds out who is behind the proxies in front of the server, for [Client] and
// [Secure]. trusted are the addresses of those proxies; what comes from anywhere else is not believed in the least, and with
// no prefix at all nobody is.
//
// The list of addresses that proxies write is read from its end, where the nearest wrote, as long as they are trusted ones; the
// first that is not is the client. An entry that cannot be read ends it. A scheme and a host are believed of the same proxies, the
// nearest first.
//
// Whoever sent them, the fields Forwarded, X-Forwarded-* and X-Real-Ip are taken off the request, so that nothing behind can
// believe them by mistake. opts may be nil.
func ClientAddress(trusted []netip.Prefix, opts *ClientAddressOptions) func(http.Handler) http.Handler {
	var o ClientAddressOptions
	if opts != nil {
		o = *opts
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			c := &clientInfo{addr: peer(r), secure: r.TLS != nil}
			host := ""
			if within(trusted, c.addr) {
				host = c.believe(readHops(r.Header, o.Forwarded), trusted)
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

// clientInfo is what is known of the client.
type clientInfo struct {
	addr   netip.Addr
	secure bool
}

// believe takes over what trusted proxies say, and returns the host that was asked for, or "". What stands in front of the
// client's address was written by nobody who is trusted.
func (c *clientInfo) believe(way []hop, trusted []netip.Prefix) (host string) {
	proto := ""
	for _, h := range way {
		proto, host = cmp.Or(proto, h.proto), cmp.Or(host, h.host)
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

// Client returns the address of who sent the request: as [ClientAddress] found out, or else the other end of the connection.
// It is the zero Addr where that has none.
func Client(r *http.Request) netip.Addr {
	if c, ok := r.Context().Value(clientKey{}).(*clientInfo); ok {
		return c.addr
	}
	return peer(r)
}

// Secure reports whether the client used TLS: with a trusted proxy, as [ClientAddress] found out, or else with this server.
func Secure(r *http.Request) bool {
	if c, ok := r.Context().Value(clientKey{}).(*clientInfo); ok {
		return c.secure
	}
	return r.TLS != nil
}

// withoutForwarded returns a header without what only ClientAddress may believe. The header itself is not changed.
func withoutForwarded(h http.Header) http.Header {
	copied := false
	for name := range h {
		if name != "Forwarded" && name != "X-Real-Ip" && !strings.HasPrefix(name, "X-Forwarded-") {
			continue
		}
		if !copied {
			h, copied = h.Clone(), true // the range goes on over the one that came
		}
		delete(h, name)
	}
	return h
}

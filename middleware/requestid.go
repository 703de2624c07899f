package middleware

// The id of a request: taken from a trusted peer, or made here.

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"net/http"
	"net/netip"
	"strings"
	"time"
)

// RequestIDOptions configures [RequestID]. Nil means the zero value.
type RequestIDOptions struct {
	// Header is the field with the id. Default X-Request-Id.
	Header string
	// Trusted are the networks of peers that may send an id, such as the proxy in front of the
	// server. The address of the connection counts, not a header field. Nil accepts none, and every
	// request gets a new id.
	Trusted []netip.Prefix
}

// RequestID returns a middleware that assigns an id to every request. [RequestIDFrom] returns it,
// the response contains it, and [Log] logs it. It is a UUID of version 7 (RFC 9562 section 5.7), or
// the id that a trusted peer sent if that consists of 1 to 128 letters, digits and "-._~:+/=@".
//
// opts may be nil.
func RequestID(opts *RequestIDOptions) func(http.Handler) http.Handler {
	var o RequestIDOptions
	if opts != nil {
		o = *opts
	}
	if o.Header == "" {
		o.Header = "X-Request-Id"
	}
	field := http.CanonicalHeaderKey(o.Header)
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			id := o.incoming(r, field)
			if id == "" {
				id = newUUID()
			}
			w.Header()[field] = []string{id}
			serveWith(next, w, r, context.WithValue(r.Context(), requestIDKey{}, id))
		})
	}
}

type requestIDKey struct{}

// RequestIDFrom returns the id that [RequestID] assigned to the request with this context, and ""
// if there is none.
func RequestIDFrom(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
}

// incoming returns the id that a trusted peer sent; "" if there is none.
func (o *RequestIDOptions) incoming(r *http.Request, field string) string {
	lines := r.Header[field]
	if len(lines) != 1 || !isRequestID(lines[0]) || !within(o.Trusted, peer(r)) {
		return ""
	}
	return lines[0]
}

// isRequestID reports whether s is safe in logs, URLs and header fields.
func isRequestID(s string) bool {
	return s != "" && len(s) <= 128 && !strings.ContainsFunc(s, func(r rune) bool {
		return !isAlphanumeric(r) && !strings.ContainsRune("-._~:+/=@", r)
	})
}

// newUUID returns a UUID of version 7 (RFC 9562 section 5.7). These sort by time.
func newUUID() string {
	var u [16]byte
	rand.Read(u[6:]) // crypto/rand.Read never returns an error
	ms := uint64(time.Now().UnixMilli())
	for i := range 6 {
		u[i] = byte(ms >> (8 * (5 - i)))
	}
	u[6], u[8] = u[6]&0x0f|0x70, u[8]&0x3f|0x80
	var text [36]byte
	at := 0
	for i, part := range [...][]byte{u[:4], u[4:6], u[6:8], u[8:10], u[10:]} {
		if i > 0 {
			text[at] = '-'
			at++
		}
		at += hex.Encode(text[at:], part)
	}
	return string(text[:])
}

// peer returns the address of the other end of the connection; the zero Addr if there is none, as
// with a Unix socket.
func peer(r *http.Request) netip.Addr {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return at.Addr().Unmap().WithZone("")
}

// within reports whether one of the prefixes contains addr.
func within(prefixes []netip.Prefix, addr netip.Addr) bool {
	for _, p := range prefixes {
		if p.Contains(addr) {
			return true
		}
	}
	return false
}

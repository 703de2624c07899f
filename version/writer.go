package version

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// exchange is a request that has been given to a contract, and the response to it. It is one piece of memory for all that a
// request costs, so the context of the request is part of it.
type exchange struct {
	context.Context
	selection Selection
	writer    writer
	url       url.URL
}

// Value returns the Selection, or what the context of the request has.
func (x *exchange) Value(key any) any {
	if key == (contextKey{}) {
		return &x.selection
	}
	return x.Context.Value(key)
}

// hand gives the request to its contract.
func (n *Negotiator) hand(w http.ResponseWriter, q *inquiry) {
	x := &exchange{Context: q.request.Context()}
	s := &x.selection
	s.n, s.contract, s.request, s.now = n, q.contract, q.request, q.now
	s.place, s.raw, s.private = q.place, q.raw, q.private
	x.writer = writer{inner: w, selection: s}
	r := q.request.WithContext(x)
	if q.raw.path != "" || q.raw.query != "" {
		x.url = *r.URL
		r.URL = &x.url
		if q.raw.path != "" {
			stripMarker(r.URL)
		}
		if q.raw.query != "" {
			r.URL.RawQuery = stripQuery(r.URL.RawQuery, n.query)
		}
	}
	switch {
	case q.content != nil:
		s.member.Store(q.named)
		q.content.give(r)
	case q.lazy:
		r.Body = &lazyBody{selection: s, request: q.request, body: r.Body, said: q.said, place: q.place}
		r.ContentLength = -1 // known only when the content has been read; the field has what the client says
	}
	// A panic is answered by somebody outside, whose answer is one of this contract, too. Whoever is there, such as a tracer,
	// names the request by the pattern that was found for it, which is the same in all contracts.
	defer func() {
		q.request.Pattern = r.Pattern
		x.writer.complete()
	}()
	q.contract.Handler.ServeHTTP(&x.writer, r)
}

// writer completes the header of a response when it is written. It hides nothing that the writer within can do: what it does
// not do itself, an [http.ResponseController] finds by Unwrap.
type writer struct {
	inner     http.ResponseWriter
	selection *Selection
	completed bool
}

// Header returns that of the response.
func (w *writer) Header() http.Header { return w.inner.Header() }

// Unwrap returns the writer within, for [http.ResponseController].
func (w *writer) Unwrap() http.ResponseWriter { return w.inner }

// WriteHeader writes the header, and completes it before. An informational response (RFC 9110 section 15.2) is none yet,
// apart from 101, which is the last one.
func (w *writer) WriteHeader(status int) {
	if status >= http.StatusOK || status == http.StatusSwitchingProtocols {
		w.complete()
	}
	w.inner.WriteHeader(status)
}

// Write writes content.
func (w *writer) Write(b []byte) (int, error) {
	w.complete()
	return w.inner.Write(b)
}

// WriteString writes content without a copy, where the writer within can.
func (w *writer) WriteString(s string) (int, error) {
	w.complete()
	return io.WriteString(w.inner, s)
}

// ReadFrom copies content, in the way of the writer within, which may be that of the kernel.
func (w *writer) ReadFrom(src io.Reader) (int64, error) {
	w.complete()
	return io.Copy(w.inner, src)
}

// Flush sends what has been written so far.
func (w *writer) Flush() { _ = w.FlushError() }

// FlushError does so, and says if it cannot be done.
func (w *writer) FlushError() error {
	w.complete()
	return http.NewResponseController(w.inner).Flush()
}

// Hijack takes the connection over.
func (w *writer) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return http.NewResponseController(w.inner).Hijack()
}

// complete adds to the header what has to be said of versions.
func (w *writer) complete() {
	if w.completed {
		return
	}
	w.completed = true
	s := w.selection
	h := w.inner.Header()
	s.n.vary.add(h)
	s.n.stamp(h, s.contract)
	if link := s.successor(); link != "" {
		h["Link"] = append(h["Link"], link)
	}
	if s.private {
		h["Cache-Control"] = private(h["Cache-Control"])
	}
}

// stamp adds what does not depend on the request. A handler that knows the dates of what it serves better has said them
// already.
func (n *Negotiator) stamp(h http.Header, c *contract) {
	for _, field := range n.echo {
		h[field] = c.echo
	}
	if c.deprecation != nil && h["Deprecation"] == nil {
		h["Deprecation"] = c.deprecation
	}
	if c.sunset != nil && h["Sunset"] == nil {
		h["Sunset"] = c.sunset
	}
	switch {
	case len(c.links) == 0:
	case h["Link"] == nil:
		h["Link"] = c.links // without room behind, so that nobody appends to what is shared
	default:
		h["Link"] = append(h["Link"], c.links...)
	}
}

// private returns the directives of Cache-Control without those that let shared caches keep the response (RFC 9111
// section 5.2.2).
func private(lines []string) []string {
	var kept []string
	closed := false
	for _, line := range lines {
		for line != "" {
			var member string
			member, line = cutMember(line)
			directive, _, qualified := strings.Cut(strings.ToLower(member), "=")
			switch {
			case member == "", directive == "public", directive == "s-maxage", directive == "private" &&
				qualified:
				continue
			case directive == "private", directive == "no-store":
				closed = true
			}
			kept = append(kept, member)
		}
	}
	if !closed {
		kept = append([]string{"private"}, kept...)
	}
	return []string{strings.Join(kept, ", ")}
}

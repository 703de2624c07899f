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

// exchange holds everything that is allocated for a dispatched request. It is the request's
// context, so that one allocation is enough.
type exchange struct {
	context.Context
	selection selection
	writer    writer
	url       url.URL
}

// Value returns the selection for contextKey, and otherwise the value of the parent context.
func (x *exchange) Value(key any) any {
	if key == (contextKey{}) {
		return &x.selection
	}
	return x.Context.Value(key)
}

// dispatch calls the handler of the selected contract.
func (n *Negotiator) dispatch(w http.ResponseWriter, q *negotiation) {
	x := &exchange{Context: q.request.Context()}
	s := &x.selection
	s.n, s.contract, s.request, s.now = n, q.contract, q.request, q.now
	s.place, s.spelled, s.private = q.place, q.spelled, q.private
	x.writer = writer{inner: w, selection: s}
	r := q.request.WithContext(x)
	if q.spelled.path != "" || q.spelled.query != "" {
		x.url = *r.URL
		r.URL = &x.url
		if q.spelled.path != "" {
			stripMarker(r.URL)
		}
		if q.spelled.query != "" {
			r.URL.RawQuery = stripQuery(r.URL.RawQuery, n.query)
		}
	}
	q.setBody(r, s)
	// The deferred call also runs if the handler panics, because middleware outside may write a
	// response for it. The pattern is copied for middleware such as loggers, which read it from the
	// outer request.
	defer func() {
		q.request.Pattern = r.Pattern
		x.writer.completeHeader()
	}()
	if q.contract.remote != nil {
		q.contract.remote.serve(&x.writer, r)
		return
	}
	q.contract.Handler.ServeHTTP(&x.writer, r)
}

// setBody makes the body that was read the body of r, without the member that named the contract.
// Another server receives it unchanged, because it also receives the digest of the body.
func (q *negotiation) setBody(r *http.Request, s *selection) {
	elsewhere := q.contract.remote != nil
	switch {
	case q.body != nil && elsewhere:
		r.Body = readCloser{q.body.reader(), q.body.body}
	case q.body != nil:
		s.member.Store(q.inBody)
		q.body.setOn(r)
	case q.lazyBody:
		r.Body = &lazyBody{selection: s, request: q.request, body: r.Body, raw: q.raw, place: q.place}
		if !elsewhere {
			r.ContentLength = -1 // known after the body has been read; the header field is unchanged
		}
	}
}

// writer adds the version header fields before a response is written. [http.ResponseController]
// reaches other features of the inner writer by Unwrap.
type writer struct {
	inner           http.ResponseWriter
	selection       *selection
	headerCompleted bool
}

// Header returns the header of the response.
func (w *writer) Header() http.Header { return w.inner.Header() }

// Unwrap returns the inner writer for [http.ResponseController].
func (w *writer) Unwrap() http.ResponseWriter { return w.inner }

// WriteHeader completes and writes the header. Informational responses (RFC 9110 section 15.2) are
// written unchanged, except 101, which is final.
func (w *writer) WriteHeader(status int) {
	if status >= http.StatusOK || status == http.StatusSwitchingProtocols {
		w.completeHeader()
	}
	w.inner.WriteHeader(status)
}

// Write implements [io.Writer].
func (w *writer) Write(b []byte) (int, error) {
	w.completeHeader()
	return w.inner.Write(b)
}

// WriteString implements [io.StringWriter].
func (w *writer) WriteString(s string) (int, error) {
	w.completeHeader()
	return io.WriteString(w.inner, s)
}

// ReadFrom implements [io.ReaderFrom], so that the inner writer can use sendfile.
func (w *writer) ReadFrom(src io.Reader) (int64, error) {
	w.completeHeader()
	return io.Copy(w.inner, src)
}

// Flush implements [http.Flusher].
func (w *writer) Flush() { _ = w.FlushError() }

// FlushError sends buffered data, and returns an error if the inner writer cannot flush.
func (w *writer) FlushError() error {
	w.completeHeader()
	return http.NewResponseController(w.inner).Flush()
}

// Hijack implements [http.Hijacker].
func (w *writer) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return http.NewResponseController(w.inner).Hijack()
}

// completeHeader adds the version header fields once.
func (w *writer) completeHeader() {
	if w.headerCompleted {
		return
	}
	w.headerCompleted = true
	s := w.selection
	h := w.inner.Header()
	s.n.vary.add(h)
	s.n.setContractHeader(h, s.contract)
	if link := s.successor(); link != "" {
		h["Link"] = append(h["Link"], link)
	}
	if s.private {
		h["Cache-Control"] = makePrivate(h["Cache-Control"])
	}
}

// setContractHeader sets the fields that depend only on the contract. It keeps dates that the
// handler has set.
func (n *Negotiator) setContractHeader(h http.Header, c *contract) {
	for _, field := range n.echoFields {
		h[field] = c.echoValue
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
		h["Link"] = c.links // has no spare capacity, so append copies it
	default:
		h["Link"] = append(h["Link"], c.links...)
	}
}

// makePrivate returns the Cache-Control directives without those that allow shared caches to store
// the response, and adds private (RFC 9111 section 5.2.2).
func makePrivate(lines []string) []string {
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

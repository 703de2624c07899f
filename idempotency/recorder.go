package idempotency

// A response writer that records what a handler sends, for Wrap. It passes the response on while it
// records, so the client does not wait for the record.

import (
	"bufio"
	"context"
	"errors"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
)

// recorder buffers a response until its outcome is known, unless it becomes too large or is
// flushed.
type recorder struct {
	w   http.ResponseWriter
	max int // limit of content in bytes
	ran bool

	status   int         // 0 until the header is written
	header   http.Header // a copy of the header when it was written
	content  []byte
	sent     bool // the buffered response was sent, and the rest is passed through
	passed   bool // content was passed through
	hijacked bool // the connection was hijacked
}

// Header implements [http.ResponseWriter].
func (rec *recorder) Header() http.Header { return rec.w.Header() }

// WriteHeader implements [http.ResponseWriter]. Informational responses are passed through.
func (rec *recorder) WriteHeader(status int) {
	switch {
	case rec.hijacked || rec.status != 0 && !rec.sent:
		return // net/http would log a superfluous call
	case rec.sent || status < http.StatusOK && status != http.StatusSwitchingProtocols:
		rec.w.WriteHeader(status)
	default:
		rec.status, rec.header = status, rec.w.Header().Clone()
	}
}

// Write implements [http.ResponseWriter].
func (rec *recorder) Write(p []byte) (int, error) {
	if rec.hijacked {
		return 0, http.ErrHijacked
	}
	rec.begin()
	rec.sniff(p)
	if !rec.sent && len(rec.content)+len(p) <= rec.max {
		if !bodyAllowed(rec.status) {
			return 0, http.ErrBodyNotAllowed
		}
		rec.content = append(rec.content, p...)
		return len(p), nil
	}
	rec.send()
	rec.passed = rec.passed || len(p) > 0
	return rec.w.Write(p)
}

// begin writes status 200 if no status was written.
func (rec *recorder) begin() {
	if rec.status == 0 {
		rec.WriteHeader(http.StatusOK)
	}
}

// sniff sets Content-Type from the first content, as net/http does, so that it is recorded.
func (rec *recorder) sniff(p []byte) {
	first := len(p) > 0 && len(rec.content) == 0 && !rec.sent
	if first && rec.header["Content-Type"] == nil && rec.header.Get("Content-Encoding") == "" {
		rec.header.Set("Content-Type", http.DetectContentType(p))
	}
}

// bodyAllowed reports whether a response with this status has a body (RFC 9110, section 6.4.1).
func bodyAllowed(status int) bool {
	return status >= http.StatusOK && status != http.StatusNoContent && status != http.StatusNotModified
}

// FlushError implements the method that [http.ResponseController] calls. A flushed response is sent
// from then on and not recorded.
func (rec *recorder) FlushError() error {
	if rec.hijacked {
		return http.ErrHijacked
	}
	rec.begin()
	rec.send()
	return http.NewResponseController(rec.w).Flush()
}

// Flush implements [http.Flusher].
func (rec *recorder) Flush() { _ = rec.FlushError() }

// Hijack implements [http.Hijacker]. The outcome of a hijacked request is unknown.
func (rec *recorder) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := http.NewResponseController(rec.w).Hijack()
	rec.hijacked = rec.hijacked || err == nil
	return conn, buffered, err
}

// Unwrap implements the method that [http.ResponseController] uses.
func (rec *recorder) Unwrap() http.ResponseWriter { return rec.w }

// send sends the buffered response.
func (rec *recorder) send() {
	if rec.sent || rec.hijacked || rec.status == 0 {
		return
	}
	rec.sent = true
	h := rec.w.Header()
	for name := range h {
		if _, ok := rec.header[name]; !ok && !rec.isTrailer(name) {
			delete(h, name)
		}
	}
	maps.Copy(h, rec.header)
	rec.w.WriteHeader(rec.status)
	if len(rec.content) > 0 {
		// An error means that the client has disconnected.
		_, _ = rec.w.Write(rec.content)
	}
}

// isTrailer reports whether a field is a trailer, which may be set after the header is written.
func (rec *recorder) isTrailer(name string) bool {
	return strings.HasPrefix(name, http.TrailerPrefix) ||
		slices.ContainsFunc(rec.header["Trailer"], func(names string) bool {
			return strings.Contains(strings.ToLower(names), strings.ToLower(name))
		})
}

var (
	errHijacked = errors.New("idempotency: handler hijacked the connection")
	errRefused  = errors.New("idempotency: handler refused the request")
)

// outcome returns the record of the response, or an error if there is none to store.
func (rec *recorder) outcome(ctx context.Context) (Record, error) {
	switch {
	case rec.hijacked:
		return Record{}, errHijacked
	case rec.status == 0 && ctx.Err() != nil: // the handler has stopped because of its context
		return Record{}, ctx.Err()
	}
	rec.begin()
	status := rec.status
	if status >= http.StatusBadRequest && status < http.StatusInternalServerError && !RecordsRefusal(ctx) {
		return Record{}, errors.Join(ErrNothingDone, errRefused)
	}
	out := Record{Status: status, Header: keptFields(rec.header)}
	if len(rec.content) > 0 || rec.passed {
		out.Media = rec.header.Get("Content-Type")
	}
	switch {
	case !rec.sent:
		out.Result = rec.content
	case out.Media == "" && (len(rec.content) > 0 || rec.passed):
		out.Media = "application/octet-stream"
	}
	return out, nil
}

// keptFields returns the fields that describe the response and are replayed. Other fields depend on
// the time or the client, such as Set-Cookie, Date, Vary, CORS and tracing fields; middleware sets
// them again.
func keptFields(h http.Header) http.Header {
	var kept http.Header
	for _, name := range [...]string{
		"Content-Disposition", "Content-Encoding", "Content-Language", "Content-Location",
		"Content-Type", "Etag", "Last-Modified", "Link", "Location", "Preference-Applied", "Retry-After",
	} {
		if lines := h[name]; len(lines) > 0 {
			if kept == nil {
				kept = http.Header{}
			}
			kept[name] = slices.Clone(lines)
		}
	}
	return kept
}

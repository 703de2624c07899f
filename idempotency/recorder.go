package idempotency

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

// recorder holds back an answer until it is known what it is worth, unless it becomes too large or is flushed.
type recorder struct {
	w   http.ResponseWriter
	max int // bytes that are held back
	ran bool

	status  int         // 0 as long as nothing was written
	header  http.Header // when the status was written, which is what counts (http.ResponseWriter)
	content []byte
	sent    bool // everything so far was sent on, and the rest is
	taken   bool // the connection was hijacked
}

// Header is that of http.ResponseWriter.
func (rec *recorder) Header() http.Header { return rec.w.Header() }

// WriteHeader is that of http.ResponseWriter. Informational answers are sent on.
func (rec *recorder) WriteHeader(status int) {
	switch {
	case rec.taken || rec.status != 0 && !rec.sent:
		return // net/http would log it
	case rec.sent || status < http.StatusOK && status != http.StatusSwitchingProtocols:
		rec.w.WriteHeader(status)
	default:
		rec.status, rec.header = status, rec.w.Header().Clone()
	}
}

// Write is that of http.ResponseWriter.
func (rec *recorder) Write(p []byte) (int, error) {
	if rec.taken {
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
	return rec.w.Write(p)
}

// begin writes the status if it was not.
func (rec *recorder) begin() {
	if rec.status == 0 {
		rec.WriteHeader(http.StatusOK)
	}
}

// sniff finds the type of the first content, as net/http does it where there is none, so that it is kept.
func (rec *recorder) sniff(p []byte) {
	first := len(p) > 0 && len(rec.content) == 0 && !rec.sent
	if first && rec.header["Content-Type"] == nil && rec.header.Get("Content-Encoding") == "" {
		rec.header.Set("Content-Type", http.DetectContentType(p))
	}
}

func bodyAllowed(status int) bool {
	return status >= http.StatusOK && status != http.StatusNoContent && status != http.StatusNotModified
}

// FlushError is what http.ResponseController calls. What is flushed is for those who read along, and is not held back.
func (rec *recorder) FlushError() error {
	if rec.taken {
		return http.ErrHijacked
	}
	rec.begin()
	rec.send()
	return http.NewResponseController(rec.w).Flush()
}

// Flush is that of http.Flusher.
func (rec *recorder) Flush() { _ = rec.FlushError() }

// Hijack is that of http.Hijacker. What goes over the connection then nobody knows here.
func (rec *recorder) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := http.NewResponseController(rec.w).Hijack()
	rec.taken = rec.taken || err == nil
	return conn, buffered, err
}

// Unwrap is for http.ResponseController.
func (rec *recorder) Unwrap() http.ResponseWriter { return rec.w }

// send sends what was held back.
func (rec *recorder) send() {
	if rec.sent || rec.taken || rec.status == 0 {
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
		// A client that has gone cannot be told so.
		_, _ = rec.w.Write(rec.content)
	}
}

// isTrailer reports whether a field is sent behind the content, so that it may be set after the status.
func (rec *recorder) isTrailer(name string) bool {
	return strings.HasPrefix(name, http.TrailerPrefix) || slices.ContainsFunc(rec.header["Trailer"], func(names string) bool {
		return strings.Contains(strings.ToLower(names), strings.ToLower(name))
	})
}

var (
	errHijacked = errors.New("the handler took the connection")
	errRefused  = errors.New("the handler refused")
)

// outcome is what the handler did, as far as its answer tells.
func (rec *recorder) outcome(ctx context.Context) (Record, error) {
	switch {
	case rec.taken:
		return Record{}, errHijacked
	case rec.status == 0 && ctx.Err() != nil: // it gave up
		return Record{}, ctx.Err()
	}
	rec.begin()
	status := rec.status
	if status >= http.StatusBadRequest && status < http.StatusInternalServerError && !RecordsRefusal(ctx) {
		return Record{}, errors.Join(ErrNothingDone, errRefused)
	}
	out := Record{Status: status, Header: keptFields(rec.header)}
	if len(rec.content) > 0 || rec.sent {
		out.Media = rec.header.Get("Content-Type")
	}
	switch {
	case !rec.sent:
		out.Result = rec.content
	case out.Media == "":
		out.Media = "application/octet-stream"
	}
	return out, nil
}

// keptFields are the fields of an answer that a repetition gets again: they describe the answer. All others are of the
// moment and of the one who asked then, and are made again by whoever made them: Set-Cookie, Date, Vary, those of CORS and
// of tracing.
func keptFields(h http.Header) http.Header {
	var kept http.Header
	for _, name := range [...]string{"Content-Disposition", "Content-Encoding", "Content-Language", "Content-Location",
		"Content-Type", "Etag", "Last-Modified", "Link", "Location", "Preference-Applied", "Retry-After"} {
		if lines := h[name]; len(lines) > 0 {
			if kept == nil {
				kept = http.Header{}
			}
			kept[name] = slices.Clone(lines)
		}
	}
	return kept
}

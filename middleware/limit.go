package middleware

// Limits of requests: concurrent requests, and the size of URL, header and body.

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/stoa-go/stoa/resource/problem"
)

// LimitOptions configures [Limit]. Nil means the zero value. Negative values mean no limit.
type LimitOptions struct {
	Content    int64 // bytes of the request body; default 1 MiB
	URL        int   // bytes of the request target; default 8 KiB
	Fields     int   // lines of the header; default 100
	FieldBytes int   // bytes of the header; default 32 KiB
	// ContentOf returns the body limit in bytes for a single request, such as an upload; 0 means
	// Content. Nil means Content for all requests.
	ContentOf func(r *http.Request) int64
	// InFlight limits the requests that are handled concurrently. Default 0, no limit: the right
	// value depends on the server and must be measured. Slow clients count too; limit their time
	// with [Timeout].
	InFlight int
	// Queue limits the requests that wait while InFlight is reached. Default InFlight; negative
	// means that no request waits.
	Queue int
	// Wait is the maximum time in the queue. Default 1s.
	Wait time.Duration
	// Stream reports whether a request is exempt from InFlight, because it is long-lived: an event
	// stream or a WebSocket. Nil exempts none.
	Stream func(r *http.Request) bool
}

// Limit returns a middleware that limits the size and the number of requests. A target over the
// limit is rejected with 414, a header with 431 and a body with 413. If InFlight is reached and the
// queue is full or the wait too long, the response is 503 with Retry-After.
//
// A body with a Content-Length over the limit is rejected before it is read. Otherwise the handler
// can read up to the limit and then receives a [*http.MaxBytesError], for which it should respond
// with 413. In both cases the server reads no more from the connection and closes it after the
// response. opts may be nil.
func Limit(opts *LimitOptions) func(http.Handler) http.Handler {
	l := &limiter{}
	if opts != nil {
		l.opts = *opts
	}
	o := &l.opts
	o.Content, o.URL = orDefault(o.Content, 1<<20), orDefault(o.URL, 8<<10)
	o.Fields, o.FieldBytes = orDefault(o.Fields, 100), orDefault(o.FieldBytes, 32<<10)
	o.Queue, o.Wait = orDefault(o.Queue, o.InFlight), orDefault(o.Wait, time.Second)
	if o.InFlight > 0 {
		l.slots = newSemaphore(o.InFlight, o.Queue, o.Wait)
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if d := l.exceeded(r); d != nil {
				refuseUnread(w, r, d)
				return
			}
			if l.slots != nil && (o.Stream == nil || !o.Stream(r)) {
				if !l.slots.acquire(r.Context()) {
					d := problem.New(problem.Unavailable,
						"The server is handling too many requests; retry after 1 second.")
					d.Header = http.Header{"Retry-After": {"1"}}
					refuseUnread(w, r, d)
					return
				}
				defer l.slots.release()
			}
			l.serve(next, w, r)
		})
	}
}

type limiter struct {
	opts  LimitOptions
	slots *semaphore // nil without InFlight
}

// exceeded returns the problem for the first limit that the request exceeds, without reading the
// body; nil if there is none.
func (l *limiter) exceeded(r *http.Request) *problem.Details {
	if l.opts.URL >= 0 && len(r.RequestURI) > l.opts.URL {
		return limitProblem(problem.URITooLong, "The request target is longer than %d bytes.",
			int64(l.opts.URL))
	}
	lines, bytes := 0, 0
	for name, values := range r.Header {
		lines += len(values)
		for _, v := range values {
			bytes += len(name) + len(v) + len(": \r\n")
		}
	}
	if l.opts.Fields >= 0 && lines > l.opts.Fields {
		return limitProblem(problem.HeadersTooLarge, "The header has more than %d fields.",
			int64(l.opts.Fields))
	}
	if l.opts.FieldBytes >= 0 && bytes > l.opts.FieldBytes {
		return limitProblem(problem.HeadersTooLarge, "The header is larger than %d bytes.",
			int64(l.opts.FieldBytes))
	}
	if limit := l.contentLimit(r); limit >= 0 && r.ContentLength > limit {
		return limitProblem(problem.TooLarge, "The request body is larger than %d bytes.", limit)
	}
	return nil
}

func limitProblem(kind problem.Kind, detail string, limit int64) *problem.Details {
	d := problem.New(kind, fmt.Sprintf(detail, limit))
	d.Extensions = map[string]any{"limit": limit}
	return d
}

// contentLimit returns the body limit of a request in bytes.
func (l *limiter) contentLimit(r *http.Request) int64 {
	if l.opts.ContentOf != nil {
		return orDefault(l.opts.ContentOf(r), l.opts.Content)
	}
	return l.opts.Content
}

// serve calls next with a limited body.
func (l *limiter) serve(next http.Handler, w http.ResponseWriter, r *http.Request) {
	limit := l.contentLimit(r)
	// net/http enforces Content-Length
	if limit < 0 || r.ContentLength >= 0 || r.Body == nil {
		next.ServeHTTP(w, r)
		return
	}
	inner := *r
	// MaxBytesReader closes the connection only if it receives net/http's own writer.
	inner.Body = &limitedBody{ReadCloser: http.MaxBytesReader(innermost(w), r.Body, limit), w: w}
	defer func() { r.Pattern = inner.Pattern }()
	next.ServeHTTP(w, &inner)
}

// limitedBody stops reading from the connection if the body exceeds its limit.
type limitedBody struct {
	io.ReadCloser
	w http.ResponseWriter
}

// Read implements [io.Reader]. After the limit the connection is not reused.
func (b *limitedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.As(err, new(*http.MaxBytesError)) {
		stopReading(b.w)
	}
	return n, err
}

// refuseUnread responds with d without reading the body.
func refuseUnread(w http.ResponseWriter, r *http.Request, d *problem.Details) {
	if r.ContentLength != 0 && r.Body != nil {
		if r.ProtoMajor == 1 {
			w.Header().Set("Connection", "close")
		}
		stopReading(w)
	}
	problem.Write(w, r, d)
}

// stopReading sets a deadline in the past, so that net/http does not read the rest of the body.
func stopReading(w http.ResponseWriter) {
	// test recorders do not support deadlines
	_ = http.NewResponseController(w).SetReadDeadline(time.Unix(1, 0))
}

// innermost returns the writer that net/http has created.
func innermost(w http.ResponseWriter) http.ResponseWriter {
	for {
		outer, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			return w
		}
		w = outer.Unwrap()
	}
}

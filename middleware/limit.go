package middleware

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/stoa-go/stoa/resource/problem"
)

// LimitOptions adjust [Limit]. The zero value is meaningful; nil is the zero value. A number below zero is no limit.
type LimitOptions struct {
	Content    int64 // bytes of content; 1 MiB if zero
	URL        int   // bytes of the request target; 8 KiB if zero
	Fields     int   // lines of the header; 100 if zero
	FieldBytes int   // bytes of the header; 32 KiB if zero
	// ContentOf is the limit of content for a single request, such as an upload: zero is Content. Nil is Content for all.
	ContentOf func(r *http.Request) int64
	// InFlight is how many requests are worked on at once; any number if zero, since only a measurement tells how many are
	// too many. A client that sends slowly counts as well: bound its time by [Timeout].
	InFlight int
	// Queue is how many more wait for their turn; as many as InFlight if zero. Below zero nobody waits.
	Queue int
	// Wait is how long they wait; a second if zero.
	Wait time.Duration
	// Stream says which requests do not count as in flight, since they never end: streams of events and WebSockets.
	Stream func(r *http.Request) bool
}

// Limit returns a middleware that bounds what a request may be: a longer target is 414, a header with more lines or bytes 431,
// more content 413, and more requests than can be worked on are 503 with Retry-After once they have waited.
//
// Content that says how long it is is refused unread; of other content the handler reads as much as is allowed, and then the
// error is an [*http.MaxBytesError], for which it answers 413. Either way nothing more is read from the connection, which ends
// with the response: a client that goes on sending cannot hold it. opts may be nil.
func Limit(opts *LimitOptions) func(http.Handler) http.Handler {
	l := &limiter{}
	if opts != nil {
		l.opts = *opts
	}
	o := &l.opts
	o.Content, o.URL = either(o.Content, 1<<20), either(o.URL, 8<<10)
	o.Fields, o.FieldBytes = either(o.Fields, 100), either(o.FieldBytes, 32<<10)
	o.Queue, o.Wait = either(o.Queue, o.InFlight), either(o.Wait, time.Second)
	if o.InFlight > 0 {
		l.slots = make(chan struct{}, o.InFlight)
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if d := l.tooMuch(r); d != nil {
				refuseUnread(w, r, d)
				return
			}
			if l.slots != nil && (o.Stream == nil || !o.Stream(r)) {
				if !l.enter(r.Context()) {
					d := problem.New(problem.Unavailable, "There is too much to do at the moment; try again.")
					d.Header = http.Header{"Retry-After": {"1"}}
					refuseUnread(w, r, d)
					return
				}
				defer func() { <-l.slots }()
			}
			l.serve(next, w, r)
		})
	}
}

type limiter struct {
	opts    LimitOptions
	slots   chan struct{} // one for each request that is worked on
	waiting atomic.Int64
}

// tooMuch says what is wrong with a request, as far as it can be seen without reading.
func (l *limiter) tooMuch(r *http.Request) *problem.Details {
	if l.opts.URL >= 0 && len(r.RequestURI) > l.opts.URL {
		return tooMuch(problem.URITooLong, "The request target is too long.", int64(l.opts.URL))
	}
	lines, bytes := 0, 0
	for name, values := range r.Header {
		lines += len(values)
		for _, v := range values {
			bytes += len(name) + len(v) + len(": \r\n")
		}
	}
	if l.opts.Fields >= 0 && lines > l.opts.Fields {
		return tooMuch(problem.HeadersTooLarge, "The header has too many fields.", int64(l.opts.Fields))
	}
	if l.opts.FieldBytes >= 0 && bytes > l.opts.FieldBytes {
		return tooMuch(problem.HeadersTooLarge, "The header is too large.", int64(l.opts.FieldBytes))
	}
	if limit := l.content(r); limit >= 0 && r.ContentLength > limit {
		return tooMuch(problem.TooLarge, "The content is too large.", limit)
	}
	return nil
}

func tooMuch(kind problem.Kind, detail string, limit int64) *problem.Details {
	d := problem.New(kind, detail)
	d.Extensions = map[string]any{"limit": limit}
	return d
}

// content is how much content a request may have.
func (l *limiter) content(r *http.Request) int64 {
	if l.opts.ContentOf != nil {
		return either(l.opts.ContentOf(r), l.opts.Content)
	}
	return l.opts.Content
}

// enter waits for a slot, and reports whether there was one.
func (l *limiter) enter(ctx context.Context) bool {
	select {
	case l.slots <- struct{}{}:
		return true
	default:
	}
	defer l.waiting.Add(-1)
	if l.waiting.Add(1) > int64(l.opts.Queue) {
		return false
	}
	patience := time.NewTimer(l.opts.Wait)
	defer patience.Stop()
	select {
	case l.slots <- struct{}{}:
		return true
	case <-patience.C:
	case <-ctx.Done():
	}
	return false
}

// serve serves a request whose content is bounded.
func (l *limiter) serve(next http.Handler, w http.ResponseWriter, r *http.Request) {
	limit := l.content(r)
	// net/http sees to it that there is no more than was said
	if limit < 0 || r.ContentLength >= 0 || r.Body == nil {
		next.ServeHTTP(w, r)
		return
	}
	inner := *r
	// The innermost writer is the one that http.MaxBytesReader can tell not to use the connection again.
	inner.Body = &bounded{ReadCloser: http.MaxBytesReader(innermost(w), r.Body, limit), w: w}
	defer func() { r.Pattern = inner.Pattern }()
	next.ServeHTTP(w, &inner)
}

// bounded is content of which too much ends the connection.
type bounded struct {
	io.ReadCloser
	w http.ResponseWriter
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.As(err, new(*http.MaxBytesError)) {
		stopReading(b.w)
	}
	return n, err
}

// refuseUnread answers a request whose content is not wanted any more.
func refuseUnread(w http.ResponseWriter, r *http.Request, d *problem.Details) {
	if r.ContentLength != 0 && r.Body != nil {
		if r.ProtoMajor == 1 {
			w.Header().Set("Connection", "close")
		}
		stopReading(w)
	}
	problem.Write(w, r, d)
}

// stopReading makes net/http, which reads what a handler left over, find nothing more to read.
func stopReading(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Unix(1, 0)) // a recorder of tests has no deadlines
}

// innermost is the writer that net/http made.
func innermost(w http.ResponseWriter) http.ResponseWriter {
	for {
		outer, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			return w
		}
		w = outer.Unwrap()
	}
}

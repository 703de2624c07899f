package middleware

// Deadlines for reading a request body and for writing a response, renewed for each request.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/stoa-go/stoa/resource/problem"
)

// TimeoutOptions configures [Timeout]. Nil means the zero value. Negative times mean no limit.
type TimeoutOptions struct {
	// Handle limits how long a request is handled. It is the deadline of its context. Default 30s.
	Handle time.Duration
	// Read limits the time until the request body has been received, from the start of the request.
	// Default 15s.
	Read time.Duration
	// Write limits the time until the response has been sent, from the start of the request.
	// Default 1m.
	Write time.Duration
	// Stream reports whether a response has no time limit, such as an event stream or a WebSocket.
	// Only Read still applies, to the request body. The limits of the server are lifted too. Stream
	// should test the route as well as the header fields, because otherwise every client could
	// avoid the limits. Nil means that all requests are limited: an event stream then ends after
	// Handle and the client reconnects.
	Stream func(r *http.Request) bool
}

// Timeout returns a middleware that limits the time of every request. The context gets a deadline,
// and so do reading the request and writing the response. These replace ReadTimeout and
// WriteTimeout of the server. To give one route more time, exempt it by Stream and wrap its handler
// in another Timeout.
//
// The handler runs in the goroutine of the request and its response is not buffered, so a handler
// that ignores its context is not interrupted. If it returns after the deadline without a response,
// the response is 503 with Retry-After. If the body does not arrive in time, reading it returns an
// error that is both [os.ErrDeadlineExceeded] and a [*problem.Details] with status 408. opts may be
// nil.
func Timeout(opts *TimeoutOptions) func(http.Handler) http.Handler {
	var o TimeoutOptions
	if opts != nil {
		o = *opts
	}
	o.Handle, o.Read, o.Write = orDefault(o.Handle, 30*time.Second), orDefault(o.Read, 15*time.Second),
		orDefault(o.Write, time.Minute)
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			// Test recorders do not support deadlines, so errors are ignored.
			control, now := http.NewResponseController(w), time.Now()
			if o.Stream != nil && o.Stream(r) {
				_, _ = control.SetReadDeadline(time.Time{}), control.SetWriteDeadline(time.Time{})
				inner := withReadDeadline(control, r, deadline(now, o.Read))
				defer func() { r.Pattern = inner.Pattern }() // as in serveWith
				next.ServeHTTP(w, inner)
				return
			}
			_ = control.SetWriteDeadline(deadline(now, o.Write))
			inner := withReadDeadline(control, r, deadline(now, o.Read))
			defer func() { r.Pattern = inner.Pattern }() // as in serveWith
			o.serve(next, w, inner)
		})
	}
}

// serve calls next with the deadline, and responds with 503 if next has not responded.
func (o *TimeoutOptions) serve(next http.Handler, w http.ResponseWriter, r *http.Request) {
	if o.Handle < 0 {
		next.ServeHTTP(w, r)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), o.Handle)
	defer cancel()
	w, seen := newRecorder(w)
	serveWith(next, w, r, ctx)
	if !seen.wroteHeader() && ctx.Err() == context.DeadlineExceeded && r.Context().Err() == nil {
		d := problem.New(problem.Unavailable,
			fmt.Sprintf("The request took longer than %v; retry after 5 seconds.", o.Handle))
		d.Header = http.Header{"Retry-After": {"5"}}
		dropStale(w.Header())
		problem.Write(w, r, d)
	}
}

// deadline returns now plus d; the zero Time, which means no deadline, if d is negative.
func deadline(now time.Time, d time.Duration) time.Time {
	if d < 0 {
		return time.Time{}
	}
	return now.Add(d)
}

// withReadDeadline sets a deadline for the request body. It is lifted when the body has been read:
// net/http then reads in the background to detect a closed connection, and would take an expired
// deadline for one.
func withReadDeadline(control *http.ResponseController, r *http.Request, until time.Time) *http.Request {
	if r.Body == nil || r.Body == http.NoBody {
		return r // net/http only waits for the end of the connection
	}
	_ = control.SetReadDeadline(until)
	inner := *r
	inner.Body = &deadlineBody{ReadCloser: r.Body, control: control}
	return &inner
}

// deadlineBody is a request body with a read deadline.
type deadlineBody struct {
	io.ReadCloser
	control *http.ResponseController
}

// Read implements [io.Reader]. The deadline ends with the body, so that a slow handler is not cut
// off.
func (a *deadlineBody) Read(p []byte) (int, error) {
	n, err := a.ReadCloser.Read(p)
	switch {
	case errors.Is(err, io.EOF):
		_ = a.control.SetReadDeadline(time.Time{})
	case errors.Is(err, os.ErrDeadlineExceeded):
		d := problem.New(problem.BadRequest, "The request body was not received before the read deadline.")
		d.Status = http.StatusRequestTimeout
		err = errors.Join(d, err)
	}
	return n, err
}

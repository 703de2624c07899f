package middleware

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/stoa-go/stoa/resource/problem"
)

// TimeoutOptions adjust [Timeout]. The zero value is meaningful; nil is the zero value. A time below zero is no limit.
type TimeoutOptions struct {
	// Handle is how long a request may be worked on: the deadline of its context. 30 seconds if zero.
	Handle time.Duration
	// Read is how long the content may take to arrive, from the beginning of the request; 15 seconds if zero.
	Read time.Duration
	// Write is how long the response may take to be sent, from the beginning of the request; a minute if zero.
	Write time.Duration
	// Stream says which requests go on as long as both sides want, such as streams of events and WebSockets: they have no
	// limit but Read, for the content that they begin with, and not even those of the server. Nil means none. It should ask for the route as well as for what the client
	// says, or every client could choose to be unlimited. A stream of events that is not named ends with Handle, and its client
	// comes back.
	Stream func(r *http.Request) bool
}

// Timeout returns a middleware that bounds the time of every request: the context gets a deadline, and what is read from the
// client and written to it has to be done in time. These take the place of the ReadTimeout and WriteTimeout of the
// server for the request; a Timeout around a single route may give it more, if the one around all leaves it out by Stream.
//
// Everything happens in the goroutine of the request, so that nothing is hidden and nothing is buffered: a handler that does
// not look at its context is not ended. If it gave up without an answer, the answer is 503 with Retry-After. Content that
// does not arrive in time is an error of reading it, [os.ErrDeadlineExceeded] and a [*problem.Details] with status 408 in one; how long a handler works after it
// has read everything has nothing to do with that. opts may be nil.
func Timeout(opts *TimeoutOptions) func(http.Handler) http.Handler {
	var o TimeoutOptions
	if opts != nil {
		o = *opts
	}
	o.Handle, o.Read, o.Write = either(o.Handle, 30*time.Second), either(o.Read, 15*time.Second),
		either(o.Write, time.Minute)
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			// A writer that knows no deadlines is a recorder of tests.
			control, now := http.NewResponseController(w), time.Now()
			if o.Stream != nil && o.Stream(r) {
				_, _ = control.SetReadDeadline(time.Time{}), control.SetWriteDeadline(time.Time{})
				inner := boundReading(control, r, after(now, o.Read))
				defer func() { r.Pattern = inner.Pattern }() // as serveWith
				next.ServeHTTP(w, inner)
				return
			}
			_ = control.SetWriteDeadline(after(now, o.Write))
			inner := boundReading(control, r, after(now, o.Read))
			defer func() { r.Pattern = inner.Pattern }() // as serveWith
			o.serve(next, w, inner)
		})
	}
}

// serve serves a request whose reading and writing is bounded.
func (o *TimeoutOptions) serve(next http.Handler, w http.ResponseWriter, r *http.Request) {
	if o.Handle < 0 {
		next.ServeHTTP(w, r)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), o.Handle)
	defer cancel()
	w, seen := watched(w)
	serveWith(next, w, r, ctx)
	if !seen.begun() && ctx.Err() == context.DeadlineExceeded && r.Context().Err() == nil {
		d := problem.New(problem.Unavailable, "It took too long; try again later.")
		d.Header = http.Header{"Retry-After": {"5"}}
		drop(w.Header())
		problem.Write(w, r, d)
	}
}

// after is when a time is over; the zero Time, which is never, if it is below zero.
func after(now time.Time, d time.Duration) time.Time {
	if d < 0 {
		return time.Time{}
	}
	return now.Add(d)
}

// boundReading makes the content of a request arrive until then. Once it has, the deadline is lifted: net/http goes on
// reading, to find out whether the client has gone, and takes a deadline that passes for just that, if somebody outside has
// read the content already.
func boundReading(control *http.ResponseController, r *http.Request, until time.Time) *http.Request {
	if r.Body == nil || r.Body == http.NoBody {
		return r // net/http waits for nothing but the end of the connection
	}
	_ = control.SetReadDeadline(until)
	inner := *r
	inner.Body = &arriving{ReadCloser: r.Body, control: control}
	return &inner
}

// arriving is content that has to arrive in time.
type arriving struct {
	io.ReadCloser
	control *http.ResponseController
}

func (a *arriving) Read(p []byte) (int, error) {
	n, err := a.ReadCloser.Read(p)
	switch {
	case errors.Is(err, io.EOF):
		_ = a.control.SetReadDeadline(time.Time{})
	case errors.Is(err, os.ErrDeadlineExceeded):
		d := problem.New(problem.BadRequest, "The content did not arrive in time.")
		d.Status = http.StatusRequestTimeout
		err = errors.Join(d, err)
	}
	return n, err
}

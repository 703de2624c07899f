package graphql

// Responses as text/event-stream, as specified by graphql-sse for distinct connections: an event
// "next" for each result, then "complete". Request errors are a result, because clients read
// nothing else of a stream.
//
// In addition, messages of a subscription have their cursor as event id, so that an EventSource
// resumes with Last-Event-ID.

import (
	"context"
	"errors"
	"iter"
	"net/http"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/middleware"
	"github.com/stoa-go/stoa/query/graphql/internal/exec"
	"github.com/stoa-go/stoa/query/graphql/internal/gqlerror"
	"github.com/stoa-go/stoa/query/graphql/internal/transportws"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/feed/eventstream"
	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/problem"
)

// stream responds with events.
func (x *exchange) stream(plan *exec.Plan, errs []*gqlerror.Error, q *parsedRequest) error {
	switch {
	case q.keyed || len(x.header[idempotency.KeyField]) > 0:
		return badKey("stream", "a response as text/event-stream is not stored, so it cannot have a key")
	case plan != nil && plan.Kind == mutation && x.reads():
		return notAllowed(allowChange, "Mutations must be sent with POST.")
	case x.r.Method == http.MethodHead:
		h := x.w.Header()
		h["Content-Type"], h["Cache-Control"] = []string{mediaEvents}, noStore
		header.AddVary(h, varyAnswer)
		x.noContent(http.StatusOK)
		return nil
	}
	x.streaming = true
	switch {
	case len(errs) > 0:
		return x.single(gqlerror.Answer(nil, errs...))
	case plan.Kind == subscription:
		return x.streamMessages(plan, q)
	}
	buf := buffers.Get()
	defer buffers.Put(buf)
	var err error
	if *buf, _, err = x.run(x.r.Context(), plan, q, *buf); err != nil {
		return err
	}
	return x.single(*buf)
}

// single sends a stream with one result.
func (x *exchange) single(result []byte) error {
	out, err := x.open(nil)
	if err == nil {
		sendLast(out, result)
	}
	return err
}

// sendLast sends the last result. An error means that the client has disconnected.
func sendLast(out *eventstream.Writer, result []byte) {
	if out.Event(eventstream.Event{Name: "next", Data: result}) == nil {
		complete(out)
	}
}

// complete sends the event complete. Clients ignore an event without a data field, so it has an
// empty one.
func complete(out *eventstream.Writer) {
	_ = out.Event(eventstream.Event{Name: "complete", Data: []byte{}})
}

// open starts the stream. opts may be nil.
func (x *exchange) open(opts *eventstream.Options) (*eventstream.Writer, error) {
	h := x.w.Header()
	h["X-Content-Type-Options"] = nosniff
	header.AddVary(h, varyAnswer)
	out, err := eventstream.Open(x.w, opts)
	if errors.Is(err, http.ErrNotSupported) {
		x.streaming = false
		x.h.opts.Logger.ErrorContext(x.r.Context(), "stoa: response cannot be streamed", "error", err)
		return nil, problem.New(problem.NotImplemented, "The connection does not support text/event-stream.")
	}
	x.began = true
	return out, err
}

// sendError sends an error as a stream, and reports whether it could, because no response has begun.
func (x *exchange) sendError(err error) bool {
	return !x.began && x.single(gqlerror.Answer(nil, x.clientError(x.r.Context(), err))) == nil
}

// streamMessages sends the messages of a subscription until it ends. Without the event "complete" the
// client reconnects, which is intended for a shutdown and for an expired authorization.
func (x *exchange) streamMessages(plan *exec.Plan, q *parsedRequest) error {
	ending := x.h.sockets.Ending(x.r.Context())
	if ending.Err() != nil {
		x.streaming = false
		d := problem.New(problem.Unavailable, "The server is shutting down. Try again later.")
		d.Header = http.Header{"Retry-After": {"5"}}
		return d
	}
	leave, err := x.h.catalog.Stream(x.r.Context())
	if err != nil { // clients evaluate the status and Retry-After
		x.streaming = false
		return err
	}
	defer leave()
	within, expire := middleware.WithExpiry(x.r.Context())
	defer expire()
	ctx, cancel := context.WithCancelCause(within)
	defer cancel(nil)
	defer context.AfterFunc(ending, func() { cancel(transportws.ErrGoingAway) })()
	messages, errs := x.subscriptionMessages(ctx, plan, q, x.header.Get("Last-Event-Id"))
	if len(errs) > 0 {
		if d := errs[0].Problem; d != nil && d.Kind == problem.Unavailable {
			x.streaming = false
			return d
		}
		return x.single(gqlerror.Answer(nil, errs...))
	}
	out, err := x.open(&eventstream.Options{Heartbeat: eventstream.Heartbeat, Gone: func() { cancel(nil) }})
	if err != nil {
		return err
	}
	defer func() {
		if out.Close() {
			panic(http.ErrAbortHandler)
		}
	}()
	if out.Comment("") == nil { // some clients report the connection only after the first bytes
		x.sendMessages(ctx, out, x.observeStream(ctx, plan, q, messages))
	}
	return nil
}

// sendMessages sends the messages. For a bookmark it sends the id only, which clients use to resume.
func (x *exchange) sendMessages(ctx context.Context, out *eventstream.Writer,
	messages iter.Seq2[exec.Message, error]) {
	for m, err := range messages {
		switch {
		case errors.Is(err, feed.ErrClosed):
			return
		case err != nil:
			sendLast(out, gqlerror.Answer(nil, x.clientError(ctx, err)))
			return
		case out.Event(eventstream.Event{ID: m.Cursor.String(), Name: "next", Data: m.JSON}) != nil:
			return
		}
	}
	if ctx.Err() == nil {
		complete(out)
	}
}

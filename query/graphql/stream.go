package graphql

import (
	"context"
	"errors"
	"iter"
	"net/http"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/query/graphql/internal/exec"
	"github.com/stoa-go/stoa/query/graphql/internal/gqlerror"
	"github.com/stoa-go/stoa/query/graphql/internal/transportws"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/feed/eventstream"
	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/problem"
)

// Answers as text/event-stream are those of the distinct connections mode of graphql-sse: an event "next" for each result,
// then one "complete". What is wrong with the operation is a result, too, since clients read nothing else of a stream.
//
// Beyond that protocol, results of a subscription have their cursor for an id, so that an EventSource, which sends the last
// one when it comes back, goes on where it was.

// stream answers with events.
func (x *exchange) stream(plan *exec.Plan, errs []*gqlerror.Error, q *request) error {
	switch {
	case q.keyed || len(x.header[idempotency.KeyField]) > 0:
		return badKey("stream", "an answer in events is not kept, so that no key can bring it back")
	case plan != nil && plan.Kind == mutation && x.reads():
		return notAllowed(allowChange, "A mutation is sent with POST.")
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
		return x.subscribe(plan, q)
	}
	buf := buffers.Get()
	defer buffers.Put(buf)
	var err error
	if *buf, _, err = x.run(x.r.Context(), plan, q, *buf); err != nil {
		return err
	}
	return x.single(*buf)
}

// single answers with one result.
func (x *exchange) single(result []byte) error {
	out, err := x.open(nil)
	if err == nil {
		conclude(out, result)
	}
	return err
}

// conclude sends a last result. An error means that the client has gone.
func conclude(out *eventstream.Writer, result []byte) {
	if out.Event(eventstream.Event{Name: "next", Data: result}) == nil {
		complete(out)
	}
}

// complete says that there are no more results. Without data nobody would be told of it.
func complete(out *eventstream.Writer) {
	_ = out.Event(eventstream.Event{Name: "complete", Data: []byte{}})
}

// open begins the stream. opts may be nil.
func (x *exchange) open(opts *eventstream.Options) (*eventstream.Writer, error) {
	h := x.w.Header()
	h["X-Content-Type-Options"] = nosniff
	header.AddVary(h, varyAnswer)
	out, err := eventstream.Open(x.w, opts)
	if errors.Is(err, http.ErrNotSupported) {
		x.streaming = false
		return nil, problem.New(problem.NotImplemented, "Events are not served over this connection.")
	}
	x.began = true
	return out, err
}

// tell tells of an error in an answer that is to be a stream, if it has not begun. Whoever asks in a wrong way gets a status.
func (x *exchange) tell(err error) bool {
	return !x.began && x.single(gqlerror.Answer(nil, x.fault(x.r.Context(), err))) == nil
}

// subscribe answers with the results of a subscription, until something ends it. Without "complete" the client comes back:
// so it is when the server is about to end, or the client may not listen any longer than until now.
func (x *exchange) subscribe(plan *exec.Plan, q *request) error {
	ending := x.h.sockets.Ending(x.r)
	if ending.Err() != nil {
		x.streaming = false
		d := problem.New(problem.Unavailable, "The server is about to end.")
		d.Header = http.Header{"Retry-After": {"5"}}
		return d
	}
	leave, err := x.h.catalog.Stream(x.r.Context())
	if err != nil { // clients read of a status that they have to wait
		x.streaming = false
		return err
	}
	defer leave()
	ctx, cancel := context.WithCancelCause(x.r.Context())
	defer cancel(nil)
	defer context.AfterFunc(ending, func() { cancel(transportws.ErrGoingAway) })()
	messages, errs := x.h.engine.Subscribe(ctx, plan, q.variables, x.header.Get("Last-Event-Id"))
	if len(errs) > 0 {
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
	if out.Comment("") == nil { // some clients notice only then that they are connected
		x.tellAll(ctx, out, messages)
	}
	return nil
}

// tellAll sends the results. Of a bookmark that is the id alone: clients are told nothing of it, and come back with it.
func (x *exchange) tellAll(ctx context.Context, out *eventstream.Writer,
	messages iter.Seq2[exec.Message, error]) {
	for m, err := range messages {
		switch {
		case errors.Is(err, feed.ErrClosed):
			return
		case err != nil:
			conclude(out, gqlerror.Answer(nil, x.fault(ctx, err)))
			return
		case out.Event(eventstream.Event{ID: m.Cursor.String(), Name: "next", Data: m.JSON}) != nil:
			return
		}
	}
	if ctx.Err() == nil {
		complete(out)
	}
}

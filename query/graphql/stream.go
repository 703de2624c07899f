package graphql

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/query/graphql/internal/exec"
	"github.com/stoa-go/stoa/query/graphql/internal/fault"
	"github.com/stoa-go/stoa/query/graphql/internal/socket"
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

// heartbeat is how long a stream may be silent.
const heartbeat = 15 * time.Second

// stream answers with events.
func (x *exchange) stream(plan *exec.Plan, errs []*fault.Error, q *request) error {
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
		return x.single(fault.Answer(nil, errs...))
	case plan.Kind == subscription:
		return x.subscribe(plan, q)
	}
	buf := getBuffer()
	defer putBuffer(buf)
	var err error
	if *buf, _, err = x.run(x.r.Context(), plan, q, *buf); err != nil {
		return err
	}
	return x.single(*buf)
}

// single answers with one result.
func (x *exchange) single(result []byte) error {
	out, err := x.open()
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

// open begins the stream.
func (x *exchange) open() (*eventstream.Writer, error) {
	h := x.w.Header()
	h["X-Content-Type-Options"] = nosniff
	header.AddVary(h, varyAnswer)
	out, err := eventstream.Open(x.w, nil)
	if errors.Is(err, http.ErrNotSupported) {
		x.streaming = false
		return nil, problem.New(problem.NotImplemented, "Events are not served over this connection.")
	}
	x.began = true
	return out, err
}

// tell tells of an error in an answer that is to be a stream, if it has not begun. Whoever asks in a wrong way gets a status.
func (x *exchange) tell(err error) bool {
	return !x.began && x.single(fault.Answer(nil, x.fault(x.r.Context(), err))) == nil
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
	ctx, cancel := context.WithCancelCause(x.r.Context())
	defer cancel(nil)
	defer context.AfterFunc(ending, func() { cancel(socket.ErrGoingAway) })()
	messages, errs := x.h.engine.Subscribe(ctx, plan, q.variables, x.header.Get("Last-Event-Id"))
	if len(errs) > 0 {
		return x.single(fault.Answer(nil, errs...))
	}
	out, err := x.open()
	if err != nil {
		return err
	}
	p := newPulse(out, cancel)
	defer p.end()
	for m, err := range messages {
		switch {
		case errors.Is(err, feed.ErrClosed):
			return nil
		case err != nil:
			p.conclude(fault.Answer(nil, x.fault(ctx, err)))
			return nil
		case !p.next(&m):
			return nil
		}
	}
	switch {
	case ctx.Err() == nil:
		p.conclude(nil)
	case context.Cause(ctx) == http.ErrAbortHandler:
		panic(http.ErrAbortHandler)
	}
	return nil
}

// pulse is a stream that is never silent for long: some client, proxy or load balancer would take it for dead, and whether
// the client has gone shows when something is sent. Comments are sent in a goroutine that lives for as long as that takes.
type pulse struct {
	mu     sync.Mutex
	out    *eventstream.Writer
	timer  *time.Timer
	cancel context.CancelCauseFunc // ends the subscription if the client does not read
	over   bool
}

// newPulse sends the first comment, since some clients notice only then that they are connected.
func newPulse(out *eventstream.Writer, cancel context.CancelCauseFunc) *pulse {
	p := &pulse{out: out, cancel: cancel}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.timer = time.AfterFunc(heartbeat, p.beat)
	p.comment()
	return p
}

// beat is the end of a silence.
func (p *pulse) beat() {
	defer func() {
		if v := recover(); v != nil { // of a writer that stands around that of the server: there is nobody else to catch it
			p.cancel(http.ErrAbortHandler)
		}
	}()
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.over {
		p.comment()
		p.timer.Reset(heartbeat)
	}
}

// comment sends nothing. The caller has locked.
func (p *pulse) comment() {
	if err := p.out.Comment(""); err != nil {
		p.cancel(err)
	}
}

// next sends a result, or of a bookmark the id alone, of which clients are told nothing, but with which they come back. It
// reports whether the client is still there.
func (p *pulse) next(m *exec.Message) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.timer.Reset(heartbeat)
	return p.out.Event(eventstream.Event{ID: m.Cursor.String(), Name: "next", Data: m.JSON}) == nil
}

// conclude sends a last result, nil for none, and that it was the last.
func (p *pulse) conclude(result []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if result == nil {
		complete(p.out)
		return
	}
	conclude(p.out, result)
}

// end has nothing sent any more.
func (p *pulse) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
	p.timer.Stop()
}

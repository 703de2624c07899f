package transportws

// Operations of a socket, from subscribe to the last message.

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/query/graphql/internal/gqlerror"
	"github.com/stoa-go/stoa/resource/problem"
)

// operation is a running operation. Its id is in use while it is in socket.live.
type operation struct {
	id      string
	quoted  []byte // the id as JSON
	cancel  context.CancelCauseFunc
	request []byte // nil after execution has started
	stream  bool
}

// subscribe handles a subscribe message. An operation above the limit receives an error message.
func (s *socket) subscribe(m *message) error {
	op := &operation{id: m.id, request: bytes.Clone(m.payload)}
	op.quoted, _ = jsontext.AppendQuote(nil, m.id) // the decoder has validated UTF-8
	if err := s.begin(op); err != errTooMany {
		return err
	}
	e := gqlerror.Of(problem.New(problem.TooManyRequests, "The socket has too many operations."))
	return s.sendErrors(op, gqlerror.List(nil, []*gqlerror.Error{e}))
}

// errTooMany reports that the socket has the maximum number of operations.
var errTooMany = errors.New("transportws: too many operations")

// begin starts an operation. If it returns errTooMany, the id is in use until the error is sent.
func (s *socket) begin(op *operation) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.state != acknowledged:
		return &Close{Unauthorized, "Unauthorized"}
	case s.live[op.id] != nil:
		return inUse(op.id)
	case s.closing || s.ended:
		return nil // the client starts it again on its next connection
	}
	if s.live == nil {
		s.live = make(map[string]*operation, 1)
	}
	s.live[op.id] = op
	// Completed operations count until they have ended. Otherwise a client could start and complete
	// operations without limit.
	if len(s.live) > s.server.opts.Operations || s.busy >= 2*s.server.opts.Operations {
		return errTooMany
	}
	s.holds++
	s.busy++
	var ctx context.Context
	ctx, op.cancel = context.WithCancelCause(s.ctx)
	go s.run(ctx, op)
	return nil
}

// inUse returns the error for an id in use. The reason has as much of the id as fits.
func inUse(id string) error {
	const before, after = "Subscriber for ", " already exists"
	return &Close{IDInUse, before + cut(id, maxReason-len(before)-len(after)) + after}
}

// run executes an operation until it ends or is canceled.
func (s *socket) run(ctx context.Context, op *operation) {
	defer s.release()
	defer s.operationEnded()
	defer op.cancel(errGone)
	s.sendOutcome(op, s.recovered(func() error { return s.execute(ctx, op) }))
}

// sendOutcome sends the last message of an operation, unless the client has completed it.
func (s *socket) sendOutcome(op *operation, err error) {
	var refusal *Refusal
	switch {
	case err == nil:
		err = s.sendLast(op, func(dst []byte) []byte { return appendComplete(dst, op.quoted) })
	case errors.As(err, &refusal):
		err = s.sendErrors(op, refusal.Errors)
	case !s.isLive(op):
		return
	}
	if err != nil && err != errGone {
		s.fail(err)
	}
}

// execute writes the results of an operation.
func (s *socket) execute(ctx context.Context, op *operation) error {
	request := op.request
	op.request = nil
	execution := s.server.handler.Operate(ctx, request)
	s.setStream(op, execution.Stream)
	for result, err := range execution.Results {
		if err != nil {
			return final(ctx, err)
		}
		if err := s.send(op, func(dst []byte) []byte {
			return appendNext(dst, op.quoted,
				result)
		}); err != nil {
			return err
		}
	}
	if execution.Stream && ctx.Err() != nil {
		return errGone // no complete message: the client resumes the stream, or has completed it
	}
	return nil
}

// final returns the error with which results ended. An error after cancellation is not reported,
// unless it is a Refusal or a Close.
func final(ctx context.Context, err error) error {
	var refusal *Refusal
	var closing *Close
	if ctx.Err() != nil && !errors.As(err, &refusal) && !errors.As(err, &closing) {
		return errGone
	}
	return err
}

// sendErrors ends an operation with an error message.
func (s *socket) sendErrors(op *operation, errors []byte) error {
	return s.sendLast(op, func(dst []byte) []byte { return appendError(dst, op.quoted, errors) })
}

// sendLast writes the last message of an operation, unless the client has completed it. It frees the id
// before the write, so that a client can use it again as soon as it has read the message.
func (s *socket) sendLast(op *operation, fill func(dst []byte) []byte) error {
	if !s.lock() {
		return errGone
	}
	defer s.unlock()
	if !s.forget(op) {
		return nil
	}
	return s.writeMessage(fill)
}

// complete handles a complete message. It waits for a message that is being written, so that no
// message of the operation follows. An unknown id is ignored, because the operation may have ended.
func (s *socket) complete(id string) error {
	if !s.lock() {
		return errGone
	}
	defer s.unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if op := s.live[id]; op != nil {
		delete(s.live, id)
		if op.cancel != nil {
			op.cancel(errGone)
		}
	}
	return nil
}

// forget frees the id of an operation and reports whether the operation had it.
func (s *socket) forget(op *operation) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live[op.id] != op {
		return false
	}
	delete(s.live, op.id)
	return true
}

// isLive reports whether the operation is running and not completed.
func (s *socket) isLive(op *operation) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.live[op.id] == op
}

// setStream records whether an operation is a stream. It cancels a stream if the server is shutting
// down.
func (s *socket) setStream(op *operation, stream bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	op.stream = stream
	if stream && s.closing {
		op.cancel(ErrGoingAway)
	}
}

// operationEnded records that an operation has ended.
func (s *socket) operationEnded() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy--
	if s.busy == 0 && s.idle != nil {
		close(s.idle)
		s.idle = nil
	}
}

// closeGracefully closes the socket for a shutdown of the server, as described in the package
// documentation.
func (s *socket) closeGracefully(grace time.Duration) {
	if !s.hold() {
		return
	}
	defer s.release()
	if idle := s.beginClose(); idle != nil {
		timer := time.NewTimer(grace)
		defer timer.Stop()
		select {
		case <-idle:
		case <-timer.C:
		case <-s.life.Done():
		}
	}
	s.end(GoingAway, "Going away")
}

// beginClose rejects new operations and cancels streams. It returns a channel that is closed when all
// operations have ended, or nil if there are none.
func (s *socket) beginClose() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closing = true
	for _, op := range s.live {
		if op.stream {
			op.cancel(ErrGoingAway)
		}
	}
	if s.busy > 0 && s.idle == nil {
		s.idle = make(chan struct{})
	}
	return s.idle
}

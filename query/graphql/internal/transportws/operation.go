package transportws

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/query/graphql/internal/gqlerror"
	"github.com/stoa-go/stoa/resource/problem"
)

// operation is one that a client has begun. While it is live its id is taken.
type operation struct {
	id      string
	quoted  []byte // the id in JSON
	cancel  context.CancelCauseFunc
	request []byte // until it is executed
	stream  bool
}

// subscribe begins an operation.
func (s *socket) subscribe(m *message) error {
	op := &operation{id: m.id, request: bytes.Clone(m.payload)}
	op.quoted, _ = jsontext.AppendQuote(nil, m.id) // it is UTF-8, or there would be no message
	if err := s.begin(op); err != errTooMany {
		return err
	}
	e := gqlerror.Of(problem.New(problem.TooManyRequests, "There are too many operations on this socket."))
	return s.refuse(op, gqlerror.List(nil, []*gqlerror.Error{e}))
}

// errTooMany says that a socket has as many operations as it may have.
var errTooMany = errors.New("socket: too many operations")

// begin runs an operation if it may. One that is too many has its id until it is refused.
func (s *socket) begin(op *operation) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.state != acknowledged:
		return &Close{Unauthorized, "Unauthorized"}
	case s.live[op.id] != nil:
		return inUse(op.id)
	case s.leave || s.ended:
		return nil // the client begins it again elsewhere
	}
	if s.live == nil {
		s.live = make(map[string]*operation, 1)
	}
	s.live[op.id] = op
	// Those that were completed count until they have ended, or a client could begin more and more that take their time.
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

// inUse says that an id is taken, with as much of it as there is room for.
func inUse(id string) error {
	const before, after = "Subscriber for ", " already exists"
	return &Close{IDInUse, before + cut(id, maxReason-len(before)-len(after)) + after}
}

// run executes an operation until it is at its end, or nobody wants it any more.
func (s *socket) run(ctx context.Context, op *operation) {
	defer s.release()
	defer s.rest()
	defer op.cancel(errGone)
	s.conclude(op, s.safely(func() error { return s.execute(ctx, op) }))
}

// conclude tells the client how an operation has ended, unless it does not want to know.
func (s *socket) conclude(op *operation, err error) {
	var refusal *Refusal
	switch {
	case err == nil:
		err = s.last(op, func(dst []byte) []byte { return appendComplete(dst, op.quoted) })
	case errors.As(err, &refusal):
		err = s.refuse(op, refusal.Errors)
	case !s.isLive(op):
		return
	}
	if err != nil && err != errGone {
		s.fail(err)
	}
}

// execute writes the results.
func (s *socket) execute(ctx context.Context, op *operation) error {
	request := op.request
	op.request = nil
	does := s.server.handler.Operate(ctx, request)
	s.isStream(op, does.Stream)
	for result, err := range does.Results {
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
	if does.Stream && ctx.Err() != nil {
		return errGone // it is not complete: the client goes on elsewhere, or with something newer
	}
	return nil
}

// final is the error with which the results have ended. What comes of the end of the context is nobody's fault.
func final(ctx context.Context, err error) error {
	var refusal *Refusal
	var closing *Close
	if ctx.Err() != nil && !errors.As(err, &refusal) && !errors.As(err, &closing) {
		return errGone
	}
	return err
}

// refuse ends an operation with errors.
func (s *socket) refuse(op *operation, errors []byte) error {
	return s.last(op, func(dst []byte) []byte { return appendError(dst, op.quoted, errors) })
}

// last writes the last message of an operation, unless the client has completed it. Its id is free before that is
// written, so that a client which takes it again at once is in time.
func (s *socket) last(op *operation, fill func(dst []byte) []byte) error {
	if !s.lock() {
		return errGone
	}
	defer s.unlock()
	if !s.forget(op) {
		return nil
	}
	return s.writeMessage(fill)
}

// complete ends an operation as the client wants. It waits until what is being written is written, so that nothing of the
// operation follows. An id that is not known is that of one which has ended meanwhile.
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

// forget frees the id of an operation. It reports whether that was still taken by it.
func (s *socket) forget(op *operation) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live[op.id] != op {
		return false
	}
	delete(s.live, op.id)
	return true
}

func (s *socket) isLive(op *operation) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.live[op.id] == op
}

// isStream notes that an operation does not end by itself, and ends it if the server is about to.
func (s *socket) isStream(op *operation, stream bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	op.stream = stream
	if stream && s.leave {
		op.cancel(ErrGoingAway)
	}
}

// rest counts an operation as ended.
func (s *socket) rest() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy--
	if s.busy == 0 && s.quiet != nil {
		close(s.quiet)
		s.quiet = nil
	}
}

// leaveNow ends a socket as the server is about to end: see the package comment.
func (s *socket) leaveNow(grace time.Duration) {
	if !s.hold() {
		return
	}
	defer s.release()
	if quiet := s.leaving(); quiet != nil {
		timer := time.NewTimer(grace)
		defer timer.Stop()
		select {
		case <-quiet:
		case <-timer.C:
		case <-s.life.Done():
		}
	}
	s.end(GoingAway, "Going away")
}

// leaving lets no operation begin, and ends the streams. It returns what to wait for, nil for nothing.
func (s *socket) leaving() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leave = true
	for _, op := range s.live {
		if op.stream {
			op.cancel(ErrGoingAway)
		}
	}
	if s.busy > 0 && s.quiet == nil {
		s.quiet = make(chan struct{})
	}
	return s.quiet
}

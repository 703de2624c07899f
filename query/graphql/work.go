package graphql

import (
	"context"
	"errors"
	"net/http"

	"github.com/stoa-go/stoa/query/graphql/internal/exec"
	"github.com/stoa-go/stoa/query/graphql/internal/gqlerror"
	"github.com/stoa-go/stoa/resource/problem"
)

// work is what is executed for somebody, whatever way it came: one request, or all of a batch.
type work struct {
	h *Handler
	// of the request over HTTP; nil over a socket, where the requests have none of their own
	header http.Header
	// method and path are for the log, and the method says whether anything may be changed. Over a socket it is webSocket.
	method, path string

	// Of mutations: how many were done now, and how many of the answers were given before.
	fresh, replayed int
	reference       bool // one of the latter was not kept
}

// The kinds of operations that are not treated like all.
const (
	mutation     = "mutation"
	subscription = "subscription"
)

// outcome is what the status of an answer depends on.
type outcome uint8

const (
	done    outcome = iota // it has data, even null
	refused                // the request is well formed, and still was not executed
)

// plan finds out what a request asks for. The errors say why nothing is executed.
func (k *work) plan(q *request) (*exec.Plan, []*gqlerror.Error) {
	text, wrong := k.h.document(q)
	if wrong != nil {
		return nil, []*gqlerror.Error{wrong}
	}
	plan, errs := k.h.engine.Plan(text, q.operation)
	// Only what is valid is kept, or strangers could fill the memory with anything.
	if len(errs) == 0 && q.hash != "" && q.hasText && k.h.learned != nil {
		k.h.learned.keep(q.hash, text)
	}
	return plan, errs
}

// answer executes a request that has one answer, and appends that. An error means that there is none: what was appended is
// nothing to send, and what to say instead has its own status.
func (k *work) answer(ctx context.Context, q *request, dst []byte) ([]byte, outcome, error) {
	plan, errs := k.plan(q)
	if len(errs) > 0 {
		return gqlerror.Answer(dst, errs...), refused, nil
	}
	return k.run(ctx, plan, q, dst)
}

// run is answer for a request whose plan is known.
func (k *work) run(ctx context.Context, plan *exec.Plan, q *request, dst []byte) ([]byte, outcome, error) {
	switch {
	case plan.Kind == mutation && k.reads():
		return dst, refused, notAllowed(allowChange, "A mutation is sent with POST.")
	case plan.Kind == subscription: // which has many answers
		return gqlerror.Answer(dst, &gqlerror.Error{Code: gqlerror.BadUserInput,
			Message: "A subscription is answered over WebSocket, or here as text/event-stream: say so in " +
				"Accept."}), refused, nil
	}
	within := ctx
	if k.h.opts.Timeout > 0 {
		var cancel context.CancelFunc
		within, cancel = context.WithTimeout(ctx, k.h.opts.Timeout)
		defer cancel()
	}
	dst, how, err := k.execute(within, plan, q, dst)
	if err := ctx.Err(); errors.Is(err, context.Canceled) {
		return dst, refused, err // nobody is there any more
	}
	return dst, how, err
}

// reads reports whether a request came in a way in which nothing is to be changed.
func (k *work) reads() bool { return k.method == http.MethodGet || k.method == http.MethodHead }

// execute runs a plan. A mutation with a key is done once.
func (k *work) execute(ctx context.Context, plan *exec.Plan, q *request,
	dst []byte) ([]byte, outcome, error) {
	if plan.Kind == mutation {
		if k.h.once != nil {
			if key, err := k.key(q); err != nil {
				return dst, refused, err
			} else if key != "" {
				return k.answerOnce(ctx, plan, q, key, dst)
			}
		}
		k.fresh++
	}
	dst, how := k.h.engine.Run(ctx, plan, q.variables, dst)
	if how == exec.Refused {
		return dst, refused, nil
	}
	return dst, done, nil
}

// told appends what would have had a status of its own, if there were a status to have.
func (k *work) told(ctx context.Context, dst []byte, err error) []byte {
	return gqlerror.Answer(dst, k.fault(ctx, err))
}

// fault is what to tell a client of an error. What it is not told is logged.
func (k *work) fault(ctx context.Context, err error) *gqlerror.Error {
	var own *gqlerror.Error
	if errors.As(err, &own) {
		return own
	}
	e := gqlerror.Of(err)
	if e.Code == gqlerror.Internal && e.Problem != nil && e.Problem.Kind == problem.Internal {
		k.logError(ctx, e.Problem.Instance, err)
	}
	return e
}

// logError logs what the client is not told, with the id that it was.
func (k *work) logError(ctx context.Context, instance string, err error) {
	k.h.opts.Logger.ErrorContext(ctx, "stoa: internal error", "instance", instance, "method", k.method,
		"path", gqlerror.Cut(k.path), "error", gqlerror.Cut(err.Error()))
}

package graphql

import (
	"context"
	"errors"
	"iter"
	"net/http"

	"github.com/stoa-go/stoa/middleware"
	"github.com/stoa-go/stoa/query/graphql/internal/exec"
	"github.com/stoa-go/stoa/query/graphql/internal/gqlerror"
	"github.com/stoa-go/stoa/resource/problem"
)

// work is the part of an exchange that does not depend on the transport: the execution of a request
// or a batch.
type work struct {
	h *Handler
	// header of the HTTP request; nil over a WebSocket
	header http.Header
	// method and path are for the log. The method also decides whether mutations are allowed. Over
	// a WebSocket it is webSocket.
	method, path string
	request      *http.Request // for the route of observations; nil without HTTP and over a WebSocket

	// The number of mutations that were executed, and that of replayed ones.
	fresh, replayed int
	reference       bool // a replayed response was not stored
}

// The types of operations with special handling.
const (
	mutation     = "mutation"
	subscription = "subscription"
)

// outcome decides the status of a response.
type outcome uint8

const (
	done    outcome = iota // executed; data may be null
	refused                // not executed, although the request is well-formed
)

// plan returns the plan of a request, or request errors.
func (k *work) plan(ctx context.Context, q *parsedRequest) (*exec.Plan, []*gqlerror.Error) {
	text, wrong := k.h.document(q)
	if wrong != nil {
		k.observeRejected(ctx, q)
		return nil, []*gqlerror.Error{wrong}
	}
	plan, errs := k.h.engine.Plan(text, q.operation)
	if len(errs) > 0 {
		k.observeRejected(ctx, q)
	}
	// Only valid documents are stored, so that clients cannot fill the cache with arbitrary text.
	if len(errs) == 0 && q.hash != "" && q.hasText && k.h.persisted != nil {
		k.h.persisted.keep(q.hash, text)
	}
	return plan, errs
}

// answer executes a query or mutation and appends the response. An error has a status of its own;
// the appended bytes are then invalid.
func (k *work) answer(ctx context.Context, q *parsedRequest, dst []byte) ([]byte, outcome, error) {
	plan, errs := k.plan(ctx, q)
	if len(errs) > 0 {
		return gqlerror.Answer(dst, errs...), refused, nil
	}
	return k.run(ctx, plan, q, dst)
}

// run is answer for a request with a plan.
func (k *work) run(ctx context.Context, plan *exec.Plan, q *parsedRequest,
	dst []byte) ([]byte, outcome, error) {
	if ctx, rec := k.h.catalog.Record(ctx); rec != nil {
		return k.observed(ctx, rec, plan, q, dst)
	}
	return k.runOperation(ctx, plan, q, dst)
}

// subscriptionMessages starts a subscription after a cursor.
func (k *work) subscriptionMessages(ctx context.Context, plan *exec.Plan, q *parsedRequest, after string) (
	iter.Seq2[exec.Message, error], []*gqlerror.Error) {
	return k.h.engine.Subscribe(ctx, plan, q.variables, after)
}

// runOperation executes a query or mutation. It refuses operations that the transport does not support.
func (k *work) runOperation(ctx context.Context, plan *exec.Plan, q *parsedRequest,
	dst []byte) ([]byte, outcome, error) {
	switch {
	case plan.Kind == mutation && k.reads():
		return dst, refused, notAllowed(allowChange, "Mutations must be sent with POST.")
	case plan.Kind == subscription: // has many results
		return gqlerror.Answer(dst, &gqlerror.Error{Code: gqlerror.BadUserInput,
			Message: "Subscriptions need a WebSocket or Accept: text/event-stream."}), refused, nil
	}
	if plan.Kind == mutation && k.method == webSocket {
		if err := middleware.CheckSocket(ctx, http.MethodPost); err != nil {
			return dst, refused, err
		}
	}
	within := ctx
	if k.h.opts.Timeout > 0 {
		var cancel context.CancelFunc
		within, cancel = context.WithTimeout(ctx, k.h.opts.Timeout)
		defer cancel()
	}
	dst, how, err := k.runPlan(within, plan, q, dst)
	if err := ctx.Err(); errors.Is(err, context.Canceled) {
		return dst, refused, err // the client has disconnected
	}
	return dst, how, err
}

// reads reports whether the method does not allow mutations.
func (k *work) reads() bool { return k.method == http.MethodGet || k.method == http.MethodHead }

// runPlan runs a plan. A mutation with a key is executed once.
func (k *work) runPlan(ctx context.Context, plan *exec.Plan, q *parsedRequest,
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

// appendError appends a response with an error that has no status of its own in a batch.
func (k *work) appendError(ctx context.Context, dst []byte, err error) []byte {
	return gqlerror.Answer(dst, k.clientError(ctx, err))
}

// clientError returns the error for a client, and logs an internal error.
func (k *work) clientError(ctx context.Context, err error) *gqlerror.Error {
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

// logError logs an internal error with the id that the response contains.
func (k *work) logError(ctx context.Context, instance string, err error) {
	k.h.opts.Logger.ErrorContext(ctx, "stoa: internal error", "instance", instance, "method", k.method,
		"path", gqlerror.Truncate(k.path), "error", gqlerror.Truncate(err.Error()))
}

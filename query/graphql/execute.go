package graphql

// Operations without HTTP: tests, commands and consumers of queues call Execute and Subscribe. Both
// use the parser of request bodies, so the same limits apply.

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"runtime/debug"

	"github.com/stoa-go/stoa/query/graphql/internal/exec"
	"github.com/stoa-go/stoa/query/graphql/internal/gqlerror"
	"github.com/stoa-go/stoa/query/graphql/internal/transportws"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/problem"
)

// Execute executes a query or mutation without HTTP. All checks of a request over HTTP that do not
// concern the transport apply: [Limits], [Options].Timeout, [Options].Trusted, authorization with
// the values of ctx, and idempotency keys. The response is never nil; [Response.Err] returns its
// errors. A panic becomes an internal error, which is logged, but [http.ErrAbortHandler] remains one.
//
// If ctx is done, the errors match its error, such as [context.Canceled]. A mutation may have been
// executed then, in part or completely.
func (h *Handler) Execute(ctx context.Context, req Request) (res *Response) {
	k := &work{h: h, method: "Execute", path: req.OperationName}
	defer func() {
		switch v := recover(); v {
		case nil:
		case http.ErrAbortHandler:
			panic(v)
		default:
			res = &Response{Errors: errorsOf(k.panicError(ctx, v))}
		}
		if err := ctx.Err(); err != nil {
			for _, e := range res.Errors {
				e.cause = err
			}
		}
	}()
	plan, q, errs := k.prepare(ctx, &req)
	if errs != nil {
		return &Response{Errors: errs}
	}
	if plan.Kind == subscription {
		return &Response{Errors: errorsOf(&gqlerror.Error{Code: gqlerror.BadUserInput,
			Message: "The operation is a subscription. Call Subscribe."})}
	}
	buf := buffers.Get()
	defer buffers.Put(buf)
	var err error
	if *buf, _, err = k.run(ctx, plan, q, *buf); err != nil {
		if ctx.Err() != nil {
			err = errCanceled
		}
		return &Response{Errors: errorsOf(k.clientError(ctx, err))}
	}
	res = parseResponse(*buf)
	res.Replayed = k.replayed > 0
	return res
}

// errCanceled is the error of an operation that the caller has canceled.
var errCanceled error = &problem.Details{Kind: problem.Unavailable, Detail: "The operation was canceled."}

// Subscribe starts a subscription without HTTP. Each response is the message of a change. Its Cursor
// in [Request].After resumes the subscription after it. Without After the subscription starts at
// the time of the call.
//
// The sequence can be used once. It ends without an error when ctx is done. An error is the last
// element: [Errors] if the request is not valid, the authorization has expired, or the changes
// after the cursor have been purged (CURSOR_EXPIRED), and [feed.ErrClosed] after
// [Handler.Shutdown] or when the feed is closed. The catalog counts the sequence, while it is used,
// as a stream of its principal.
func (h *Handler) Subscribe(ctx context.Context, req Request) iter.Seq2[*Response, error] {
	k := &work{h: h, method: "Subscribe", path: req.OperationName}
	ending := h.sockets.Ending(ctx)
	ctx, cancel := context.WithCancelCause(ctx)
	messages, errs := k.messages(ctx, &req)
	if errs != nil {
		cancel(nil)
		return func(yield func(*Response, error) bool) { yield(nil, errs) }
	}
	return func(yield func(*Response, error) bool) {
		defer cancel(nil)
		defer context.AfterFunc(ending, func() { cancel(transportws.ErrGoingAway) })()
		leave, err := h.catalog.Stream(ctx)
		if err != nil {
			yield(nil, errorsOf(k.clientError(ctx, err)))
			return
		}
		defer leave()
		if k.yieldAll(messages, yield) && context.Cause(ctx) == transportws.ErrGoingAway {
			yield(nil, feed.ErrClosed)
		}
	}
}

// prepare returns the plan of a request, or request errors.
func (k *work) prepare(ctx context.Context, req *Request) (*exec.Plan, *parsedRequest, Errors) {
	q, err := k.h.parse(req)
	if err != nil {
		return nil, nil, errorsOf(k.clientError(ctx, err))
	}
	plan, errs := k.plan(ctx, q)
	if len(errs) > 0 {
		return nil, nil, errorsOf(errs...)
	}
	return plan, q, nil
}

// messages returns the messages of a subscription, or request errors.
func (k *work) messages(ctx context.Context, req *Request) (iter.Seq2[exec.Message, error], Errors) {
	plan, q, errs := k.prepare(ctx, req)
	switch {
	case errs != nil:
		return nil, errs
	case plan.Kind != subscription:
		return nil, errorsOf(&gqlerror.Error{Code: gqlerror.BadUserInput,
			Message: "The operation is not a subscription. Call Execute."})
	case q.keyed:
		return nil, errorsOf(k.clientError(ctx, badKey("stream",
			"the results of a subscription are not stored, so it cannot have a key")))
	}
	messages, bad := k.subscriptionMessages(ctx, plan, q, req.After)
	if len(bad) > 0 {
		return nil, errorsOf(bad...)
	}
	return k.observeStream(ctx, plan, q, messages), nil
}

// yieldAll yields the messages of a subscription except bookmarks. It reports whether they ended
// without an error before the caller stopped.
func (k *work) yieldAll(messages iter.Seq2[exec.Message, error], yield func(*Response, error) bool) bool {
	for m, err := range messages {
		if own := (*gqlerror.Error)(nil); errors.As(err, &own) {
			err = errorsOf(own)
		}
		if err != nil {
			yield(nil, err)
			return false
		}
		if m.JSON == nil {
			continue
		}
		res := parseResponse(m.JSON)
		res.Cursor = m.Cursor.String()
		if !yield(res, nil) {
			return false
		}
	}
	return true
}

// panicError logs a panic and returns the error for the client.
func (k *work) panicError(ctx context.Context, v any) *gqlerror.Error {
	err := fmt.Errorf("panic: %v", v)
	e := gqlerror.Of(err)
	k.h.opts.Logger.ErrorContext(ctx, "stoa: panic", "instance", e.Problem.Instance,
		"error", gqlerror.Truncate(err.Error()), "stack", string(debug.Stack()))
	return e
}

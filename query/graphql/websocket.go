package graphql

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"iter"
	"net/http"
	"time"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/middleware"
	"github.com/stoa-go/stoa/query/graphql/internal/exec"
	"github.com/stoa-go/stoa/query/graphql/internal/gqlerror"
	"github.com/stoa-go/stoa/query/graphql/internal/transportws"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/problem"
)

// Socket configures GraphQL over WebSocket. A duration or number that is zero or negative has its
// default.
type Socket struct {
	// None disables WebSockets.
	None bool

	// Connect authenticates a client by its connection_init message. payload is a JSON object, or
	// nil if absent. It serves browsers, which cannot set headers of a WebSocket. ctx has the
	// values of the upgrade request, including those of middleware. A nil Connect accepts all
	// clients.
	//
	// The result within is the context for all operations of the socket. It must be derived from
	// ctx; nil means ctx. The socket is closed with 4403 when within is canceled, at the time
	// until, or at the deadline that the context of the upgrade request had, so that the client
	// reconnects with a new token. A zero until means no expiry.
	//
	// If middleware.Authenticate requires a token of each request, and within has no principal of
	// package middleware, the socket is closed with 4401. If it requires one of requests that write,
	// mutations are rejected with UNAUTHENTICATED. See middleware.CheckSocket.
	//
	// An error closes the socket. If [resource.Problem] returns a status below 500 for it, such as
	// for resource.ErrUnauthenticated, the code is 4403 and the reason is its detail. Any other
	// error is logged, and the code is 4500.
	//
	// Connect may be called concurrently.
	Connect func(ctx context.Context, payload []byte) (within context.Context, until time.Time, err error)

	// Operations is the maximum number of concurrent operations of a socket. Default 100. Further
	// ones are rejected with RATE_LIMITED.
	Operations int
	// PerPrincipal is the maximum number of sockets of a principal. Default 100.
	// CatalogOptions.Principal of package resource returns the principal; sockets without one are
	// not limited. Set it higher if all clients share a principal.
	PerPrincipal int
	// Rate is the maximum number of messages per second of a client, and Burst the maximum number
	// at once. Defaults 100 and 300.
	Rate, Burst int

	// Wait is the maximum time until connection_init arrives. Default 3s.
	Wait time.Duration
	// Ping is the interval between pings. Default 30s.
	Ping time.Duration
	// Write is the maximum time in which a client must read a message. Default 10s.
	Write time.Duration
	// Grace is the time that a shutdown waits for queries and mutations. Default 5s.
	Grace time.Duration
}

// webSocket replaces the method in log messages about operations over a socket.
const webSocket = "WebSocket"

// newSockets returns the WebSocket server of h.
func newSockets(h *Handler) *transportws.Server {
	o := &h.opts.Socket
	return transportws.New(operator{h}, &transportws.Options{
		Origins: h.origins, Wait: o.Wait, Ping: o.Ping, Write: o.Write, Grace: o.Grace,
		Message:    int(h.opts.Limits.Body),
		Operations: o.Operations, Principal: h.catalog.Principal, Sockets: o.PerPrincipal, Rate: o.Rate,
		Burst: o.Burst, Logger: h.opts.Logger,
	})
}

// Shutdown closes all WebSockets and streams, rejects new ones, and waits until all sockets are
// closed. If ctx is done first, it drops the remaining connections and returns the cause of ctx.
//
// A shutdown of the [http.Server] closes its sockets without a call of Shutdown, which is only
// needed to wait for them. Queries and mutations complete. Clients of subscriptions reconnect and
// resume from their cursor.
func (h *Handler) Shutdown(ctx context.Context) error { return h.sockets.Shutdown(ctx) }

// untilKey is the context key of the deadline of an upgrade request.
type untilKey struct{}

// upgrade upgrades the connection to a WebSocket.
func (x *exchange) upgrade() {
	x.began = true // the WebSocket server writes the response
	if len(x.header[idempotency.KeyField]) > 0 {
		problem.Write(x.w, x.r, resource.Problem(badKey("upgrade",
			"send the key of each operation in extensions.idempotencyKey")))
		return
	}
	r := x.r.WithContext(context.WithValue(x.r.Context(), routeKey{}, x.h.route(x.r)))
	if until, ok := r.Context().Deadline(); ok { // the context of a socket has no deadline
		r = r.WithContext(context.WithValue(r.Context(), untilKey{}, until))
	}
	x.h.sockets.ServeHTTP(x.w, r)
}

// operator is the [transportws.Handler] of a Handler.
type operator struct{ h *Handler }

// Init calls Socket.Connect.
func (o operator) Init(ctx context.Context, payload []byte) (within context.Context, until time.Time,
	err error) {
	within = ctx
	if connect := o.h.opts.Socket.Connect; connect != nil {
		if within, until, err = connect(ctx, payload); err != nil {
			return nil, until, connectError(err, transportws.Forbidden)
		}
		within = cmp.Or(within, ctx)
	}
	if err := middleware.CheckSocket(within, http.MethodGet); err != nil {
		return nil, until, connectError(err, transportws.Unauthorized)
	}
	deadline, _ := ctx.Value(untilKey{}).(time.Time)
	return within, earliest(until, middleware.Expires(within), deadline), nil
}

// earliest returns the earliest of the times that are not zero, or zero.
func earliest(times ...time.Time) (first time.Time) {
	for _, t := range times {
		if first.IsZero() || !t.IsZero() && t.Before(first) {
			first = t
		}
	}
	return first
}

// connectError converts a client error to the reason with which the socket is closed.
func connectError(err error, code int) error {
	d := resource.Problem(err)
	if d.StatusCode() >= http.StatusInternalServerError {
		return err
	}
	reason := d.Detail
	if reason == "" {
		reason = d.Kind.Title()
	}
	return &transportws.Close{Code: code, Reason: reason}
}

// Operate executes a request.
func (o operator) Operate(ctx context.Context, content []byte) transportws.Operation {
	k := &work{h: o.h, method: webSocket}
	list, _, err := readRequests(content, &o.h.opts.Limits, 0)
	if err != nil {
		return declined(k.clientError(ctx, err))
	}
	plan, errs := k.plan(ctx, &list[0])
	switch {
	case len(errs) > 0:
		return declined(errs...)
	case plan.Kind == subscription && list[0].keyed:
		return declined(k.clientError(ctx, badKey("stream",
			"the results of a subscription are not stored, so it cannot have a key")))
	case plan.Kind == subscription:
		return k.listen(ctx, plan, &list[0])
	}
	return transportws.Operation{Results: k.result(ctx, plan, &list[0])}
}

// declined returns an operation that ends with errors.
func declined(errs ...*gqlerror.Error) transportws.Operation {
	return transportws.Operation{Results: func(yield func([]byte, error) bool) {
		yield(nil,
			refuse(errs...))
	}}
}

// refuse returns the error that ends an operation.
func refuse(errs ...*gqlerror.Error) error {
	return &transportws.Refusal{Errors: gqlerror.List(nil, errs)}
}

// result yields the response of a query or mutation.
func (k *work) result(ctx context.Context, plan *exec.Plan, q *parsedRequest) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		buf := buffers.Get()
		defer buffers.Put(buf)
		var how outcome
		var err error
		switch *buf, how, err = k.run(ctx, plan, q, *buf); {
		case err != nil && ctx.Err() == nil:
			err = refuse(k.clientError(ctx, err))
		case err == nil && how == refused: // the response contains errors only
			errs := (*buf)[len(errorsFirst) : len(*buf)-1]
			// a copy, because the error is written after the buffer is released
			err = &transportws.Refusal{Errors: bytes.Clone(errs)}
		}
		yield(*buf, err)
	}
}

// listen yields the messages of a subscription.
func (k *work) listen(ctx context.Context, plan *exec.Plan, q *parsedRequest) transportws.Operation {
	messages, errs := k.subscriptionMessages(ctx, plan, q, "")
	if len(errs) > 0 {
		return declined(errs...)
	}
	return transportws.Operation{Stream: true, Results: func(yield func([]byte, error) bool) {
		for m, err := range k.observeStream(ctx, plan, q, messages) {
			switch {
			case errors.Is(err, feed.ErrClosed):
				err = &transportws.Close{Code: transportws.GoingAway, Reason: "Going away"}
			case err != nil:
				err = refuse(k.clientError(ctx, err))
			case m.JSON == nil: // the protocol has no message for a bookmark
				continue
			}
			if !yield(m.JSON, err) || err != nil {
				return
			}
		}
	}}
}

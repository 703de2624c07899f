package graphql

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"net/http"
	"time"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/query/graphql/internal/exec"
	"github.com/stoa-go/stoa/query/graphql/internal/gqlerror"
	"github.com/stoa-go/stoa/query/graphql/internal/transportws"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/problem"
)

// Socket adjusts GraphQL over WebSocket. The zero value is meaningful. A time or number that is zero or below means its
// default, which is the one given here.
type Socket struct {
	// None answers requests that ask for a WebSocket as if they did not.
	None bool

	// Connect decides on the connection_init message of a client, whose payload is a JSON object, or nil if it has none: it is
	// where clients in browsers, which cannot add fields to the header of a WebSocket, have their credentials. What a
	// middleware has found out about the request that was upgraded is in ctx, and holds as long as Connect does not say
	// otherwise: nil lets everybody in.
	//
	// The context within, derived from ctx, is that of all operations of the socket; nil is ctx. At the time until, what the
	// client was allowed with expires, and the socket is closed with 4403, so that the client comes back with
	// something newer; zero is never. A deadline that ctx had when it was upgraded, set by whoever knows until when a token
	// holds, does the same, whichever is earlier; and so does the end of within, for who logs out before.
	//
	// An error closes the socket: with 4403 and its text for clients if it is one of [resource.Problem] below 500, such as
	// resource.ErrUnauthenticated; any other is logged, and the socket closed with 4500.
	//
	// It is called by many goroutines.
	Connect func(ctx context.Context, payload []byte) (within context.Context, until time.Time, err error)

	// Operations is how many a socket may have at a time; 100. One more is refused with RATE_LIMITED.
	Operations int
	// PerPrincipal is how many sockets one principal may have at a time; 100. It is the catalog that names principals
	// (CatalogOptions.Principal of package resource), and who has no name is not counted. A catalog for which everybody is the same
	// one needs more.
	PerPrincipal int
	// Rate is how many messages a second a client may send, and Burst how many at once; 100 and 300.
	Rate, Burst int

	// Wait is how long a socket may be open without a connection_init; 3 seconds.
	Wait time.Duration
	// Ping is how often a client is asked whether it is there; 30 seconds.
	Ping time.Duration
	// Write is how long a client may take for a message; 10 seconds.
	Write time.Duration
	// Grace is how long queries and mutations may take when the server is about to end; 5 seconds.
	Grace time.Duration
}

// webSocket stands for the method in what is logged about an operation over a socket.
const webSocket = "WebSocket"

// newSockets returns what has the sockets of the door.
func newSockets(h *Handler) *transportws.Server {
	o := &h.opts.Socket
	return transportws.New(operator{h}, &transportws.Options{
		Origins: h.origins, Wait: o.Wait, Ping: o.Ping, Write: o.Write, Grace: o.Grace,
		Message:    int(h.opts.Limits.Body),
		Operations: o.Operations, Principal: h.catalog.Principal, Sockets: o.PerPrincipal, Rate: o.Rate,
		Burst: o.Burst, Logger: h.opts.Logger,
	})
}

// Shutdown tells all clients of WebSockets and of streams that the server is about to end, lets no more of them in, and returns
// when no socket is left. If ctx ends before, it cuts those off that are, and returns its error.
//
// When an [http.Server] is shut down, clients that came over it are told without that; Shutdown waits for their sockets, of
// which the server knows nothing. Operations with one answer get it; clients of subscriptions connect again, elsewhere, and
// go on from the cursor that they have.
func (h *Handler) Shutdown(ctx context.Context) error { return h.sockets.Shutdown(ctx) }

// untilKey is that of the time until which what comes over a socket is allowed.
type untilKey struct{}

// upgrade makes a WebSocket of the connection.
func (x *exchange) upgrade() {
	x.began = true // what goes wrong is answered there
	if len(x.header[idempotency.KeyField]) > 0 {
		problem.Write(x.w, x.r, resource.Problem(badKey("upgrade",
			"over a WebSocket each operation has its own, in extensions.idempotencyKey")))
		return
	}
	r := x.r
	if until, ok := r.Context().Deadline(); ok { // which the context of a socket will not have
		r = r.WithContext(context.WithValue(r.Context(), untilKey{}, until))
	}
	x.h.sockets.ServeHTTP(x.w, r)
}

// operator executes what comes over sockets.
type operator struct{ h *Handler }

// Init asks Connect.
func (o operator) Init(ctx context.Context, payload []byte) (within context.Context, until time.Time,
	err error) {
	within = ctx
	if connect := o.h.opts.Socket.Connect; connect != nil {
		if within, until, err = connect(ctx, payload); err != nil {
			return nil, until, unwelcome(err)
		}
	}
	if last, ok := ctx.Value(untilKey{}).(time.Time); ok && (until.IsZero() || last.Before(until)) {
		until = last
	}
	return within, until, nil
}

// unwelcome makes of an error why the socket is closed, if that is for the client to know.
func unwelcome(err error) error {
	d := resource.Problem(err)
	if d.StatusCode() >= http.StatusInternalServerError {
		return err
	}
	reason := d.Detail
	if reason == "" {
		reason = d.Kind.Title()
	}
	return &transportws.Close{Code: transportws.Forbidden, Reason: reason}
}

// Operate executes a request.
func (o operator) Operate(ctx context.Context, content []byte) transportws.Operation {
	k := &work{h: o.h, method: webSocket}
	list, _, err := readRequests(content, &o.h.opts.Limits, 0)
	if err != nil {
		return declined(k.fault(ctx, err))
	}
	plan, errs := k.plan(&list[0])
	switch {
	case len(errs) > 0:
		return declined(errs...)
	case plan.Kind == subscription && list[0].keyed:
		return declined(k.fault(ctx, badKey("stream",
			"the results of a subscription are not kept, so that no key can bring them back")))
	case plan.Kind == subscription:
		return k.listen(ctx, plan, &list[0])
	}
	return transportws.Operation{Results: k.result(ctx, plan, &list[0])}
}

// declined is an operation that is not executed.
func declined(errs ...*gqlerror.Error) transportws.Operation {
	return transportws.Operation{Results: func(yield func([]byte, error) bool) {
		yield(nil,
			refuse(errs...))
	}}
}

func refuse(errs ...*gqlerror.Error) error {
	return &transportws.Refusal{Errors: gqlerror.List(nil, errs)}
}

// result yields the only one of a query or mutation.
func (k *work) result(ctx context.Context, plan *exec.Plan, q *request) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		buf := buffers.Get()
		defer buffers.Put(buf)
		var how outcome
		var err error
		switch *buf, how, err = k.run(ctx, plan, q, *buf); {
		case err != nil && ctx.Err() == nil:
			err = refuse(k.fault(ctx, err))
		case err == nil && how == refused: // the answer has nothing but errors
			errs := (*buf)[len(errorsFirst) : len(*buf)-1]
			// which is sent when the buffer is somebody else's
			err = &transportws.Refusal{Errors: bytes.Clone(errs)}
		}
		yield(*buf, err)
	}
}

// listen yields the results of a subscription.
func (k *work) listen(ctx context.Context, plan *exec.Plan, q *request) transportws.Operation {
	messages, errs := k.h.engine.Subscribe(ctx, plan, q.variables, "")
	if len(errs) > 0 {
		return declined(errs...)
	}
	return transportws.Operation{Stream: true, Results: func(yield func([]byte, error) bool) {
		for m, err := range messages {
			switch {
			case errors.Is(err, feed.ErrClosed):
				err = &transportws.Close{Code: transportws.GoingAway, Reason: "Going away"}
			case err != nil:
				err = refuse(k.fault(ctx, err))
			case m.JSON == nil: // a bookmark, for which the protocol has no message
				continue
			}
			if !yield(m.JSON, err) || err != nil {
				return
			}
		}
	}}
}

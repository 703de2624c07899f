package graphql

// Observations of operations: one for each query, mutation and subscription, over every transport.
// work.go calls it if the catalog has CatalogOptions.Observe.

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"strings"

	"github.com/stoa-go/stoa/query/graphql/internal/exec"
	"github.com/stoa-go/stoa/query/graphql/internal/gqlerror"
	"github.com/stoa-go/stoa/resource/observe"
)

// observation returns the part of an observation that does not depend on the result.
func (k *work) observation(ctx context.Context) observe.Observation {
	o := observe.Observation{Protocol: "graphql", Method: k.method, Status: http.StatusOK}
	if k.request != nil {
		o.Route = k.h.route(k.request)
	} else if k.method == webSocket {
		o.Route, _ = ctx.Value(routeKey{}).(string)
	}
	return o
}

// routeKey is the context key of the route of a WebSocket, a string.
type routeKey struct{}

// route returns the path of the handler: the pattern of the mux or, if it does not name the path, /graphql
// below the mount. It is never the path of the request, because a handler below a prefix serves many.
func (h *Handler) route(r *http.Request) string {
	path := "/graphql"
	if i := strings.LastIndexByte(r.Pattern, '/'); i >= 0 && i+1 < len(r.Pattern) {
		if last := r.Pattern[i:]; !strings.ContainsAny(last, "{:*") {
			path = last
		}
	}
	return h.catalog.Route(r, path)
}

// observeRejected reports a request with a document that is not valid.
func (k *work) observeRejected(ctx context.Context, q *parsedRequest) {
	_, rec := k.h.catalog.Record(ctx)
	if rec == nil {
		return
	}
	o := k.observation(ctx)
	o.Name, o.Status = gqlerror.Truncate(q.operation), http.StatusBadRequest
	rec.Finish(ctx, o)
}

// observed is runOperation, with an observation.
func (k *work) observed(ctx context.Context, rec *observe.Recording, plan *exec.Plan, q *parsedRequest,
	dst []byte) (_ []byte, how outcome, err error) {
	start, replayed := len(dst), k.replayed
	o := k.observation(ctx)
	o.Operation, o.Name, o.Aborted = plan.Kind, gqlerror.Truncate(q.operation), true
	defer func() { // also after a panic
		o.Replayed = k.replayed > replayed
		rec.Finish(ctx, o)
	}()
	dst, how, err = k.runOperation(ctx, plan, q, dst)
	o.Aborted = false
	switch {
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		o.Status, o.Aborted = 0, true
	case err != nil:
		rec.SetStatus(gqlerror.Status(err))
	default:
		o.Bytes = int64(len(dst) - start)
		if how == refused {
			o.Status = http.StatusBadRequest
		}
	}
	return dst, how, err
}

// observeStream returns the messages of a subscription, and reports the observation at their end.
func (k *work) observeStream(ctx context.Context, plan *exec.Plan, q *parsedRequest,
	messages iter.Seq2[exec.Message, error]) iter.Seq2[exec.Message, error] {
	return func(yield func(exec.Message, error) bool) {
		_, rec := k.h.catalog.Record(ctx)
		if rec == nil {
			messages(yield)
			return
		}
		o := k.observation(ctx)
		o.Operation, o.Name = plan.Kind, gqlerror.Truncate(q.operation)
		defer func() { rec.Finish(ctx, o) }()
		for m, err := range messages {
			switch {
			case err != nil:
				rec.SetStatus(gqlerror.Status(err))
			case m.JSON != nil:
				rec.AddEvent(m.Time)
				o.Bytes += int64(len(m.JSON))
			}
			if !yield(m, err) {
				return
			}
		}
	}
}

// Package observe has what protocols report about each request, for metrics and traces.
//
// A program sets CatalogOptions.Observe of package resource, and receives an [Observation] at the end of each
// request of REST and operation of GraphQL. Protocols call Catalog.Record, and pass what they count to the
// [Recording].
package observe

// The counters of retries and waits are in package internal/tally.

import (
	"context"
	"sync"
	"time"

	"github.com/stoa-go/stoa/resource/internal/tally"
)

// Observation describes a request that has ended: a request of REST, or an operation of GraphQL. Every
// field except Name has few different values, so it can be a label of a metric.
type Observation struct {
	// Protocol is "rest" or "graphql". Other protocols set a name of their own.
	Protocol string
	// Method is the HTTP method. It is "WebSocket" for an operation over a WebSocket, and "Execute" or
	// "Subscribe" for one without HTTP. An unknown method is "OTHER".
	Method string
	// Route is the path pattern, such as "/api/orders/{id}" or "/t/{tenant}/orders/{id}"; see
	// Catalog.Route of package resource. It has no text that a client can choose. It is empty for a path
	// without a route, and for operations without HTTP.
	Route string
	// Resource is the name of the part of the catalog, such as "orders". It is empty for GraphQL and for
	// a path without a route.
	Resource string
	// Operation is what the request does: a resource.Op, "invoke" for a command, "batch", "watch" for an
	// event stream, or "options". In GraphQL it is "query", "mutation" or "subscription". It is empty if
	// the request was rejected before that was known.
	Operation string
	// Name is the name of the GraphQL operation. The client chooses it, so it suits traces, but not
	// metrics.
	Name string
	// Status is the HTTP status code, and 0 if no response was sent because the client had disconnected.
	// In GraphQL it is that of the first error, or 200.
	Status int
	// Aborted reports that the response was not sent completely.
	Aborted bool
	// Start is when the request began, and Duration how long it took. An event stream takes as long as
	// the client stays.
	Start    time.Time
	Duration time.Duration
	// Items is the number of items in the response, or of events of a stream. Related items of
	// ?expand= are not counted; those of GraphQL are.
	Items int
	// Bytes is the size of the response body as sent, after compression. In GraphQL it is that of the
	// result before compression.
	Bytes int64
	// Retries is how often a write or a transaction was repeated because of a conflict with another
	// writer.
	Retries int
	// Replayed reports that the request repeated an earlier one with the same idempotency key, and
	// received its response.
	Replayed bool
	// Lag is the longest time between the append of an event and its delivery in an event stream. For a
	// client that resumes, it includes the time for which the client was away.
	Lag time.Duration
	// PoolWait is how long transactions of the request have waited for a database connection. Package
	// sqltx measures it; with other stores it is 0.
	PoolWait time.Duration
}

// Recording collects the counters of one request until its end. Its methods are safe for concurrent use,
// except Finish, and a nil *Recording ignores them.
type Recording struct {
	tally   tally.Tally
	observe func(ctx context.Context, o Observation)
	start   time.Time

	mu     sync.Mutex
	status int
}

// Begin begins the observation of a request or an operation, which [Recording.Finish] passes to observe. The
// context is for all that belongs to the request. If observe is nil, Begin returns ctx and nil.
func Begin(
	ctx context.Context, observe func(ctx context.Context, o Observation),
) (context.Context, *Recording) {
	if observe == nil {
		return ctx, nil
	}
	r := &Recording{observe: observe, start: time.Now()}
	r.tally.Owner = r
	return tally.With(ctx, &r.tally), r
}

// From returns the recording of the request, and nil if it is not observed.
func From(ctx context.Context) *Recording {
	t := tally.From(ctx)
	if t == nil {
		return nil
	}
	r, _ := t.Owner.(*Recording)
	return r
}

// AddItems counts items of the response.
func (r *Recording) AddItems(n int) {
	if r != nil {
		r.tally.AddItems(n)
	}
}

// AddEvent counts an event of a stream that was appended to the log at this time. A zero time means
// that the time is not known.
func (r *Recording) AddEvent(appended time.Time) {
	if r == nil {
		return
	}
	r.tally.AddItems(1)
	if !appended.IsZero() {
		r.tally.SetLag(time.Since(appended))
	}
}

// SetStatus sets the status of an operation that has no status code of its own. The last call counts,
// because a transaction may run an operation again. 0 removes the status.
func (r *Recording) SetStatus(status int) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status = status
}

// Finish reports the observation to the function of [Begin]. It sets Start, Duration, Items, Retries, Lag
// and PoolWait of o. The status of [Recording.SetStatus] replaces that of o.
func (r *Recording) Finish(ctx context.Context, o Observation) {
	if r == nil {
		return
	}
	o.Start, o.Duration = r.start, time.Since(r.start)
	o.Items, o.Retries = r.tally.Items(), r.tally.Retries()
	o.Lag, o.PoolWait = r.tally.Lag(), r.tally.Waited()
	r.mu.Lock()
	if r.status != 0 {
		o.Status = r.status
	}
	r.mu.Unlock()
	r.observe(ctx, o)
}

package resource

// Observations: what protocols report about each request, for metrics and traces. Called by protocols.
// The counters of retries and waits are in package internal/tally.

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/stoa-go/stoa/resource/contract"
	"github.com/stoa-go/stoa/resource/internal/mount"
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
	// [Catalog.Route]. It has no text that a client can choose. It is empty for a path without a route,
	// and for operations without HTTP.
	Route string
	// Resource is the name of the part of the catalog, such as "orders". It is empty for GraphQL and for
	// a path without a route.
	Resource string
	// Operation is what the request does: an [Op], "invoke" for a command, "batch", "watch" for an event
	// stream, or "options". In GraphQL it is "query", "mutation" or "subscription". It is empty if the
	// request was rejected before that was known.
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

// Recording collects the counters of one request until its end. Protocols use it; see
// [Catalog.Record]. Its methods are safe for concurrent use, except Finish, and a nil *Recording ignores
// them.
type Recording struct {
	tally   tally.Tally
	observe func(ctx context.Context, o Observation)
	start   time.Time

	mu     sync.Mutex
	status int
}

// Record begins the observation of a request or an operation. Protocols call it before anything else,
// pass the context to all methods of the catalog and of its resources, and call [Recording.Finish] once.
// Without CatalogOptions.Observe it returns ctx and nil.
func (c *Catalog) Record(ctx context.Context) (context.Context, *Recording) {
	if c.opts.Observe == nil {
		return ctx, nil
	}
	r := &Recording{observe: c.opts.Observe, start: time.Now()}
	r.tally.Owner = r
	return tally.With(ctx, &r.tally), r
}

// Route returns the route of an observation. path is the pattern below the mount, such as "/orders/{id}".
// The mount is CatalogOptions.ObserveMount, or what Request.Pattern has for the prefix that a router or
// [http.StripPrefix] has removed: r.Pattern is "/t/{tenant}/" or "/t/:tenant/*". If the pattern does not
// match the whole prefix, the route has no prefix. A version in the path precedes path: "/v1/orders/{id}".
func (c *Catalog) Route(r *http.Request, path string) string {
	marker, _, _ := strings.Cut(contract.From(r.Context()).URL(""), "?")
	path = marker + path
	if c.opts.ObserveMount != "" {
		return c.opts.ObserveMount + path
	}
	return mount.Route(r, marker, path)
}

// RecordingFrom returns the recording of the request, and nil if it is not observed.
func RecordingFrom(ctx context.Context) *Recording {
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

// SetError sets the status of an operation that has no status code of its own, by [Problem]. The last
// call counts, because a transaction may run an operation again. Nil removes the status.
func (r *Recording) SetError(err error) {
	if r == nil {
		return
	}
	status := 0
	if err != nil {
		status = Problem(err).StatusCode()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status = status
}

// Finish reports the observation to CatalogOptions.Observe. It sets Start, Duration, Items, Retries, Lag
// and PoolWait of o. The status of [Recording.SetError] replaces that of o.
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

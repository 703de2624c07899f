// Package otelobserver exports the observations of a catalog to OpenTelemetry, as traces and metrics.
//
//	observer, err := otelobserver.New(nil)
//	catalog := resource.NewCatalog(&resource.CatalogOptions{Observe: observer.Observe}, orders)
//	http.ListenAndServe(addr, otelhttp.NewHandler(mux, ""))
//
// A span of a middleware such as otelhttp gets the name "GET /api/orders/{id}" and the attribute
// http.route; see [observe.Observation]. Without such a middleware the package begins a span of its
// own. otelhttp renames its span after the response; [SpanName] keeps the name:
//
//	otelhttp.NewHandler(mux, "", otelhttp.WithSpanNameFormatter(otelobserver.SpanName))
//
// Names of attributes follow the semantic conventions of OpenTelemetry for HTTP and
// GraphQL; those that the conventions do not have begin with "stoa.".
package otelobserver

import (
	"context"
	"database/sql"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/stoa-go/stoa/resource/cache"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/observe"
)

const scope = "github.com/stoa-go/stoa/resource/otelobserver"

// Options configures [New]. The zero value is ready to use.
type Options struct {
	// Traces is the provider of spans. Default [otel.GetTracerProvider].
	Traces trace.TracerProvider
	// Metrics is the provider of metrics. Default [otel.GetMeterProvider].
	Metrics metric.MeterProvider
	// Feeds are the feeds with metrics of their own, by a name that becomes the attribute stoa.feed.
	Feeds map[string]*feed.Feed
	// Pools are the connection pools with metrics of their own, by a name that becomes the attribute
	// db.client.connection.pool.name.
	Pools map[string]*sql.DB
	// Caches are the values of CatalogOptions.Cache with metrics of their own, by a name that becomes the
	// attribute stoa.cache.
	Caches map[string]*cache.Cache
}

// Observer reports observations. It is safe for concurrent use.
type Observer struct {
	tracer   trace.Tracer
	duration metric.Float64Histogram
	lag      metric.Float64Histogram
	wait     metric.Float64Counter

	items, bytes, retries, replays metric.Int64Counter
	callback                       metric.Registration
}

// New returns an Observer. opts may be nil. The error is that of the provider of metrics, which rejects
// an instrument. Set the method Observe as CatalogOptions.Observe, and call Close on shutdown.
func New(opts *Options) (*Observer, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	if o.Traces == nil {
		o.Traces = otel.GetTracerProvider()
	}
	if o.Metrics == nil {
		o.Metrics = otel.GetMeterProvider()
	}
	meter := o.Metrics.Meter(scope)
	var errs [8]error
	out := &Observer{tracer: o.Traces.Tracer(scope)}
	out.duration, errs[0] = meter.Float64Histogram("stoa.request.duration", metric.WithUnit("s"),
		metric.WithDescription("Time of requests, without event streams."),
		metric.WithExplicitBucketBoundaries(.005, .01, .025, .05, .075, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10))
	out.lag, errs[1] = meter.Float64Histogram("stoa.stream.lag", metric.WithUnit("s"),
		metric.WithDescription("Longest delay of an event, for each event stream that has ended."))
	out.wait, errs[2] = meter.Float64Counter("stoa.pool.wait", metric.WithUnit("s"),
		metric.WithDescription("Time that transactions have waited for a database connection."))
	out.items, errs[3] = meter.Int64Counter("stoa.items", metric.WithUnit("{item}"),
		metric.WithDescription("Items in responses, and events in streams."))
	out.bytes, errs[4] = meter.Int64Counter("stoa.response.size", metric.WithUnit("By"),
		metric.WithDescription("Bytes of response bodies."))
	out.retries, errs[5] = meter.Int64Counter("stoa.conflict.retries", metric.WithUnit("{retry}"),
		metric.WithDescription("Writes and transactions that were repeated after a conflict."))
	out.replays, errs[6] = meter.Int64Counter("stoa.replays", metric.WithUnit("{request}"),
		metric.WithDescription("Requests with an idempotency key that received an earlier response."))
	out.callback, errs[7] = observeState(meter, &o)
	return out, errors.Join(errs[:]...)
}

// observeState registers the metrics of feeds and pools, which are read when they are exported.
func observeState(meter metric.Meter, o *Options) (metric.Registration, error) {
	var errs [6]error
	var subscribers, buffered, connections, waits metric.Int64Observable
	var age, waitTime metric.Float64Observable
	subscribers, errs[0] = meter.Int64ObservableUpDownCounter("stoa.feed.subscribers",
		metric.WithUnit("{subscriber}"), metric.WithDescription("Subscribers of a feed."))
	buffered, errs[1] = meter.Int64ObservableUpDownCounter("stoa.feed.buffer.events",
		metric.WithUnit("{event}"), metric.WithDescription("Events in the buffer of a feed."))
	age, errs[2] = meter.Float64ObservableGauge("stoa.feed.read.age", metric.WithUnit("s"),
		metric.WithDescription("Time since the log of a feed was last read successfully."))
	connections, errs[3] = meter.Int64ObservableUpDownCounter("db.client.connection.count",
		metric.WithUnit("{connection}"), metric.WithDescription("Connections of a pool, by state."))
	waits, errs[4] = meter.Int64ObservableCounter("stoa.pool.waits", metric.WithUnit("{wait}"),
		metric.WithDescription("Calls that have waited for a connection of a pool."))
	waitTime, errs[5] = meter.Float64ObservableCounter("stoa.pool.wait.total", metric.WithUnit("s"),
		metric.WithDescription("Time that calls have waited for a connection of a pool."))
	var reads, cached, size metric.Int64Observable
	var cacheErrs [3]error
	reads, cacheErrs[0] = meter.Int64ObservableCounter("stoa.cache.reads", metric.WithUnit("{item}"),
		metric.WithDescription("Items that were needed, by whether a cache had them."))
	cached, cacheErrs[1] = meter.Int64ObservableUpDownCounter("stoa.cache.items", metric.WithUnit("{item}"),
		metric.WithDescription("Items and pages in a cache."))
	size, cacheErrs[2] = meter.Int64ObservableUpDownCounter("stoa.cache.size", metric.WithUnit("By"),
		metric.WithDescription("Memory of the items in a cache."))
	if err := errors.Join(append(errs[:], cacheErrs[:]...)...); err != nil {
		return nil, err
	}
	return meter.RegisterCallback(func(_ context.Context, out metric.Observer) error {
		for name, f := range o.Feeds {
			s, at := f.Stats(), metric.WithAttributes(attribute.String("stoa.feed", name))
			out.ObserveInt64(subscribers, int64(s.Subscribers), at)
			out.ObserveInt64(buffered, int64(s.BufferEvents), at)
			if !s.LastRead.IsZero() { // before the first subscriber the log is not read
				out.ObserveFloat64(age, time.Since(s.LastRead).Seconds(), at)
			}
		}
		for name, pool := range o.Pools {
			s, named := pool.Stats(), attribute.String("db.client.connection.pool.name", name)
			state := func(v string) metric.MeasurementOption {
				return metric.WithAttributes(named, attribute.String("db.client.connection.state", v))
			}
			out.ObserveInt64(connections, int64(s.InUse), state("used"))
			out.ObserveInt64(connections, int64(s.Idle), state("idle"))
			out.ObserveInt64(waits, s.WaitCount, metric.WithAttributes(named))
			out.ObserveFloat64(waitTime, s.WaitDuration.Seconds(), metric.WithAttributes(named))
		}
		for name, cache := range o.Caches {
			s, named := cache.Stats(), attribute.String("stoa.cache", name)
			hit := func(v bool) metric.MeasurementOption {
				return metric.WithAttributes(named, attribute.Bool("stoa.cache.hit", v))
			}
			out.ObserveInt64(reads, s.Hits, hit(true))
			out.ObserveInt64(reads, s.Misses, hit(false))
			out.ObserveInt64(cached, int64(s.Items), metric.WithAttributes(named))
			out.ObserveInt64(size, int64(s.Bytes), metric.WithAttributes(named))
		}
		return nil
	}, subscribers, buffered, age, connections, waits, waitTime, reads, cached, size)
}

// Close removes the metrics of feeds and pools. Call it before they are closed.
func (o *Observer) Close() error {
	if o == nil || o.callback == nil { // of New with an error
		return nil
	}
	return o.callback.Unregister()
}

// Observe reports an observation. Set it as CatalogOptions.Observe.
func (o *Observer) Observe(ctx context.Context, seen observe.Observation) {
	o.trace(ctx, &seen)
	set := []attribute.KeyValue{attribute.String("stoa.protocol", seen.Protocol),
		attribute.String("http.route", seen.Route), attribute.String("stoa.operation", seen.Operation)}
	at := metric.WithAttributes(set...)
	if isStream(&seen) && seen.Status < 400 {
		if seen.Items > 0 {
			o.lag.Record(ctx, seen.Lag.Seconds(), at)
		}
	} else { // a stream that failed, too
		o.duration.Record(ctx, seen.Duration.Seconds(), metric.WithAttributes(append(set,
			attribute.String("http.request.method", seen.Method),
			attribute.Int("http.response.status_code", seen.Status))...))
	}
	o.items.Add(ctx, int64(seen.Items), at)
	o.bytes.Add(ctx, seen.Bytes, at)
	if seen.Retries > 0 {
		o.retries.Add(ctx, int64(seen.Retries), at)
	}
	if seen.Replayed {
		o.replays.Add(ctx, 1, at)
	}
	if seen.PoolWait > 0 {
		o.wait.Add(ctx, seen.PoolWait.Seconds(), at)
	}
}

// isStream reports whether the observation is of an event stream. It takes as long as its client stays.
func isStream(seen *observe.Observation) bool {
	return seen.Operation == "watch" || seen.Operation == "subscription"
}

// trace names the span of the middleware, or records a span of its own. An operation of GraphQL has a
// span of its own in any case, because a request can have several.
func (o *Observer) trace(ctx context.Context, seen *observe.Observation) {
	name := strings.TrimSpace(seen.Method + " " + seen.Route)
	span := trace.SpanFromContext(ctx)
	if seen.Protocol != "graphql" && span.IsRecording() {
		span.SetName(name)
		span.SetAttributes(attributes(seen)...)
		return
	}
	if span.IsRecording() && seen.Route != "" && seen.Method != "WebSocket" {
		span.SetName(name)
		span.SetAttributes(attribute.String("http.route", seen.Route))
	}
	kind := trace.SpanKindServer
	if seen.Protocol == "graphql" {
		kind = trace.SpanKindInternal
		if name = seen.Operation; name == "" {
			name = "GraphQL operation"
		}
	}
	_, own := o.tracer.Start(ctx, name, trace.WithTimestamp(seen.Start), trace.WithSpanKind(kind),
		trace.WithAttributes(attributes(seen)...))
	if seen.Status >= 500 || seen.Aborted {
		own.SetStatus(codes.Error, "")
	}
	own.End(trace.WithTimestamp(seen.Start.Add(seen.Duration)))
}

// SpanName returns the name that an Observer has given to the span of the request. Otherwise it is the
// method and the pattern of the mux, such as "GET /health". An unknown method is "OTHER". SpanName is a
// formatter for otelhttp.WithSpanNameFormatter, which calls it before and after the request is served. The
// first parameter is ignored.
func SpanName(_ string, r *http.Request) string {
	span, ok := trace.SpanFromContext(r.Context()).(interface {
		Name() string
		Attributes() []attribute.KeyValue
	})
	named := func(kv attribute.KeyValue) bool { return kv.Key == "http.route" }
	if ok && slices.ContainsFunc(span.Attributes(), named) {
		return span.Name()
	}
	method := r.Method
	switch method {
	case "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "QUERY":
	default:
		method = "OTHER"
	}
	if i := strings.IndexByte(r.Pattern, '/'); i >= 0 { // a pattern may begin with a method and a host
		return method + " " + r.Pattern[i:]
	}
	return method
}

// attributes returns the attributes of a span.
func attributes(seen *observe.Observation) []attribute.KeyValue {
	set := []attribute.KeyValue{attribute.String("http.route", seen.Route),
		attribute.String("stoa.operation", seen.Operation), attribute.Int("stoa.items", seen.Items),
		attribute.Int("http.response.status_code", seen.Status)}
	if seen.Protocol == "graphql" {
		set = append(set, attribute.String("graphql.operation.type", seen.Operation),
			attribute.String("graphql.operation.name", seen.Name))
	} else {
		set = append(set, attribute.String("stoa.resource", seen.Resource))
	}
	if seen.Retries > 0 {
		set = append(set, attribute.Int("stoa.conflict.retries", seen.Retries))
	}
	if seen.Replayed {
		set = append(set, attribute.Bool("stoa.replayed", true))
	}
	if seen.PoolWait > 0 {
		set = append(set, attribute.Float64("stoa.pool.wait", seen.PoolWait.Seconds()))
	}
	return set
}

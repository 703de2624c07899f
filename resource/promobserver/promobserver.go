// Package promobserver exports the observations of a catalog as Prometheus metrics.
//
//	metrics := promobserver.New(nil)
//	prometheus.MustRegister(metrics)
//	catalog := resource.NewCatalog(&resource.CatalogOptions{Observe: metrics.Observe}, orders)
//	mux.Handle("/metrics", promhttp.Handler())
//
// The label route is the path pattern, such as /api/orders/{id}; see [observe.Observation]. No label has a
// value that a client can choose.
package promobserver

import (
	"context"
	"database/sql"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/stoa-go/stoa/resource/cache"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/observe"
)

// Options configures [New]. The zero value is ready to use.
type Options struct {
	// Namespace is the prefix of all names. Default "stoa".
	Namespace string
	// Buckets are the upper bounds of the histogram of durations, in seconds. Default
	// [prometheus.DefBuckets].
	Buckets []float64
	// Feeds are the feeds with metrics of their own, by a name that becomes the label feed.
	Feeds map[string]*feed.Feed
	// Pools are the connection pools with metrics of their own, by a name that becomes the label pool.
	Pools map[string]*sql.DB
	// Caches are the values of CatalogOptions.Cache with metrics of their own, by a name that becomes the
	// label cache.
	Caches map[string]*cache.Cache
}

// Metrics are the metrics of one or more catalogs. It implements [prometheus.Collector]. It is safe for
// concurrent use.
type Metrics struct {
	opts     Options
	duration *prometheus.HistogramVec
	counters [5]*prometheus.CounterVec
	lag      *prometheus.HistogramVec

	subscribers, buffered, bufferedBytes, age, failures     *prometheus.Desc
	open, inUse, idle, limit, waits, waitTime, closedByIdle *prometheus.Desc
	hits, misses, cached, cachedBytes                       *prometheus.Desc
}

var _ prometheus.Collector = (*Metrics)(nil)

// The counters of Metrics.
const (
	items = iota
	bytes
	retries
	replays
	poolWait
)

// requestLabels are the labels of requests.
var requestLabels = []string{"protocol", "method", "route", "operation", "status"}

// New returns metrics without values. opts may be nil. Register the result, and set its method Observe
// as CatalogOptions.Observe.
func New(opts *Options) *Metrics {
	m := &Metrics{}
	if opts != nil {
		m.opts = *opts
	}
	if m.opts.Namespace == "" {
		m.opts.Namespace = "stoa"
	}
	if m.opts.Buckets == nil {
		m.opts.Buckets = prometheus.DefBuckets
	}
	m.duration = prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: m.opts.Namespace,
		Name:    "request_duration_seconds",
		Help:    "Time from the start of a request to the end of its response, without event streams.",
		Buckets: m.opts.Buckets}, requestLabels)
	m.lag = prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: m.opts.Namespace,
		Name:    "stream_lag_seconds",
		Help:    "Longest delay between an event and its delivery, for each event stream that has ended.",
		Buckets: []float64{.001, .01, .1, 1, 10, 60, 600, 3600}}, []string{"protocol", "route"})
	for i, c := range []struct{ name, help string }{
		items:    {"items_total", "Items in responses, and events in streams."},
		bytes:    {"response_bytes_total", "Bytes of response bodies."},
		retries:  {"conflict_retries_total", "Writes and transactions that were repeated after a conflict."},
		replays:  {"replays_total", "Requests with an idempotency key that received an earlier response."},
		poolWait: {"transaction_wait_seconds_total", "Time that transactions have waited for a connection."},
	} {
		m.counters[i] = prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: m.opts.Namespace,
			Name: c.name, Help: c.help}, []string{"protocol", "route", "operation"})
	}
	m.setDescs()
	return m
}

// setDescs sets the descriptions of the metrics that are read when they are collected.
func (m *Metrics) setDescs() {
	of := func(label, name, help string) *prometheus.Desc {
		full := prometheus.BuildFQName(m.opts.Namespace, label, name)
		return prometheus.NewDesc(full, help, []string{label}, nil)
	}
	m.subscribers = of("feed", "subscribers", "Subscribers of a feed.")
	m.buffered = of("feed", "buffer_events", "Events in the buffer of a feed.")
	m.bufferedBytes = of("feed", "buffer_bytes", "Size of the buffer of a feed.")
	m.age = of("feed", "read_age_seconds", "Time since the log of a feed was last read successfully.")
	m.failures = of("feed", "read_failures", "Failed reads of the log since the last successful one.")
	m.open = of("pool", "open_connections", "Open connections of a pool.")
	m.inUse = of("pool", "used_connections", "Connections of a pool that are in use.")
	m.idle = of("pool", "idle_connections", "Connections of a pool that are idle.")
	m.limit = of("pool", "max_connections", "Limit of open connections of a pool; 0 if none.")
	m.waits = of("pool", "waits_total", "Calls that have waited for a connection of a pool.")
	m.waitTime = of("pool", "wait_seconds_total", "Time of waits for a connection of a pool.")
	m.closedByIdle = of("pool", "idle_closed_total", "Idle connections that a pool has closed.")
	m.hits = of("cache", "hits_total", "Items that a cache had when they were needed.")
	m.misses = of("cache", "misses_total", "Items that a cache did not have when they were needed.")
	m.cached = of("cache", "items", "Items and pages in a cache.")
	m.cachedBytes = of("cache", "bytes", "Memory of the items in a cache.")
}

// Observe records an observation. Set it as CatalogOptions.Observe.
func (m *Metrics) Observe(_ context.Context, o observe.Observation) {
	if isStream := o.Operation == "watch" || o.Operation == "subscription"; isStream && o.Status < 400 {
		if o.Items > 0 {
			m.lag.WithLabelValues(o.Protocol, o.Route).Observe(o.Lag.Seconds())
		}
	} else { // a stream that failed, too
		status := strconv.Itoa(o.Status)
		if o.Aborted {
			status = "aborted"
		}
		series := m.duration.WithLabelValues(o.Protocol, o.Method, o.Route, o.Operation, status)
		series.Observe(o.Duration.Seconds())
	}
	add := func(counter int, v float64) {
		if v > 0 {
			m.counters[counter].WithLabelValues(o.Protocol, o.Route, o.Operation).Add(v)
		}
	}
	add(items, float64(o.Items))
	add(bytes, float64(o.Bytes))
	add(retries, float64(o.Retries))
	add(poolWait, o.PoolWait.Seconds())
	if o.Replayed {
		add(replays, 1)
	}
}

// Describe implements [prometheus.Collector].
func (m *Metrics) Describe(ch chan<- *prometheus.Desc) {
	m.duration.Describe(ch)
	m.lag.Describe(ch)
	for _, c := range m.counters {
		c.Describe(ch)
	}
	for _, d := range []*prometheus.Desc{m.subscribers, m.buffered, m.bufferedBytes, m.age, m.failures,
		m.open, m.inUse, m.idle, m.limit, m.waits, m.waitTime, m.closedByIdle,
		m.hits, m.misses, m.cached, m.cachedBytes} {
		ch <- d
	}
}

// Collect implements [prometheus.Collector].
func (m *Metrics) Collect(ch chan<- prometheus.Metric) {
	m.duration.Collect(ch)
	m.lag.Collect(ch)
	for _, c := range m.counters {
		c.Collect(ch)
	}
	gauge := func(d *prometheus.Desc, v float64, name string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, name)
	}
	counter := func(d *prometheus.Desc, v float64, name string) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, v, name)
	}
	for name, f := range m.opts.Feeds {
		s := f.Stats()
		gauge(m.subscribers, float64(s.Subscribers), name)
		gauge(m.buffered, float64(s.BufferEvents), name)
		gauge(m.bufferedBytes, float64(s.BufferBytes), name)
		gauge(m.failures, float64(s.Failures), name)
		if !s.LastRead.IsZero() { // before the first subscriber the log is not read
			gauge(m.age, time.Since(s.LastRead).Seconds(), name)
		}
	}
	for name, pool := range m.opts.Pools {
		s := pool.Stats()
		gauge(m.open, float64(s.OpenConnections), name)
		gauge(m.inUse, float64(s.InUse), name)
		gauge(m.idle, float64(s.Idle), name)
		gauge(m.limit, float64(s.MaxOpenConnections), name)
		counter(m.waits, float64(s.WaitCount), name)
		counter(m.waitTime, s.WaitDuration.Seconds(), name)
		counter(m.closedByIdle, float64(s.MaxIdleClosed+s.MaxIdleTimeClosed), name)
	}
	for name, cache := range m.opts.Caches {
		s := cache.Stats()
		counter(m.hits, float64(s.Hits), name)
		counter(m.misses, float64(s.Misses), name)
		gauge(m.cached, float64(s.Items), name)
		gauge(m.cachedBytes, float64(s.Bytes), name)
	}
}

package promobserver_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/cache"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/observe"
	"github.com/stoa-go/stoa/resource/promobserver"
	"github.com/stoa-go/stoa/resource/rest"
)

type note struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// newNotes returns a handler of notes below the prefix /api, with metrics.
func newNotes(m *promobserver.Metrics, f *feed.Feed, kept *cache.Cache) http.Handler {
	catalog := resource.NewCatalog(&resource.CatalogOptions{Observe: m.Observe, Feed: f, Cache: kept},
		resource.New("notes", memory.New[note](nil), &resource.Options[note]{Public: true}))
	mux := http.NewServeMux()
	mux.Handle("/api/", http.StripPrefix("/api", rest.New(catalog, nil)))
	return mux
}

func TestMetrics(t *testing.T) {
	changes := feed.New(feed.NewMemory(nil), nil)
	defer changes.Close()
	pool := sql.OpenDB(unreachable{})
	defer pool.Close()
	kept := cache.New(1 << 20)
	m := promobserver.New(&promobserver.Options{Namespace: "api", Buckets: []float64{60},
		Feeds: map[string]*feed.Feed{"main": changes}, Pools: map[string]*sql.DB{"db": pool},
		Caches: map[string]*cache.Cache{"items": kept}})
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(m)
	h := newNotes(m, changes, kept)
	for _, request := range []struct{ method, path, body string }{
		{"POST", "/api/notes", `{"text":"a"}`},
		{"GET", "/api/notes/1", ""},
		{"GET", "/api/notes/2", ""},
		{"GET", "/api/notes", ""},
		{"GET", "/api/elsewhere", ""},
	} {
		r := httptest.NewRequestWithContext(t.Context(), request.method, request.path, strings.NewReader(request.body))
		r.Header.Set("Content-Type", "application/json")
		h.ServeHTTP(httptest.NewRecorder(), r)
	}
	m.Observe(t.Context(), observe.Observation{Protocol: "rest", Route: "/api/notes", Operation: "watch",
		Lag: 2 * time.Second, Items: 7})
	m.Observe(t.Context(), observe.Observation{Protocol: "graphql", Method: "POST", Route: "/graphql",
		Operation: "mutation", Retries: 3, Replayed: true, PoolWait: time.Second, Aborted: true})
	const want = `
# HELP api_items_total Items in responses, and events in streams.
# TYPE api_items_total counter
api_items_total{operation="create",protocol="rest",route="/api/notes"} 1
api_items_total{operation="list",protocol="rest",route="/api/notes"} 1
api_items_total{operation="watch",protocol="rest",route="/api/notes"} 7
# HELP api_conflict_retries_total Writes and transactions that were repeated after a conflict.
# TYPE api_conflict_retries_total counter
api_conflict_retries_total{operation="mutation",protocol="graphql",route="/graphql"} 3
# HELP api_transaction_wait_seconds_total Time that transactions have waited for a connection.
# TYPE api_transaction_wait_seconds_total counter
api_transaction_wait_seconds_total{operation="mutation",protocol="graphql",route="/graphql"} 1
# HELP api_replays_total Requests with an idempotency key that received an earlier response.
# TYPE api_replays_total counter
api_replays_total{operation="mutation",protocol="graphql",route="/graphql"} 1
# HELP api_feed_subscribers Subscribers of a feed.
# TYPE api_feed_subscribers gauge
api_feed_subscribers{feed="main"} 0
# HELP api_pool_open_connections Open connections of a pool.
# TYPE api_pool_open_connections gauge
api_pool_open_connections{pool="db"} 0
# HELP api_cache_misses_total Items that a cache did not have when they were needed.
# TYPE api_cache_misses_total counter
api_cache_misses_total{cache="items"} 1
# HELP api_cache_items Items and pages in a cache.
# TYPE api_cache_items gauge
api_cache_items{cache="items"} 1
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want), "api_items_total",
		"api_conflict_retries_total", "api_transaction_wait_seconds_total", "api_replays_total", "api_feed_subscribers",
		"api_pool_open_connections", "api_cache_misses_total", "api_cache_items"); err != nil {
		t.Error(err)
	}
	if problems, err := testutil.GatherAndLint(registry); err != nil || len(problems) > 0 {
		t.Errorf("lint: %v, %v", problems, err)
	}
	wantCounts := []string{ // ids of memory are not numbers
		`GET  1 404`,
		`GET /api/notes/{id} 2 404`,
		`GET /api/notes 1 200`,
		`POST /api/notes 1 201`,
		`POST /graphql 1 aborted`,
	}
	if diff := cmp.Diff(wantCounts, durations(t, registry)); diff != "" {
		t.Errorf("api_request_duration_seconds (-want +got):\n%s", diff)
	}
}

// durations returns a line "METHOD ROUTE COUNT STATUS" for each series of the histogram.
func durations(t *testing.T, g prometheus.Gatherer) (lines []string) {
	t.Helper()
	families, err := g.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != "api_request_duration_seconds" {
			continue
		}
		for _, metric := range f.GetMetric() {
			label := map[string]string{}
			for _, l := range metric.GetLabel() {
				label[l.GetName()] = l.GetValue()
			}
			lines = append(lines, fmt.Sprintf("%s %s %d %s", label["method"], label["route"],
				metric.GetHistogram().GetSampleCount(), label["status"]))
		}
	}
	return lines
}

// unreachable is a database without connections.
type unreachable struct{}

func (unreachable) Connect(context.Context) (driver.Conn, error) {
	return nil, errors.New("unreachable")
}
func (unreachable) Driver() driver.Driver { return nil }

func Example() {
	metrics := promobserver.New(nil)
	registry := prometheus.NewRegistry()
	registry.MustRegister(metrics)
	mux := http.NewServeMux()
	mux.Handle("/api/", newNotes(metrics, nil, nil))
	mux.Handle("/metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))

	mux.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/api/notes/7", nil))
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	for line := range strings.Lines(w.Body.String()) {
		if strings.HasPrefix(line, "stoa_request_duration_seconds_count") {
			fmt.Print(line)
		}
	}
	// Output:
	// stoa_request_duration_seconds_count{method="GET",operation="get",protocol="rest",route="/api/notes/{id}",status="404"} 1
}

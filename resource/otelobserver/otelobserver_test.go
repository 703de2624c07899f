package otelobserver_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/stoa-go/stoa/query/graphql"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/cache"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/observe"
	"github.com/stoa-go/stoa/resource/otelobserver"
	"github.com/stoa-go/stoa/resource/rest"
)

type note struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// newNotes returns a handler of notes below the prefix /api.
func newNotes(o *otelobserver.Observer) http.Handler {
	catalog := resource.NewCatalog(&resource.CatalogOptions{Observe: o.Observe},
		resource.New("notes", memory.New[note](nil), &resource.Options[note]{Public: true}))
	mux := http.NewServeMux()
	mux.Handle("/api/", http.StripPrefix("/api", rest.New(catalog, nil)))
	mux.Handle("/api/graphql", http.StripPrefix("/api", graphql.New(catalog, nil)))
	return mux
}

func TestSpans(t *testing.T) {
	t.Parallel()
	query := `{"query":"query Names { notes { nodes { id } } }"}`
	tests := []struct {
		name, method, path, body string
		outer                    bool // a middleware has begun a span
		want                     []string
	}{
		{"own span", "GET", "/api/notes/7", "", false, []string{"GET /api/notes/{id} route=/api/notes/{id} status=404"}},
		{"span of a middleware", "GET", "/api/notes/7", "", true,
			[]string{"GET /api/notes/{id} route=/api/notes/{id} status=404"}},
		{"no route", "GET", "/api/other/7", "", true, []string{"GET route= status=404"}},
		{"GraphQL", "POST", "/api/graphql", query, false, []string{"query route=/api/graphql status=200"}},
		{"GraphQL in the span of a middleware", "POST", "/api/graphql", query, true,
			[]string{"query route=/api/graphql status=200", "POST /api/graphql route=/api/graphql status="}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			exporter := tracetest.NewInMemoryExporter()
			provider := sdk.NewTracerProvider(sdk.WithSyncer(exporter))
			o, err := otelobserver.New(&otelobserver.Options{Traces: provider})
			if err != nil {
				t.Fatal(err)
			}
			ctx := t.Context()
			end := func() {}
			if tt.outer {
				within, span := provider.Tracer("test").Start(ctx, "middleware")
				ctx, end = within, func() { span.End() }
			}
			r := httptest.NewRequestWithContext(ctx, tt.method, tt.path, strings.NewReader(tt.body))
			r.Header.Set("Content-Type", "application/json")
			newNotes(o).ServeHTTP(httptest.NewRecorder(), r)
			end()
			var got []string
			for _, s := range exporter.GetSpans() {
				got = append(got, fmt.Sprintf("%s route=%s status=%s", s.Name, value(s.Attributes, "http.route"),
					value(s.Attributes, "http.response.status_code")))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("spans (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSpanName(t *testing.T) {
	t.Parallel()
	provider := sdk.NewTracerProvider()
	tests := []struct {
		name, method, pattern string
		attributes            []attribute.KeyValue
		want                  string
	}{
		{"before the mux", "GET", "", nil, "GET"},
		{"pattern of the mux", "GET", "GET /health", nil, "GET /health"},
		{"QUERY", "QUERY", "/notes", nil, "QUERY /notes"},
		{"unknown method", "FROB", "", nil, "OTHER"},
		{"unknown method and a pattern", "get", "/health", nil, "OTHER /health"},
		{"named by the observer", "GET", "/api/", []attribute.KeyValue{attribute.String("http.route", "/api/notes")}, "named"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ctx, span := provider.Tracer("test").Start(t.Context(), "named")
			defer span.End()
			span.SetAttributes(tt.attributes...)
			r := httptest.NewRequestWithContext(ctx, tt.method, "/", nil)
			r.Pattern = tt.pattern
			if got := otelobserver.SpanName("", r); got != tt.want {
				t.Errorf("SpanName = %q, want %q", got, tt.want)
			}
		})
	}
}

// value returns the text of an attribute, and "" if it is absent.
func value(set []attribute.KeyValue, key string) string {
	for _, kv := range set {
		if string(kv.Key) == key {
			return kv.Value.String()
		}
	}
	return ""
}

// Metrics have no attribute for each tenant or method that a client invents.
func TestMetricsAreBounded(t *testing.T) {
	t.Parallel()
	reader := metric.NewManualReader()
	o, err := otelobserver.New(&otelobserver.Options{Metrics: metric.NewMeterProvider(metric.WithReader(reader))})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		tenant := fmt.Sprint("/t/tenant", i)
		for _, method := range []string{"POST", fmt.Sprint("FROB", i)} {
			for _, path := range []string{"/api/graphql", "/api/notes"} {
				r := httptest.NewRequestWithContext(t.Context(), method, tenant+path,
					strings.NewReader(`{"query":"{ notes { nodes { id } } }"}`))
				r.Header.Set("Content-Type", "application/json")
				http.StripPrefix(tenant, newNotes(o)).ServeHTTP(httptest.NewRecorder(), r)
			}
		}
	}
	var exported metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &exported); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range exported.ScopeMetrics[0].Metrics {
		if d, ok := m.Data.(metricdata.Histogram[float64]); ok && m.Name == "stoa.request.duration" {
			for _, p := range d.DataPoints {
				set := p.Attributes.ToSlice()
				got = append(got, value(set, "http.request.method")+" "+value(set, "http.route"))
			}
		}
	}
	slices.Sort(got)
	want := []string{"OTHER ", "POST /api/graphql", "POST /notes"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("series (-want +got):\n%s", diff)
	}
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	reader := metric.NewManualReader()
	changes := feed.New(feed.NewMemory(nil), nil)
	defer changes.Close()
	o, err := otelobserver.New(&otelobserver.Options{Metrics: metric.NewMeterProvider(metric.WithReader(reader)),
		Feeds:  map[string]*feed.Feed{"main": changes},
		Caches: map[string]*cache.Cache{"items": cache.New(1000)}})
	if err != nil {
		t.Fatal(err)
	}
	newNotes(o).ServeHTTP(httptest.NewRecorder(),
		httptest.NewRequestWithContext(t.Context(), "GET", "/api/notes", nil))
	o.Observe(t.Context(), observe.Observation{Protocol: "rest", Route: "/api/notes", Operation: "patch",
		Retries: 2, Replayed: true, PoolWait: time.Second, Items: 1})
	o.Observe(t.Context(), observe.Observation{Protocol: "rest", Route: "/api/notes", Operation: "watch",
		Lag: time.Second, Items: 5})
	want := []string{
		"stoa.cache.items  0", "stoa.cache.reads  0", "stoa.cache.reads  0", "stoa.cache.size  0",
		"stoa.conflict.retries patch 2", "stoa.feed.buffer.events  0", "stoa.feed.subscribers  0",
		"stoa.items list 0", "stoa.items patch 1", "stoa.items watch 5", "stoa.pool.wait patch 1",
		"stoa.replays patch 1", "stoa.request.duration list 1", "stoa.request.duration patch 1",
		"stoa.response.size list 12", "stoa.response.size patch 0", "stoa.response.size watch 0",
		"stoa.stream.lag watch 1",
	}
	if diff := cmp.Diff(want, collect(t, reader)); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	for _, line := range collect(t, reader) {
		if strings.HasPrefix(line, "stoa.feed") {
			t.Errorf("after Close: %s", line)
		}
	}
}

// collect returns a line "NAME OPERATION VALUE" for each series; the value of a histogram is its count.
func collect(t *testing.T, reader metric.Reader) (lines []string) {
	t.Helper()
	var data metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &data); err != nil {
		t.Fatal(err)
	}
	add := func(name string, set attribute.Set, v any) {
		op, _ := set.Value("stoa.operation")
		lines = append(lines, fmt.Sprintf("%s %s %v", name, op.AsString(), v))
	}
	for _, s := range data.ScopeMetrics {
		for _, m := range s.Metrics {
			switch d := m.Data.(type) {
			case metricdata.Sum[int64]:
				for _, p := range d.DataPoints {
					add(m.Name, p.Attributes, p.Value)
				}
			case metricdata.Sum[float64]:
				for _, p := range d.DataPoints {
					add(m.Name, p.Attributes, p.Value)
				}
			case metricdata.Histogram[float64]:
				for _, p := range d.DataPoints {
					add(m.Name, p.Attributes, p.Count)
				}
			}
		}
	}
	slices.Sort(lines)
	return lines
}

func ExampleNew() {
	// A service exports spans with otlptracehttp, and shuts the provider down before it exits.
	exporter := tracetest.NewInMemoryExporter()
	observer, err := otelobserver.New(&otelobserver.Options{
		Traces: sdk.NewTracerProvider(sdk.WithSyncer(exporter))})
	if err != nil {
		panic(err)
	}
	r := httptest.NewRequestWithContext(context.Background(), "GET", "/api/notes/7", nil)
	newNotes(observer).ServeHTTP(httptest.NewRecorder(), r)
	fmt.Println(exporter.GetSpans()[0].Name)
	// Output: GET /api/notes/{id}
}

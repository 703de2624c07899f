package main

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/stoa-go/stoa/examples/internal/recipe"
)

func TestReadme(t *testing.T) {
	t.Parallel()
	recipe.Readme(t)
}

// QUERY is served below every router.
func TestQuery(t *testing.T) {
	t.Parallel()
	h, err := newHandler(sdk.NewTracerProvider())
	if err != nil {
		t.Fatal(err)
	}
	for _, router := range []string{"chi", "echo", "gin", "nethttp"} {
		r := httptest.NewRequestWithContext(t.Context(), "QUERY", "/"+router+"/notes", strings.NewReader("{}"))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != 200 || w.Body.String() != `{"items":[]}` {
			t.Errorf("%s: %d %s", router, w.Code, w.Body)
		}
	}
}

// The route pattern is in the metrics and in the traces, below every router.
func TestRoutePatterns(t *testing.T) {
	t.Parallel()
	exporter := tracetest.NewInMemoryExporter()
	h, err := newHandler(sdk.NewTracerProvider(sdk.WithSyncer(exporter)))
	if err != nil {
		t.Fatal(err)
	}
	var wantSpans, wantMetrics []string
	for _, router := range []string{"chi", "echo", "gin", "nethttp"} {
		h.ServeHTTP(httptest.NewRecorder(),
			httptest.NewRequestWithContext(t.Context(), "GET", "/"+router+"/notes/7", nil))
		route := "/" + router + "/notes/{id}"
		wantSpans = append(wantSpans, "GET "+route+" http.route="+route)
		wantMetrics = append(wantMetrics, fmt.Sprintf(`stoa_request_duration_seconds_count{method="GET",`+
			`operation="get",protocol="rest",route="%s",status="404"} 1`, route))
	}
	var spans []string
	for _, s := range exporter.GetSpans() {
		line := s.Name
		for _, kv := range s.Attributes {
			if kv.Key == "http.route" {
				line += " http.route=" + kv.Value.AsString()
			}
		}
		spans = append(spans, line)
	}
	if diff := cmp.Diff(wantSpans, spans); diff != "" {
		t.Errorf("spans (-want +got):\n%s", diff)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil))
	var metrics []string
	for line := range strings.Lines(w.Body.String()) {
		if strings.HasPrefix(line, "stoa_request_duration_seconds_count") {
			metrics = append(metrics, strings.TrimSpace(line))
		}
	}
	if diff := cmp.Diff(wantMetrics, metrics); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
}

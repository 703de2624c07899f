package main

import (
	"net/http"
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

// TestSpans sends requests and checks the exported spans: their names, their parents, and that all
// of them belong to the trace of the client.
func TestSpans(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, method, target, body string
		status                     int
		want                       []string // outermost first
	}{
		{"list", "GET", "/notes", "", 200, []string{"GET /notes", "notes.List"}},
		{"create", "POST", "/notes", `{"text":"buy oil"}`, 201, []string{"POST /notes", "notes.Create"}},
		{"absent", "GET", "/notes/7", "", 404, []string{"GET /notes/{id}", "notes.Get"}},
		{"another absent", "DELETE", "/notes/8", "", 404, []string{"DELETE /notes/{id}", "notes.Get"}},
		{"no such method", "PUT", "/notes", "", 405, []string{"PUT /notes"}},
		{"a pattern of the mux", "GET", "/health", "", 200, []string{"GET /health"}},
		{"nothing", "GET", "/nothing/at/all", "", 404, []string{"GET /"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			exporter := tracetest.NewInMemoryExporter()
			h := newHandler(sdk.NewTracerProvider(sdk.WithSyncer(exporter)))
			r := httptest.NewRequestWithContext(t.Context(), tt.method, tt.target, strings.NewReader(tt.body))
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != tt.status {
				t.Errorf("status %d, want %d: %s", w.Code, tt.status, w.Body)
			}
			if diff := cmp.Diff(tt.want, names(t, exporter.GetSpans())); diff != "" {
				t.Errorf("spans (-want +got):\n%s", diff)
			}
			if got := w.Header().Get("Trace-Id"); got != "0af7651916cd43dd8448eb211c80319c" {
				t.Errorf("the trace is %q", got)
			}
		})
	}
}

// names returns the names of nested spans, the outermost first. Spans end in the opposite order.
func names(t *testing.T, spans tracetest.SpanStubs) (names []string) {
	t.Helper()
	const client = "b7ad6b7169203331"
	for i, s := range spans {
		names = append([]string{s.Name}, names...)
		parent := client
		if i < len(spans)-1 {
			parent = spans[len(spans)-1].SpanContext.SpanID().String()
		}
		if got := s.Parent.SpanID().String(); got != parent {
			t.Errorf("parent of %s is %s, want %s", s.Name, got, parent)
		}
		if got := s.SpanContext.TraceID().String(); got != "0af7651916cd43dd8448eb211c80319c" {
			t.Errorf("%s is of the trace %s", s.Name, got)
		}
	}
	return names
}

// The span of a request has the route without ids, and the status code.
func TestSpanAttributes(t *testing.T) {
	t.Parallel()
	exporter := tracetest.NewInMemoryExporter()
	h := newHandler(sdk.NewTracerProvider(sdk.WithSyncer(exporter)))
	h.ServeHTTP(httptest.NewRecorder(),
		httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/notes/7", nil))
	spans := exporter.GetSpans()
	got := map[string]string{}
	for _, kv := range spans[len(spans)-1].Attributes {
		got[string(kv.Key)] = kv.Value.String()
	}
	for key, want := range map[string]string{"http.response.status_code": "404", "http.request.method": "GET", "http.route": "/notes/{id}"} {
		if got[key] != want {
			t.Errorf("%s is %q, want %q: %v", key, got[key], want, got)
		}
	}
}

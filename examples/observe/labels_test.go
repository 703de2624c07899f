package main

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/go-chi/chi/v5"
	"github.com/google/go-cmp/cmp"
	"github.com/labstack/echo/v5"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/stoa-go/stoa/query/graphql"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/observe"
	"github.com/stoa-go/stoa/resource/otelobserver"
	"github.com/stoa-go/stoa/resource/promobserver"
	"github.com/stoa-go/stoa/resource/rest"
)

// invented is the number of tenants, and of methods, that a client invents for each router.
var invented = flag.Int("invented", 200, "number of invented tenants and methods for each router")

// stripTenant removes /t/ and the name of a tenant from the path.
func stripTenant(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		tenant, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/t/"), "/")
		http.StripPrefix("/t/"+tenant, next).ServeHTTP(w, r)
	})
}

// TestLabelsAreBounded invents tenants and methods, and states all label sets of the metrics and all names
// of spans: their number does not depend on the requests.
func TestLabelsAreBounded(t *testing.T) {
	t.Parallel()
	gin.SetMode(gin.ReleaseMode)
	withMux := func(api, _ http.Handler) http.Handler {
		mux := http.NewServeMux()
		mux.Handle("/t/{tenant}/", stripTenant(api))
		return mux
	}
	// The pattern of gin is not in the request.
	below := func(api, _ http.Handler) http.Handler {
		r := gin.New()
		r.Any("/t/:tenant/*path", gin.WrapH(stripTenant(api)))
		return r
	}
	tests := []struct {
		name, mount string
		router      func(api, graphql http.Handler) http.Handler
		rest, gql   string // the routes
		other       string // the pattern, if the router passes an invented method to the catalog
	}{
		{"net/http", "", withMux, "/t/{tenant}/notes", "/t/{tenant}/graphql", "/t/{tenant}/"},
		{"net/http, a mux below the mount", "", func(api, gql http.Handler) http.Handler {
			inner := http.NewServeMux()
			inner.Handle("/", api)
			inner.Handle("/graphql", gql)
			return withMux(inner, nil)
		}, "/notes", "/graphql", "/t/{tenant}/"},
		{"chi", "", func(api, _ http.Handler) http.Handler {
			r := chi.NewRouter()
			r.Mount("/t/{tenant}", stripTenant(api))
			return r
		}, "/t/{tenant}/notes", "/t/{tenant}/graphql", ""},
		{"gin", "", below, "/notes", "/graphql", ""},
		{"gin with ObserveMount", "/t/{tenant}", below, "/t/{tenant}/notes", "/t/{tenant}/graphql", ""},
		{"echo", "", func(api, _ http.Handler) http.Handler {
			e := echo.New()
			e.Any("/t/:tenant/*", echo.WrapHandler(stripTenant(api)))
			return e
		}, "/t/{tenant}/notes", "/t/{tenant}/graphql", "/t/:tenant/*"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			exporter := tracetest.NewInMemoryExporter()
			provider := sdk.NewTracerProvider(sdk.WithSyncer(exporter))
			metrics, registry := promobserver.New(nil), prometheus.NewRegistry()
			registry.MustRegister(metrics)
			spans, err := otelobserver.New(&otelobserver.Options{Traces: provider})
			if err != nil {
				t.Fatal(err)
			}
			catalog := resource.NewCatalog(&resource.CatalogOptions{ObserveMount: tt.mount,
				Observe: func(ctx context.Context, o observe.Observation) {
					metrics.Observe(ctx, o)
					spans.Observe(ctx, o)
				},
			}, resource.New("notes", memory.New[Note](nil), &resource.Options[Note]{Public: true}))
			restHandler, gql := rest.New(catalog, nil), graphql.New(catalog, nil)
			api := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/graphql" {
					gql.ServeHTTP(w, r)
					return
				}
				restHandler.ServeHTTP(w, r)
			})
			h := otelhttp.NewHandler(tt.router(api, gql), "", otelhttp.WithTracerProvider(provider),
				otelhttp.WithSpanNameFormatter(otelobserver.SpanName))
			names, series := map[string]int{}, map[string]bool{}
			for i := range *invented {
				for _, request := range []struct{ method, path, body string }{
					{"GET", "/notes", ""}, {"POST", "/graphql", `{"query":"{ notes { nodes { id } } }"}`},
					{fmt.Sprint("FROB", i), "/notes", ""}, {fmt.Sprint("FROB", i), "/graphql", ""},
				} {
					r := httptest.NewRequestWithContext(t.Context(), request.method,
						fmt.Sprint("/t/tenant", i, request.path), strings.NewReader(request.body))
					r.Header.Set("Content-Type", "application/json")
					h.ServeHTTP(httptest.NewRecorder(), r)
				}
				for _, s := range exporter.GetSpans() {
					names[s.Name]++
				}
				exporter.Reset()
			}
			want := map[string]int{"GET " + tt.rest: *invented, "POST " + tt.gql: *invented, "query": *invented,
				"OTHER": 2 * *invented}
			// REST observes an invented method, without a route, and GraphQL does not.
			if tt.other != "" {
				want["OTHER"], want["OTHER "+tt.other] = *invented, *invented
			}
			if diff := cmp.Diff(want, names); diff != "" {
				t.Errorf("spans by name (-want +got):\n%s", diff)
			}
			families, err := registry.Gather()
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range families {
				for _, m := range f.GetMetric() {
					if f.GetName() == "stoa_request_duration_seconds" {
						l := m.GetLabel() // method, operation, protocol, route, status
						series[l[0].GetValue()+" "+l[3].GetValue()+" "+l[4].GetValue()] = true
					}
				}
			}
			wantSeries := map[string]bool{"GET " + tt.rest + " 200": true, "POST " + tt.gql + " 200": true}
			if tt.other != "" {
				wantSeries["OTHER  501"] = true
			}
			if diff := cmp.Diff(wantSeries, series); diff != "" {
				t.Errorf("series of the duration (-want +got):\n%s", diff)
			}
			t.Logf("%d requests: %d names of spans, %d series", 4**invented, len(names), len(series))
		})
	}
}

// Command otel serves notes and tells OpenTelemetry what it does: a span for each request, named by its route, and one below
// for each call of the store.
//
//	go run -C examples ./otel
//	curl -i localhost:8080/notes -H 'Content-Type: application/json' -d '{"text":"buy oil"}'
//
// Spans go to standard error; whoever has a collector gives another exporter.
package main

import (
	"log"
	"net/http"
	"os"
	"strings"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/stdout/stdouttrace"
	"go.opentelemetry.io/otel/propagation"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/stoa-go/stoa/middleware"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/rest"
)

// Note is what is served.
type Note struct {
	ID   string `json:"id"`
	Text string `json:"text" required:"true" maxLength:"500"`
}

func main() {
	exporter, err := stdouttrace.New(stdouttrace.WithWriter(os.Stderr), stdouttrace.WithPrettyPrint())
	if err != nil {
		log.Fatal(err)
	}
	server := middleware.Server(newHandler(sdk.NewTracerProvider(sdk.WithSyncer(exporter))), nil)
	server.Addr = "localhost:8080"
	log.Print("otel: listening on http://localhost:8080")
	log.Fatal(server.ListenAndServe())
}

// newHandler serves notes. The tracer is around all else, so that it sees what everything else does: a mux and a catalog note
// in Request.Pattern what a request is for, every middleware passes that on, and otelhttp names the span by it.
func newHandler(spans trace.TracerProvider) http.Handler {
	notes := traced("notes", resource.OpsOf(memory.New[Note](nil)), spans.Tracer("example/notes"))
	mux := http.NewServeMux()
	mux.Handle("GET /health", middleware.Health(nil, nil))
	mux.Handle("/", rest.New(resource.NewCatalog(nil, notes.Resource("notes", &resource.Options[Note]{Public: true})), nil))
	return middleware.Chain(
		otelhttp.NewMiddleware("", otelhttp.WithTracerProvider(spans), otelhttp.WithPropagators(propagation.TraceContext{})),
		labelled,
		middleware.RequestID(nil),
		middleware.Log(nil),
		middleware.Recover(nil),
		middleware.SecureHeaders(nil),
		middleware.Limit(nil),
		middleware.Timeout(nil),
	)(mux)
}

// labelled tells the client by which id its trace is found, and the span the route of the request, which otelhttp puts into
// its name but not beside it: the route is known only when the mux and the catalog have looked at the path.
func labelled(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		span := trace.SpanFromContext(r.Context())
		if id := span.SpanContext(); id.IsValid() {
			w.Header().Set("Trace-Id", id.TraceID().String())
		}
		next.ServeHTTP(w, r)
		if i := strings.IndexByte(r.Pattern, '/'); i >= 0 { // a pattern of a mux may begin with a method
			span.SetAttributes(attribute.String("http.route", r.Pattern[i:]))
		}
	})
}

// Command otel serves notes with OpenTelemetry traces: a span for each request, named by its route,
// with a child span for each call of the store.
//
//	go run -C examples ./otel
//
// Spans are written to standard error. To send them to a collector, use another exporter.
package main

import (
	"context"
	"flag"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"

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

// Note is the resource of the example.
type Note struct {
	ID   string `json:"id"`
	Text string `json:"text" required:"true" maxLength:"500"`
}

func main() {
	addr := flag.String("addr", "localhost:8080", "listen `address`")
	flag.Parse()
	// For a collector, use otlptracehttp in place of stdouttrace.
	exporter, err := stdouttrace.New(stdouttrace.WithWriter(os.Stderr), stdouttrace.WithPrettyPrint())
	if err != nil {
		log.Fatal(err)
	}
	// WithSyncer exports each span when it ends. A service uses WithBatcher, which does not delay
	// requests, and calls Shutdown of the provider before it exits.
	h := newHandler(sdk.NewTracerProvider(sdk.WithSyncer(exporter)))
	listener, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	log.Printf("otel: listening on http://%s", listener.Addr())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := middleware.Serve(ctx, middleware.Server(h, nil), listener, nil); err != nil {
		log.Fatal(err)
	}
}

// newHandler serves notes. otelhttp is the outermost middleware, so its span covers all others. It
// names the span by Request.Pattern, which the mux and the catalog set and every middleware passes
// on. A health check by the mux is named by its pattern, like a resource by its route.
func newHandler(spans trace.TracerProvider) http.Handler {
	// Decorate the store and not the resource: the spans are then those of the database.
	notes := traced("notes", resource.OpsOf(memory.New[Note](nil)), spans.Tracer("example/notes"))
	mux := http.NewServeMux()
	mux.Handle("GET /health", middleware.Health(nil, nil))
	mux.Handle("/", rest.New(resource.NewCatalog(nil,
		notes.Resource("notes", &resource.Options[Note]{Public: true})), nil))
	return middleware.Chain(
		// TraceContext continues the trace of a client that sends Traceparent.
		otelhttp.NewMiddleware("", otelhttp.WithTracerProvider(spans),
			otelhttp.WithPropagators(propagation.TraceContext{})),
		labelled,
		middleware.RequestID(nil),
		middleware.Log(nil),
		middleware.Recover(nil),
		middleware.SecureHeaders(nil),
		middleware.Limit(nil),
		middleware.Timeout(nil),
	)(mux)
}

// labelled sends the trace id to the client and adds the route as an attribute of the span.
// otelhttp uses the route only for the name of the span, because the route is known only after the
// mux and the catalog have matched the path.
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

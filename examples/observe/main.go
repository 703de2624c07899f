// Command observe serves notes below four routers, with Prometheus metrics and OpenTelemetry traces.
// The route in both is the same with every router, and has no ids.
//
//	go run -C examples ./observe
package main

import (
	"context"
	"flag"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"

	"github.com/gin-gonic/gin"
	"github.com/go-chi/chi/v5"
	"github.com/labstack/echo/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel/exporters/stdout/stdouttrace"
	sdk "go.opentelemetry.io/otel/sdk/trace"

	"github.com/stoa-go/stoa/middleware"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/observe"
	"github.com/stoa-go/stoa/resource/otelobserver"
	"github.com/stoa-go/stoa/resource/promobserver"
	"github.com/stoa-go/stoa/resource/rest"
)

// Note is the resource of the example.
type Note struct {
	ID   int64  `json:"id" readOnly:"true"`
	Text string `json:"text" required:"true" maxLength:"500"`
}

func main() {
	addr := flag.String("addr", "localhost:8080", "listen `address`")
	flag.Parse()
	exporter, err := stdouttrace.New(stdouttrace.WithWriter(os.Stderr))
	if err != nil {
		log.Fatal(err)
	}
	// WithSyncer exports each span when it ends. A service uses WithBatcher and an OTLP exporter.
	h, err := newHandler(sdk.NewTracerProvider(sdk.WithSyncer(exporter)))
	if err != nil {
		log.Fatal(err)
	}
	listener, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	log.Printf("observe: listening on http://%s", listener.Addr())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := middleware.Serve(ctx, middleware.Server(h, nil), listener, nil); err != nil {
		log.Fatal(err)
	}
}

// newHandler serves the notes below the four routers, and the metrics.
func newHandler(provider *sdk.TracerProvider) (http.Handler, error) {
	metrics := promobserver.New(nil)
	registry := prometheus.NewRegistry()
	registry.MustRegister(metrics)
	spans, err := otelobserver.New(&otelobserver.Options{Traces: provider})
	if err != nil {
		return nil, err
	}
	catalog := resource.NewCatalog(&resource.CatalogOptions{
		Observe: func(ctx context.Context, o observe.Observation) {
			metrics.Observe(ctx, o)
			spans.Observe(ctx, o)
		},
	}, resource.New("notes", memory.New[Note](nil), &resource.Options[Note]{Public: true}))
	api := rest.New(catalog, nil)

	mux := http.NewServeMux()
	mux.Handle("/metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	for name, router := range map[string]http.Handler{
		"nethttp": withNetHTTP(api), "chi": withChi(api), "gin": withGin(api), "echo": withEcho(api),
	} {
		// otelhttp begins the span, and the observer names it.
		mux.Handle("/"+name+"/", otelhttp.NewHandler(router, "",
			otelhttp.WithTracerProvider(provider), otelhttp.WithSpanNameFormatter(otelobserver.SpanName)))
	}
	return mux, nil
}

func withNetHTTP(api http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/nethttp/", http.StripPrefix("/nethttp", api))
	return mux
}

func withChi(api http.Handler) http.Handler {
	r := chi.NewRouter()
	r.Mount("/chi", http.StripPrefix("/chi", api))
	return r
}

func withGin(api http.Handler) http.Handler {
	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	h := gin.WrapH(http.StripPrefix("/gin", api))
	r.Any("/gin/*path", h)
	r.Handle("QUERY", "/gin/*path", h) // Any does not include it
	return r
}

func withEcho(api http.Handler) http.Handler {
	e := echo.New()
	e.Any("/echo/*", echo.WrapHandler(http.StripPrefix("/echo", api)))
	return e
}

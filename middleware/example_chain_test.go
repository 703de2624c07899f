package middleware_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"time"

	"github.com/stoa-go/stoa/middleware"
)

// The middleware that most servers need, in the right order.
func ExampleChain() {
	logger := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: withoutTimes}))
	mux := http.NewServeMux()
	mux.HandleFunc("GET /orders/{id}", func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "an order")
	})
	mux.HandleFunc("GET /boom", func(w http.ResponseWriter, r *http.Request) { panic("boom") })
	h := middleware.Chain(
		middleware.RequestID(nil),
		middleware.Log(&middleware.LogOptions{Logger: logger}),
		middleware.Recover(&middleware.RecoverOptions{Logger: slog.New(slog.DiscardHandler)}),
		middleware.Timeout(nil),
	)(mux)
	for _, path := range []string{"/orders/7", "/nothing", "/boom"} {
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", path, nil))
	}
	// Output:
	// level=INFO msg=request method=GET route=/orders/{id} status=200 bytes=8
	// level=INFO msg=request method=GET path=/nothing status=404 bytes=19
	// level=ERROR msg=request method=GET route=/boom status=500 bytes=157
}

// withoutTimes leaves out what is different every time.
func withoutTimes(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey || a.Key == "duration" || a.Key == "request_id" {
		return slog.Attr{}
	}
	return a
}

func ExampleRequestID() {
	h := middleware.RequestID(nil)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Println(middleware.RequestIDFrom(r.Context()) == w.Header().Get("X-Request-Id"))
	}))
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
	// Output: true
}

func ExampleLog() {
	logger := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: withoutTimes}))
	h := middleware.Log(&middleware.LogOptions{Logger: logger, Query: true})(http.NotFoundHandler())
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/orders?limit=1&token=s3cr3t", nil))
	// Output: level=INFO msg=request method=GET path=/orders status=404 bytes=19 query="limit=1&token=[redacted]"
}

func ExampleRecover() {
	h := middleware.Recover(&middleware.RecoverOptions{Logger: slog.New(slog.DiscardHandler)})(http.HandlerFunc(
		func(w http.ResponseWriter, r *http.Request) { panic("the database said no") }))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	details, _, _ := strings.Cut(w.Body.String(), `"instance"`)
	fmt.Println(w.Code, details)
	// Output: 500 {"type":"https://stoa-go.github.io/problems/internal-error","title":"Internal Error","status":500,
}

func ExampleTimeout() {
	h := middleware.Timeout(&middleware.TimeoutOptions{Handle: time.Millisecond})(http.HandlerFunc(
		func(w http.ResponseWriter, r *http.Request) {
			<-r.Context().Done() // as a query would that takes its time
			if r.Context().Err() != context.DeadlineExceeded {
				fmt.Println("somebody else ended it")
			}
		}))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	fmt.Println(w.Code, w.Header().Get("Retry-After"))
	// Output: 503 5
}

func ExampleLimit() {
	h := middleware.Limit(&middleware.LimitOptions{Content: 10})(http.NotFoundHandler())
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("POST", "/", strings.NewReader("more than ten")))
	fmt.Println(w.Code, w.Body)
	// Output: 413 {"type":"https://stoa-go.github.io/problems/content-too-large","title":"Content Too Large","status":413,"detail":"The request body is larger than 10 bytes.","limit":10}
}

func ExampleSecureHeaders() {
	h := middleware.SecureHeaders(nil)(http.NotFoundHandler())
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	fmt.Println(w.Header().Get("Content-Security-Policy"))
	// Output: default-src 'none'; frame-ancestors 'none'
}

func ExampleCrossOrigin() {
	h := middleware.CrossOrigin(&middleware.CrossOriginOptions{Trusted: []string{"https://app.example.com"}})(http.NotFoundHandler())
	for _, origin := range []string{"https://app.example.com", "https://elsewhere.example"} {
		r := httptest.NewRequest("POST", "/orders", nil)
		r.Header.Set("Origin", origin)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		fmt.Println(origin, w.Code)
	}
	// Output:
	// https://app.example.com 404
	// https://elsewhere.example 403
}

func ExampleServer() {
	server := middleware.Server(http.NotFoundHandler(),
		&middleware.ServerOptions{WriteTimeout: 5 * time.Minute})
	fmt.Println(server.ReadHeaderTimeout, server.ReadTimeout, server.WriteTimeout)
	// Output: 5s 30s 5m0s
}

package middleware_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/stoa-go/stoa/middleware"
)

// logged serves a request and returns the line, without its time.
func logged(t *testing.T, opts middleware.LogOptions, r *http.Request, h http.HandlerFunc,
	more ...func(http.Handler) http.Handler) string {
	t.Helper()
	var buf bytes.Buffer
	opts.Logger = slog.New(slog.NewTextHandler(&buf, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}}))
	func() {
		defer func() { _ = recover() }() // what aborts is in the line
		middleware.Chain(middleware.Log(&opts),
			middleware.Chain(more...))(h).ServeHTTP(httptest.NewRecorder(), r)
	}()
	return buf.String()
}

func TestLog(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /orders/{id}", func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "an order")
	})
	teapot := func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(3 * time.Second)
		w.WriteHeader(http.StatusTeapot)
		w.WriteHeader(http.StatusOK) // superfluous
		w.Write([]byte("short"))
	}
	health := middleware.LogOptions{Skip: func(r *http.Request) bool { return r.URL.Path == "/health" }}
	tests := []struct {
		name, target string
		opts         middleware.LogOptions
		header       http.Header
		h            http.HandlerFunc
		more         []func(http.Handler) http.Handler
		want         string
	}{
		{"route", "/orders/7?secret=1", middleware.LogOptions{}, nil, mux.ServeHTTP, nil,
			"level=INFO msg=request method=GET route=/orders/{id} status=200 bytes=8 duration=0s\n"},
		{"path", "/tea", middleware.LogOptions{}, nil, teapot, nil,
			"level=INFO msg=request method=GET path=/tea status=418 bytes=5 duration=3s\n"},
		{"implicit", "/", middleware.LogOptions{}, nil, func(http.ResponseWriter, *http.Request) {}, nil,
			"level=INFO msg=request method=GET path=/ status=200 bytes=0 duration=0s\n"},
		{"principal", "/orders/7", middleware.LogOptions{}, http.Header{"Authorization": {"Bearer ann-1"}},
			mux.ServeHTTP,
			[]func(http.Handler) http.Handler{middleware.Authenticate(verify, nil)},
			"level=INFO msg=request method=GET route=/orders/{id} status=200 bytes=8 duration=0s principal=ann\n"},
		{"panic", "/", middleware.LogOptions{}, nil, func(http.ResponseWriter, *http.Request) { panic("x") },
			[]func(http.Handler) http.Handler{middleware.Recover(recoverQuietly())},
			"level=ERROR msg=request method=GET path=/ status=500 bytes=BODY duration=0s\n"},
		{"aborted", "/", middleware.LogOptions{}, nil, func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, "half")
			panic(http.ErrAbortHandler)
		}, nil, "level=WARN msg=request method=GET path=/ status=200 bytes=4 duration=0s aborted=true\n"},
		{"aborted at once", "/health", health, nil, func(http.ResponseWriter, *http.Request) {
			panic(http.ErrAbortHandler)
		}, nil,
			"level=WARN msg=request method=GET path=/health status=0 bytes=0 duration=0s aborted=true\n"},
		{"skipped", "/health", health, nil, func(http.ResponseWriter, *http.Request) {}, nil, ""},
		{"skipped, but failed", "/health", health, nil, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(503)
		}, nil,
			"level=ERROR msg=request method=GET path=/health status=503 bytes=0 duration=0s\n"},
		{"unknown method", "/", middleware.LogOptions{}, nil, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(501)
		}, nil, "level=INFO msg=request method=GET path=/ status=501 bytes=0 duration=0s\n"},
		{"query", "/?a=1&access_token=s3cr3t&%74oken=s3cr3t&%zz=2&b", middleware.LogOptions{Query: true}, nil,
			mux.ServeHTTP, nil,
			`query="a=1&access_token=[redacted]&%74oken=[redacted]&[unreadable]&b"` + "\n"},
		{"query of GraphQL", "/?query=q&variables=%7B%22iban%22:%22s3cr3t%22%7D&%76ariables=s3cr3t",
			middleware.LogOptions{Query: true}, nil, mux.ServeHTTP, nil,
			`query="query=q&variables=[redacted]&%76ariables=[redacted]"` + "\n"},
		{"query of another age", "/?a=1;token=s3cr3t&b=2", middleware.LogOptions{Query: true}, nil,
			mux.ServeHTTP, nil,
			`query="[unreadable]&b=2"` + "\n"},
		{"referrer", "/", middleware.LogOptions{Headers: []string{"referer"}},
			http.Header{"Referer": {"https://shop.example/reset?code=s3cr3t"}},
			mux.ServeHTTP, nil, "referer=https://shop.example/reset\n"},
		{"fields", "/", middleware.LogOptions{Headers: []string{"user-agent", "Authorization", "cookie",
			"Idempotency-Key",
			"Proxy-Authorization", "X-Api-Key", "accept"}},
			http.Header{"User-Agent": {"curl\n\x1b[31m"}, "Authorization": {"Bearer ann-1"},
				"Cookie":          {"s3cr3t"},
				"Idempotency-Key": {"s3cr3t"}, "Proxy-Authorization": {"s3cr3t"}, "X-Api-Key": {"s3cr3t"},
				"Accept": {"a", "b"}},
			mux.ServeHTTP, nil, `user-agent=curl\n\x1b[31m accept="a, b"` + "\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := httptest.NewRequest("GET", tt.target, nil)
				for name, lines := range tt.header {
					r.Header[name] = lines
				}
				got := logged(t, tt.opts, r, tt.h, tt.more...)
				if i := strings.Index(got, "bytes="); strings.Contains(tt.want, "BODY") && i > 0 {
					n, _, _ := strings.Cut(got[i+len("bytes="):], " ")
					got = strings.Replace(got, "bytes="+n, "bytes=BODY", 1)
				}
				if strings.HasPrefix(tt.want, "level=") || tt.want == "" {
					if diff := cmp.Diff(tt.want, got); diff != "" {
						t.Errorf("line (-want +got):\n%s", diff)
					}
				} else if !strings.HasSuffix(got, tt.want) {
					t.Errorf("line %s, want it to end with %s", got, tt.want)
				}
				if strings.Contains(got, "s3cr3t") || strings.Contains(got, "ann-1") {
					t.Errorf("a secret is in the log: %s", got)
				}
			})
		})
	}
}

// forger is a handler of logs that escapes nothing, as careless ones do.
type forger struct {
	slog.Handler
	values *[]string
}

func (f forger) Handle(_ context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		*f.values = append(*f.values, a.Value.String())
		return true
	})
	return nil
}

// FuzzLog: a value in the log is short, printable and on one line. The seeds are in testdata.
func FuzzLog(f *testing.F) {
	f.Fuzz(func(t *testing.T, path, query, agent, principal string) {
		var values []string
		h := middleware.Log(&middleware.LogOptions{Query: true, Headers: []string{"User-Agent"},
			Logger: slog.New(forger{slog.NewJSONHandler(io.Discard, nil), &values})})
		r := &http.Request{Method: "GET", URL: &url.URL{Path: path, RawQuery: query},
			Header: http.Header{"User-Agent": {agent}}}
		h(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			middleware.WithPrincipal(r.Context(), principal)
		})).ServeHTTP(httptest.NewRecorder(), r)
		if len(values) < 6 {
			t.Fatalf("%q", values)
		}
		for _, v := range values {
			if len(v) > 256+len("...") || !utf8.ValidString(v) ||
				strings.ContainsAny(v, "\n\r\x1b\x00\u2028\u202e\u0085") {
				t.Errorf("%q is in the log", v)
			}
		}
	})
}

// TestLogIsOneJSONObject, with the numbers as numbers.
func TestLogIsOneJSONObject(t *testing.T) {
	t.Parallel()
	var log lines
	h := middleware.Chain(middleware.RequestID(nil), middleware.Log(log.options()))(http.NotFoundHandler())
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
	var got struct {
		Status    int
		Bytes     int
		Duration  int64
		RequestID string `json:"request_id"`
	}
	if err := json.Unmarshal([]byte(log.String()), &got); err != nil || got.Status != 404 ||
		got.Bytes != 19 || !uuid7.MatchString(got.RequestID) {
		t.Errorf("%+v %v: %s", got, err, &log)
	}
}

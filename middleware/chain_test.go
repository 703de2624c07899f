package middleware_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stoa-go/stoa/middleware"
)

func TestChain(t *testing.T) {
	t.Parallel()
	var got []string
	say := func(name string) func(http.Handler) http.Handler {
		return func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				got = append(got, name)
				next.ServeHTTP(w, r)
				got = append(got, "/"+name)
			})
		}
	}
	h := middleware.Chain(say("a"), nil, middleware.Chain(say("b"), say("c")), middleware.Chain(), say("d"))(
		http.HandlerFunc(func(http.ResponseWriter, *http.Request) { got = append(got, "handler") }))
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
	if diff := cmp.Diff([]string{"a", "b", "c", "d", "handler", "/d", "/c", "/b", "/a"}, got); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

// TestPatternsAreHandedOut: outer middleware sees the pattern that matched, although inner
// middleware copies the request.
func TestPatternsAreHandedOut(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.HandleFunc("POST /orders/{id}", func(http.ResponseWriter, *http.Request) {
		panic(http.ErrAbortHandler)
	})
	for name, mw := range everyMiddleware() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequest("POST", "/orders/7", strings.NewReader("{}"))
			r.ContentLength = -1
			r.Header.Set("Authorization", "Bearer ann-1")
			defer func() {
				if v := recover(); v != http.ErrAbortHandler || r.Pattern != "POST /orders/{id}" {
					t.Errorf("panic %v, pattern %q", v, r.Pattern)
				}
			}()
			mw(mux).ServeHTTP(httptest.NewRecorder(), r)
		})
	}
}

// wholeChain is all of them, in the order of the package comment.
func wholeChain(log *middleware.LogOptions, quota int,
	rate *middleware.RateLimitOptions) func(http.Handler) http.Handler {
	return middleware.Chain(
		middleware.ClientAddress([]netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, nil),
		middleware.RequestID(nil),
		middleware.Log(log),
		middleware.Recover(recoverQuietly()),
		middleware.SecureHeaders(nil),
		middleware.Limit(nil),
		middleware.Timeout(nil),
		middleware.CrossOrigin(nil),
		middleware.Authenticate(verify, &middleware.AuthenticateOptions{Required: middleware.Writes,
			Logger: slog.New(slog.DiscardHandler)}),
		middleware.RateLimit(middleware.Rate{Quota: quota, Window: 1000 * time.Hour}, rate),
	)
}

// TestOrder: if a request has several mistakes, the outermost middleware reports the first. The log
// line and the fields of outer middleware are present in any case.
func TestOrder(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(r *http.Request)
		status int
		log    []string
	}{
		{"a panic", func(r *http.Request) {}, 500, []string{`"principal":"ann"`, `"route":"/boom"`}},
		{"over the quota", func(r *http.Request) { r.Header.Set("X-Spent", "yes") }, 429,
			[]string{`"principal":"ann"`, `"path":"/boom"`}},
		{"anonymous, over the quota", func(r *http.Request) { r.Header.Del("Authorization") }, 401, nil},
		{"of another origin, anonymous", func(r *http.Request) {
			r.Header.Del("Authorization")
			r.Header.Set("Sec-Fetch-Site", "cross-site")
		}, 403, nil},
		{"too much, of another origin", func(r *http.Request) {
			r.Header.Set("Sec-Fetch-Site", "cross-site")
			r.ContentLength = 1 << 30
		}, 413, nil},
		{"too long, too much", func(r *http.Request) {
			r.RequestURI = "/" + strings.Repeat("a", 8<<10)
			r.ContentLength = 1 << 30
		}, 414, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var log lines
			mux := http.NewServeMux()
			mux.HandleFunc("POST /boom", func(http.ResponseWriter, *http.Request) { panic("boom") })
			h := wholeChain(log.options(), 1, &middleware.RateLimitOptions{Skip: func(r *http.Request) bool {
				return r.Header.Get("X-Spent") == ""
			}})(mux)
			request := func() *http.Request {
				r := httptest.NewRequest("POST", "/boom", strings.NewReader("{}"))
				r.RemoteAddr = "10.0.0.1:1"
				r.Header.Set("X-Forwarded-For", "198.51.100.7")
				r.Header.Set("Authorization", "Bearer ann-1")
				tt.change(r)
				return r
			}
			if tt.status == http.StatusTooManyRequests {
				h.ServeHTTP(httptest.NewRecorder(), request()) // spends it
				log.buf.Reset()
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, request())
			if w.Code != tt.status {
				t.Errorf("%d %s, want %d", w.Code, w.Body, tt.status)
			}
			id := w.Header().Get("X-Request-Id")
			if w.Header().Get("Referrer-Policy") == "" || !uuid7.MatchString(id) {
				t.Errorf("header %v", w.Header())
			}
			log.has(t, 1, append(tt.log, fmt.Sprintf(`"status":%d`, tt.status), `"client":"198.51.100.7"`,
				`"request_id":"`+id+`"`)...)
		})
	}
}

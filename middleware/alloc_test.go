package middleware_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stoa-go/stoa/middleware"
)

// discard is a writer that costs nothing.
type discard struct{ h http.Header }

func (d discard) Header() http.Header         { return d.h }
func (d discard) Write(p []byte) (int, error) { return len(p), nil }
func (d discard) WriteHeader(int)             {}

// hotPath are those that every request passes, and how much each may allocate for one.
var hotPath = []struct {
	name   string
	mw     func(http.Handler) http.Handler
	allocs float64
}{
	{"Chain", middleware.Chain(), 0},
	{"RequestID", middleware.RequestID(nil), 5},
	{"Log", middleware.Log(quiet()), 4},
	{"Recover", middleware.Recover(nil), 1},
	{"SecureHeaders", middleware.SecureHeaders(nil), 0},
	{"CrossOrigin", middleware.CrossOrigin(nil), 0},
	{"Limit", middleware.Limit(nil), 0},
	{"Limit in flight", middleware.Limit(&middleware.LimitOptions{InFlight: 10}), 0},
	{"RateLimit", middleware.RateLimit(middleware.Rate{Quota: 1_000_000_000, Window: time.Second}, nil), 2},
	{"ClientAddress", middleware.ClientAddress(proxies, nil), 3},
	{"Timeout", middleware.Timeout(nil), 11},
	{"all", wholeChain(quiet(), 1_000_000_000, nil), 24},
}

// TestAllocations keeps them cheap.
func TestAllocations(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector makes pools forget, and so allocations of its own")
	}
	for _, tt := range hotPath {
		h := tt.mw(http.HandlerFunc(ok))
		r := httptest.NewRequest("GET", "/orders/7", nil)
		r.RemoteAddr = "192.0.2.1:1"
		w := discard{http.Header{}}
		got := testing.AllocsPerRun(100, func() {
			clear(w.h)
			h.ServeHTTP(w, r)
		})
		if got > tt.allocs {
			t.Errorf("%s: %g allocations, want %g at most", tt.name, got, tt.allocs)
		}
		t.Log(tt.name, got)
	}
}

func BenchmarkMiddleware(b *testing.B) {
	for _, tt := range hotPath {
		b.Run(tt.name, func(b *testing.B) {
			h := tt.mw(http.HandlerFunc(ok))
			r := httptest.NewRequest("GET", "/orders/7", nil)
			w := discard{http.Header{}}
			b.ReportAllocs()
			for b.Loop() {
				clear(w.h)
				h.ServeHTTP(w, r)
			}
		})
	}
}

// BenchmarkRateLimitCallers has as many callers as are remembered.
func BenchmarkRateLimitCallers(b *testing.B) {
	names := make([]string, 1<<16)
	for i := range names {
		names[i] = http.StatusText(200) + string(rune('a'+i%26)) + time.Duration(i).String()
	}
	i := 0
	h := middleware.RateLimit(middleware.Rate{Quota: 1_000_000_000, Window: time.Second},
		&middleware.RateLimitOptions{
			Key: func(*http.Request) string { i++; return names[i%len(names)] }})(http.HandlerFunc(ok))
	r := httptest.NewRequest("GET", "/orders/7", nil)
	w := discard{http.Header{}}
	b.ReportAllocs()
	for b.Loop() {
		clear(w.h)
		h.ServeHTTP(w, r)
	}
}

package middleware_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stoa-go/stoa/middleware"
	"github.com/stoa-go/stoa/resource/problem"
)

// counted sends one request with a principal and an address.
func counted(h http.Handler, principal, peer string) *httptest.ResponseRecorder {
	ctx := context.Background()
	if principal != "" {
		ctx = middleware.WithPrincipal(ctx, principal)
	}
	r := httptest.NewRequestWithContext(ctx, "GET", "/", nil)
	if peer != "" {
		r.RemoteAddr = peer
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func ok(http.ResponseWriter, *http.Request) {}

// TestRule140RateLimitFields checks the fields while the quota is used up and recovers.
func TestRule140RateLimitFields(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := middleware.RateLimit(middleware.Rate{Quota: 4, Window: time.Minute}, nil)(http.HandlerFunc(ok))
		steps := []struct {
			after  time.Duration
			status int
			limit  string
			retry  string
		}{
			{0, 200, `"default";r=3;t=15`, ""},
			{0, 200, `"default";r=2;t=30`, ""},
			{0, 200, `"default";r=1;t=45`, ""},
			{0, 200, `"default";r=0;t=15`, ""},
			{0, 429, `"default";r=0;t=15`, "15"},
			// rounded up, or the client would come too early
			{14500 * time.Millisecond, 429, `"default";r=0;t=1`, "1"},
			{500 * time.Millisecond, 200, `"default";r=0;t=15`, ""},
			{30 * time.Second, 200, `"default";r=1;t=45`, ""},
			{time.Hour, 200, `"default";r=3;t=15`, ""},
		}
		for i, s := range steps {
			time.Sleep(s.after)
			w := counted(h, "", "")
			got := []string{strconv.Itoa(w.Code), w.Header().Get("RateLimit"), w.Header().Get("Retry-After"),
				w.Header().Get("RateLimit-Policy")}
			want := []string{strconv.Itoa(s.status), s.limit, s.retry, `"default";q=4;w=60`}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("step %d (-want +got):\n%s", i, diff)
			}
			for name := range w.Header() {
				if strings.HasPrefix(name, "X-") && name != "X-Content-Type-Options" {
					t.Errorf("step %d: %s, which nobody asked for", i, name)
				}
			}
		}
	})
}

// TestRule140RetryAfter: a request after Retry-After is served, and after t seconds the whole quota
// is available.
func TestRule140RetryAfter(t *testing.T) {
	t.Parallel()
	for _, rate := range []middleware.Rate{{1, time.Second}, {3, time.Second}, {7, 10 * time.Second},
		{1000, time.Minute}, {999_999_999, time.Second}, {1, 1000 * time.Hour}} {
		synctest.Test(t, func(t *testing.T) {
			h := middleware.RateLimit(rate, nil)(http.HandlerFunc(ok))
			for range min(rate.Quota, 2000) {
				if w := counted(h, "", ""); w.Code != http.StatusOK {
					t.Fatalf("%v: %d", rate, w.Code)
				}
			}
			w := counted(h, "", "")
			if rate.Quota > 2000 {
				return
			}
			wait, err := strconv.Atoi(w.Header().Get("Retry-After"))
			if w.Code != http.StatusTooManyRequests || err != nil ||
				!strings.HasSuffix(w.Header().Get("RateLimit"), fmt.Sprint(";t=", wait)) {
				t.Fatalf("%v: %d %v", rate, w.Code, w.Header())
			}
			time.Sleep(time.Duration(wait) * time.Second)
			if w := counted(h, "", ""); w.Code != http.StatusOK {
				t.Errorf("%v: %d after the wait", rate, w.Code)
			}
		})
	}
}

// TestRule138QuotaExceeded reads the refusal.
func TestRule138QuotaExceeded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := middleware.RateLimit(middleware.Rate{Quota: 1, Window: time.Hour},
			&middleware.RateLimitOptions{Name: `per "hour"`, Legacy: true})(http.HandlerFunc(ok))
		counted(h, "ann", "")
		w := counted(h, "ann", "")
		if w.Header().Get("Retry-After") != "3600" ||
			w.Header().Get("RateLimit-Policy") != `"per \"hour\"";q=1;w=3600` ||
			w.Header().Get("RateLimit") != `"per \"hour\"";r=0;t=3600` {
			t.Errorf("header %v", w.Header())
		}
		old := []string{w.Header().Get("X-RateLimit-Limit"), w.Header().Get("X-RateLimit-Remaining"),
			w.Header().Get("X-RateLimit-Reset")}
		if diff := cmp.Diff([]string{"1", "0", "3600"}, old); diff != "" {
			t.Errorf("X-RateLimit (-want +got):\n%s", diff)
		}
		got := wantRecorded(t, w, problem.TooManyRequests)
		if diff := cmp.Diff([]string{`per "hour"`}, got.Violated); diff != "" {
			t.Errorf("violated-policies (-want +got):\n%s", diff)
		}
		if got.Type != "https://iana.org/assignments/http-problem-types#quota-exceeded" {
			t.Errorf("type %s", got.Type)
		}
	})
}

// TestRateLimitCallers checks which requests share a quota.
func TestRateLimitCallers(t *testing.T) {
	t.Parallel()
	type caller struct{ principal, peer string }
	tests := []struct {
		name        string
		first, then caller
		together    bool
	}{
		{"one principal", caller{"ann", "10.0.0.1:1"}, caller{"ann", "10.0.0.2:1"}, true},
		{"two principals", caller{"ann", "10.0.0.1:1"}, caller{"bob", "10.0.0.1:1"}, false},
		{"with and without principal", caller{"ann", "10.0.0.1:1"}, caller{"", "10.0.0.1:1"}, false},
		{"one address", caller{"", "10.0.0.1:1"}, caller{"", "10.0.0.1:2"}, true},
		{"two addresses", caller{"", "10.0.0.1:1"}, caller{"", "10.0.0.2:1"}, false},
		{"one address, mapped", caller{"", "10.0.0.1:1"}, caller{"", "[::ffff:10.0.0.1]:1"}, true},
		{"one network", caller{"", "[2001:db8::1]:1"}, caller{"", "[2001:db8::ffff:2]:1"}, true},
		{"two networks", caller{"", "[2001:db8::1]:1"}, caller{"", "[2001:db8:0:1::1]:1"}, false},
		{"a name like an address", caller{"10.0.0.1", "10.0.0.2:1"}, caller{"", "10.0.0.1:1"}, false},
		{"no addresses", caller{"", "@"}, caller{"", "@"}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := middleware.RateLimit(middleware.Rate{Quota: 1, Window: time.Hour}, nil)(http.HandlerFunc(ok))
			counted(h, tt.first.principal, tt.first.peer)
			if got := counted(h, tt.then.principal,
				tt.then.peer).Code == http.StatusTooManyRequests; got != tt.together {
				t.Errorf("refused: %t, want %t", got, tt.together)
			}
		})
	}
}

func TestRateLimitOptions(t *testing.T) {
	t.Parallel()
	opts := &middleware.RateLimitOptions{
		Key:  func(r *http.Request) string { return r.URL.Query().Get("tenant") },
		Skip: func(r *http.Request) bool { return r.URL.Path == "/health" },
		Name: "tenant",
	}
	h := middleware.Chain(middleware.RateLimit(middleware.Rate{Quota: 5, Window: time.Minute}, nil),
		middleware.RateLimit(middleware.Rate{Quota: 1, Window: time.Hour}, opts))(http.HandlerFunc(ok))
	for target, want := range map[string][]string{
		"/?tenant=a": {"200", `"default";q=5;w=60`, `"tenant";q=1;w=3600`},
		"/?tenant=b": {"200", `"default";q=5;w=60`, `"tenant";q=1;w=3600`},
		"/health":    {"200", `"default";q=5;w=60`},
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", target, nil))
		if diff := cmp.Diff(want,
			append([]string{strconv.Itoa(w.Code)}, w.Header()["Ratelimit-Policy"]...)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", target, diff)
		}
	}
	off := middleware.RateLimit(middleware.Rate{}, opts)(http.HandlerFunc(ok))
	if w := counted(off, "", ""); len(w.Header()) > 0 {
		t.Errorf("without a rate: %v", w.Header())
	}
	for _, wrong := range []middleware.Rate{{Quota: 1}, {Window: time.Second},
		{Quota: 1, Window: time.Millisecond}, {Quota: -1, Window: time.Second}} {
		func() {
			defer func() {
				if text, _ := recover().(string); !strings.HasPrefix(text, "middleware: RateLimit") {
					t.Errorf("%v panics with %q", wrong, text)
				}
			}()
			middleware.RateLimit(wrong, nil)
		}()
	}
}

// TestRateLimitIsExact: however many ask at once, a quota is a quota.
func TestRateLimitIsExact(t *testing.T) {
	t.Parallel()
	const quota = 100
	h := middleware.RateLimit(middleware.Rate{Quota: quota, Window: 1000 * time.Hour},
		nil)(http.HandlerFunc(ok))
	var let atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range quota {
				if counted(h, "ann", "").Code == http.StatusOK {
					let.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if let.Load() != quota {
		t.Errorf("%d requests went through, want %d", let.Load(), quota)
	}
}

// TestRateLimitMemory: many callers use bounded memory, and do not reset the quota of an active
// one.
func TestRateLimitMemory(t *testing.T) {
	const callers, strangers = 1000, 200_000
	key := ""
	h := middleware.RateLimit(middleware.Rate{Quota: 2, Window: time.Hour}, &middleware.RateLimitOptions{
		Callers: callers, Key: func(*http.Request) string { return key }})(http.HandlerFunc(ok))
	ask := func(name string) int {
		key = name
		w := httptest.NewRecorder()
		h.ServeHTTP(w, &http.Request{Method: "GET"})
		return w.Code
	}
	long := strings.Repeat("x", 1000)
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	let := 0
	for i := range strangers {
		ask(long + strconv.Itoa(i))
		if i%100 == 0 && ask("insistent") == http.StatusOK {
			let++
		}
	}
	if let != 2 {
		t.Errorf("who asks all the time is forgotten, and let through %d times", let)
	}
	if grown := int64(heap()) - int64(before); grown > 1<<20 {
		t.Errorf("%d bytes more for %d callers", grown, callers)
	}
	runtime.KeepAlive(h)
}

// A quota of two in an hour, for all clients together.
func ExampleRateLimit() {
	limit := middleware.RateLimit(middleware.Rate{Quota: 2, Window: time.Hour}, nil)
	h := limit(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {}))
	for range 3 {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", "/orders", nil))
		// and in how many seconds there is more
		remaining, _, _ := strings.Cut(w.Header().Get("RateLimit"), ";t=")
		fmt.Println(w.Code, remaining, w.Header().Get("Retry-After") != "")
	}
	// Output:
	// 200 "default";r=1 false
	// 200 "default";r=0 false
	// 429 "default";r=0 true
}

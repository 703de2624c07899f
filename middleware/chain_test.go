package middleware_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

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

// TestPatternsAreHandedOut: whoever is outside learns the pattern that matched, though each middleware between has a request
// of its own.
func TestPatternsAreHandedOut(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /orders/{id}", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	for name, mw := range everyMiddleware() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequest("GET", "/orders/7", nil)
			r.Header.Set("Authorization", "Bearer ann-1")
			defer func() {
				if v := recover(); v != http.ErrAbortHandler || r.Pattern != "GET /orders/{id}" {
					t.Errorf("panic %v, pattern %q", v, r.Pattern)
				}
			}()
			mw(mux).ServeHTTP(httptest.NewRecorder(), r)
		})
	}
}

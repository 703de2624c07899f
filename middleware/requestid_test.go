package middleware_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stoa-go/stoa/middleware"
)

var uuid7 = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)

func TestRequestID(t *testing.T) {
	t.Parallel()
	proxy := &middleware.RequestIDOptions{Trusted: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}
	tests := []struct {
		name   string
		opts   *middleware.RequestIDOptions
		peer   string
		fields []string
		want   string // empty: a new one
	}{
		{"none", nil, "10.1.2.3:4", nil, ""},
		{"no trusted peer", nil, "10.1.2.3:4", []string{"abc"}, ""},
		{"trusted", proxy, "10.1.2.3:4", []string{"a-B_9.~:+/=@"}, "a-B_9.~:+/=@"},
		{"trusted, mapped", proxy, "[::ffff:10.1.2.3]:4", []string{"abc"}, "abc"},
		{"not trusted", proxy, "11.1.2.3:4", []string{"abc"}, ""},
		{"no peer", proxy, "@", []string{"abc"}, ""},
		{"two", proxy, "10.1.2.3:4", []string{"abc", "abc"}, ""},
		{"empty", proxy, "10.1.2.3:4", []string{""}, ""},
		{"a space", proxy, "10.1.2.3:4", []string{"a b"}, ""},
		{"not ASCII", proxy, "10.1.2.3:4", []string{"ä"}, ""},
		{"a line", proxy, "10.1.2.3:4", []string{"a\nlevel=INFO"}, ""},
		{"longest", proxy, "10.1.2.3:4", []string{strings.Repeat("a", 128)}, strings.Repeat("a", 128)},
		{"too long", proxy, "10.1.2.3:4", []string{strings.Repeat("a", 129)}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequest("GET", "/", nil)
			r.RemoteAddr = tt.peer
			r.Header["X-Request-Id"] = tt.fields
			w := httptest.NewRecorder()
			var got string
			middleware.RequestID(tt.opts)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				got = middleware.RequestIDFrom(r.Context())
			})).ServeHTTP(w, r)
			if tt.want == "" && !uuid7.MatchString(got) || tt.want != "" && got != tt.want {
				t.Errorf("the id is %q", got)
			}
			if diff := cmp.Diff([]string{got}, w.Header()["X-Request-Id"]); diff != "" {
				t.Errorf("field (-want +got):\n%s", diff)
			}
		})
	}
	if got := middleware.RequestIDFrom(t.Context()); got != "" {
		t.Errorf("outside it is %q", got)
	}
}

// TestRequestIDsSort: ids of later requests are greater, and no two are alike.
func TestRequestIDsSort(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := middleware.RequestID(&middleware.RequestIDOptions{Header: "trace"})(http.NotFoundHandler())
		last := ""
		for range 100 {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
			id := w.Header().Get("Trace")
			if id <= last {
				t.Fatalf("%q after %q", id, last)
			}
			last = id
			time.Sleep(time.Millisecond)
		}
	})
}

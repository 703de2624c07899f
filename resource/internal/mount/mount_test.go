package mount_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stoa-go/stoa/resource/internal/mount"
)

func TestPrefix(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, target, strip, prefix, path string }{
		{"at the root", "/orders?a=b", "", "", "/orders"},
		{"at the root, without a query", "/orders", "", "", "/orders"},
		{"at the root, escaped", "/orders/a%2Fb?", "", "", "/orders/a%2Fb"},
		{"at the root, a slash removed", "/orders", "/", "", "/orders"},
		{"a prefix that begins like the path", "/orders/orders", "/orders", "/orders", "/orders"},
		{"below a prefix", "/api/orders", "/api", "/api", "/orders"},
		{"a prefix with a slash", "/api/orders", "/api/", "/api", "/orders"},
		{"the prefix itself", "/api", "/api", "/api", "/"},
		{"the prefix and a slash", "/api/", "/api", "/api", "/"},
		{"an escaped id", "/api/orders/a%2Fb", "/api", "/api", "/orders/a%2Fb"},
		{"absolute form", "http://example.com/api/orders", "/api", "/api", "/orders"},
		{"a prefix that is not escaped", "/t/\xff/", "/t/\xff", "/t/%FF", "/"},
		{"characters that are not escaped", "/api/orders/a|b", "/api", "/api", "/orders/a%7Cb"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var prefix, path string
			h := http.Handler(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				prefix, path = mount.Prefix(r), mount.Path(r)
			}))
			if tt.strip != "" {
				h = http.StripPrefix(tt.strip, h)
			}
			h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), "GET", tt.target, nil))
			if prefix != tt.prefix || path != tt.path {
				t.Errorf("prefix %q and path %q, want %q and %q", prefix, path, tt.prefix, tt.path)
			}
		})
	}
}

// TestRewritten checks that no prefix is derived from a path that a middleware has replaced.
func TestRewritten(t *testing.T) {
	t.Parallel()
	r := httptest.NewRequestWithContext(t.Context(), "GET", "/elsewhere", nil)
	r.URL.Path = "/orders"
	if got := mount.Prefix(r); got != "" {
		t.Errorf("prefix %q of a rewritten path", got)
	}
}

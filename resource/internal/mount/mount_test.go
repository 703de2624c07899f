package mount_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
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

// The route has segments of the pattern and none of the request.
func TestRoute(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, pattern, target, strip, marker, path, want string }{
		{"at the root", "/", "/notes/1", "", "", "/notes/{id}", "/notes/{id}"},
		{"no pattern", "", "/t/acme/notes", "/t/acme", "", "/notes", "/notes"},
		{"a prefix", "/api/", "/api/notes", "/api", "", "/notes", "/api/notes"},
		{"a host and a method", "GET example.com/api/", "/api/notes", "/api", "", "/notes", "/api/notes"},
		{"an escaped prefix", "/api/", "/%61pi/notes", "/%61pi", "", "/notes", "/api/notes"},
		{"net/http", "/t/{tenant}/", "/t/acme/notes", "/t/acme", "", "/notes", "/t/{tenant}/notes"},
		{"net/http, the rest", "/t/{tenant}/{rest...}", "/t/acme/notes", "/t/acme", "", "/notes", "/t/{tenant}/notes"},
		{"chi", "/t/{tenant}/*", "/t/acme/notes", "/t/acme", "", "/notes", "/t/{tenant}/notes"},
		{"chi, an expression", "/t/{tenant:[a-z]+}/*", "/t/acme/notes", "/t/acme", "", "/notes",
			"/t/{tenant:[a-z]+}/notes"},
		{"chi, an expression with a slash", "/t/{tenant:[^/]+}/*", "/t/acme/notes", "/t/acme", "", "/notes", "/notes"},
		{"echo", "/t/:tenant/*", "/t/acme/notes", "/t/acme", "", "/notes", "/t/{tenant}/notes"},
		{"an escaped slash", "/t/{tenant}/", "/t/a%2Fb/notes", "/t/a%2Fb", "", "/notes", "/t/{tenant}/notes"},
		{"a pattern of the whole path", "/t/:tenant/notes", "/t/acme/notes", "/t/acme", "", "/notes",
			"/t/{tenant}/notes"},
		{"a pattern below the mount", "/t/{tenant}/notes/", "/t/acme/notes/1", "/t/acme", "", "/notes/{id}",
			"/t/{tenant}/notes/{id}"},
		{"a pattern that is not stripped", "/t/{tenant}/graphql", "/t/acme/graphql", "", "", "/graphql",
			"/t/{tenant}/graphql"},
		{"a part of the prefix", "/t/", "/t/acme/notes", "/t/acme", "", "/notes", "/notes"},
		{"the rest is the tenant", "/t/{rest...}", "/t/acme/notes", "/t/acme", "", "/notes", "/notes"},
		{"the rest of echo is the tenant", "/t/*", "/t/acme/notes", "/t/acme", "", "/notes", "/notes"},
		{"a mux below the prefix", "/", "/t/acme/notes", "/t/acme", "", "/notes", "/notes"},
		{"a wildcard below a prefix", "/{tenant}/", "/t/acme/notes", "/t/acme", "", "/notes", "/notes"},
		{"another literal", "/u/{tenant}/", "/t/acme/notes", "/t/acme", "", "/notes", "/notes"},
		{"a short pattern", "/t", "/t/acme/notes", "/t/acme", "", "/notes", "/notes"},
		{"a version", "/", "/v1/notes", "/v1", "/v1", "/v1/notes", "/v1/notes"},
		{"a version below a prefix", "/t/{tenant}/", "/t/acme/v1/notes", "/t/acme/v1", "/v1", "/v1/notes",
			"/t/{tenant}/v1/notes"},
		{"a mux below a version", "/graphql", "/v1/graphql", "/v1", "/v1", "/v1/graphql", "/v1/graphql"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequestWithContext(t.Context(), "GET", tt.target, nil)
			r.URL.RawPath = strings.TrimPrefix(tt.target, tt.strip)
			path, err := url.PathUnescape(r.URL.RawPath)
			if err != nil {
				t.Fatal(err)
			}
			r.URL.Path, r.Pattern = path, tt.pattern
			if got := mount.Route(r, tt.marker, tt.path); got != tt.want {
				t.Errorf("route %q, want %q", got, tt.want)
			}
		})
	}
}

package version_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stoa-go/stoa/version"
)

// Middleware around the Negotiator can read the pattern that matched.
func TestPattern(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /orders/{id}", func(http.ResponseWriter, *http.Request) {})
	n := version.New([]version.Contract{{Name: "1.0.0", Handler: mux}}, []version.Strategy{version.Path{}},
		nil)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/orders/7", nil)
	n.ServeHTTP(httptest.NewRecorder(), r)
	if want := "GET /orders/{id}"; r.Pattern != want {
		t.Errorf("the pattern is %q, want %q", r.Pattern, want)
	}
}

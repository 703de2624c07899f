package main

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/examples/internal/recipe"
	"github.com/stoa-go/stoa/middleware"
)

func TestReadme(t *testing.T) {
	t.Parallel()
	recipe.Readme(t)
}

// ask sends a request as a browser does for a page of an origin.
func ask(t *testing.T, h http.Handler, method, target, body, origin string, header ...string) *http.Response {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
	r.Header.Set("Origin", origin)
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

// A preflight request allows each method and each header field that a client of the API may use
// (rule 151).
func TestPreflight(t *testing.T) {
	t.Parallel()
	h := newHandler()
	for _, method := range []string{"GET", "HEAD", "QUERY", "POST", "PUT", "PATCH", "DELETE"} {
		for _, field := range append(middleware.AllowedHeaders(), "X-Unknown") {
			resp := ask(t, h, "OPTIONS", "/notes/1", "", app, "Access-Control-Request-Method: "+method,
				"Access-Control-Request-Headers: "+strings.ToLower(field))
			allowed := resp.Header.Get("Access-Control-Allow-Origin") == app &&
				strings.EqualFold(resp.Header.Get("Access-Control-Allow-Headers"), field)
			if resp.StatusCode != http.StatusNoContent || allowed != (field != "X-Unknown") {
				t.Errorf("%s with %s: %d %v", method, field, resp.StatusCode, resp.Header)
			}
		}
	}
	resp := ask(t, h, "OPTIONS", "/notes/1", "", "https://evil.example", "Access-Control-Request-Method: GET")
	if got := resp.Header.Get("Access-Control-Allow-Origin"); got != "" {
		t.Errorf("another origin is allowed: %q", got)
	}
}

// The page creates a note, retries with the same key, and can read the header fields that it needs,
// also of errors.
func TestPage(t *testing.T) {
	t.Parallel()
	h := newHandler()
	const token, key = "Authorization: Bearer open-sesame", `Idempotency-Key: "k1"`
	for _, tt := range []struct {
		name, method, target, origin string
		header                       []string
		status                       int
		readable                     []string // fields of the response that the page may read
	}{
		{"create", "POST", "/notes", app, []string{token, key}, 201, []string{"ETag", "Location", "X-Request-Id"}},
		{"a retry", "POST", "/notes", app, []string{token, key}, 201, []string{"ETag", "Location", "Idempotency-Replayed"}},
		{"no token", "POST", "/notes", app, nil, 401, []string{"WWW-Authenticate"}},
		{"a long target", "POST", "/notes?" + strings.Repeat("x", 9000), app, []string{token}, 414, []string{"X-Request-Id"}},
		{"another origin", "POST", "/notes", "https://evil.example", []string{token}, 403, nil},
		{"another origin reads", "GET", "/notes", "https://evil.example", nil, 200, nil},
	} {
		resp := ask(t, h, tt.method, tt.target, `{"text":"buy oil"}`, tt.origin,
			append(tt.header, "Content-Type: application/json")...)
		if resp.StatusCode != tt.status {
			t.Errorf("%s: %d, want %d", tt.name, resp.StatusCode, tt.status)
		}
		if got := resp.Header.Get("Access-Control-Allow-Origin"); (got == app) != (tt.origin == app) {
			t.Errorf("%s: Access-Control-Allow-Origin is %q", tt.name, got)
		}
		exposed := strings.Split(strings.ToLower(resp.Header.Get("Access-Control-Expose-Headers")), ", ")
		for _, field := range tt.readable {
			if resp.Header.Get(field) == "" || !slices.Contains(exposed, strings.ToLower(field)) {
				t.Errorf("%s: the page cannot read %s: %v", tt.name, field, resp.Header)
			}
		}
	}
}

// TestQuery: QUERY needs a preflight, because it is not on the safelist of CORS (RFC 10008 section 4).
// The page reads the URL of the equivalent GET.
func TestQuery(t *testing.T) {
	t.Parallel()
	h := newHandler()
	preflight := ask(t, h, "OPTIONS", "/notes", "", app, "Access-Control-Request-Method: QUERY",
		"Access-Control-Request-Headers: content-type")
	if got := preflight.Header.Get("Access-Control-Allow-Methods"); got != "QUERY" {
		t.Errorf("Access-Control-Allow-Methods: %q", got)
	}
	resp := ask(t, h, "QUERY", "/notes", `{"limit":1}`, app, "Content-Type: application/json")
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Location") != "/notes?limit=1" {
		t.Errorf("%d, Location: %q", resp.StatusCode, resp.Header.Get("Location"))
	}
	exposed := strings.ToLower(resp.Header.Get("Access-Control-Expose-Headers"))
	for _, field := range []string{"location", "content-location", "accept-query"} {
		if !slices.Contains(strings.Split(exposed, ", "), field) {
			t.Errorf("the page cannot read %s: %s", field, exposed)
		}
	}
}

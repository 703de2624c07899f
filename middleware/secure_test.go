package middleware_test

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stoa-go/stoa/middleware"
	"github.com/stoa-go/stoa/resource/problem"
)

func TestSecureHeaders(t *testing.T) {
	t.Parallel()
	defaults := http.Header{"X-Content-Type-Options": {"nosniff"}, "Referrer-Policy": {"no-referrer"},
		"X-Frame-Options":         {"DENY"},
		"Content-Security-Policy": {"default-src 'none'; frame-ancestors 'none'"}}
	with := func(name, value string) http.Header {
		h := defaults.Clone()
		h.Set(name, value)
		return h
	}
	hsts := &middleware.SecureHeadersOptions{HSTS: 365 * 24 * time.Hour, Subdomains: true}
	tests := []struct {
		name string
		opts *middleware.SecureHeadersOptions
		tls  bool
		h    http.HandlerFunc
		want http.Header
	}{
		{"defaults", nil, true, ok, defaults},
		{"a page", nil, false, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Security-Policy", "default-src 'self'")
		}, with("Content-Security-Policy", "default-src 'self'")},
		{"without TLS", hsts, false, ok, defaults},
		{"with TLS", hsts, true, ok,
			with("Strict-Transport-Security", "max-age=31536000; includeSubDomains")},
		{"others", &middleware.SecureHeadersOptions{Content: "default-src 'self'", Referrer: "-", Frame: "-"},
			false, ok,
			http.Header{"X-Content-Type-Options": {"nosniff"},
				"Content-Security-Policy": {"default-src 'self'"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequest("GET", "/", nil)
			if tt.tls {
				r.TLS = &tls.ConnectionState{}
			}
			w := httptest.NewRecorder()
			middleware.SecureHeaders(tt.opts)(tt.h).ServeHTTP(w, r)
			if diff := cmp.Diff(tt.want, w.Header()); diff != "" {
				t.Errorf("header (-want +got):\n%s", diff)
			}
		})
	}
	w := httptest.NewRecorder()
	w.Header().Set("X-Frame-Options", "SAMEORIGIN")
	middleware.SecureHeaders(nil)(http.HandlerFunc(ok)).ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	if got := w.Header()["X-Frame-Options"]; len(got) != 1 || got[0] != "SAMEORIGIN" {
		t.Errorf("X-Frame-Options of somebody outside became %q", got)
	}
}

func TestCrossOrigin(t *testing.T) {
	t.Parallel()
	h := middleware.CrossOrigin(&middleware.CrossOriginOptions{Trusted: []string{"https://app.example"},
		Bypass: []string{"/hooks/"}})(
		http.HandlerFunc(ok))
	tests := []struct {
		name, method, target, site, origin string
		refused                            bool
	}{
		{"no browser", "POST", "/", "", "", false},
		{"same origin", "POST", "/", "same-origin", "http://example.com", false},
		{"cross-site", "POST", "/", "cross-site", "https://evil.example", true},
		{"same site", "DELETE", "/", "same-site", "https://www.example.com", true},
		{"old browser", "PUT", "/", "", "https://evil.example", true},
		{"old browser, same origin", "PUT", "/", "", "http://example.com", false},
		{"sandbox", "PATCH", "/", "", "null", true},
		{"reading", "GET", "/", "cross-site", "https://evil.example", false},
		{"trusted", "POST", "/", "cross-site", "https://app.example", false},
		{"trusted, another port", "POST", "/", "cross-site", "https://app.example:8443", true},
		{"bypass", "POST", "/hooks/x", "cross-site", "https://evil.example", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequest(tt.method, tt.target, nil)
			for name, value := range map[string]string{"Sec-Fetch-Site": tt.site, "Origin": tt.origin} {
				if value != "" {
					r.Header.Set(name, value)
				}
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if tt.refused {
				wantRecorded(t, w, problem.Forbidden)
			} else if w.Code != http.StatusOK {
				t.Errorf("%d %s", w.Code, w.Body)
			}
		})
	}
	defer func() {
		if text, _ := recover().(string); !strings.HasPrefix(text,
			"middleware: CrossOriginOptions.Trusted: ") {
			t.Errorf("panics with %q", text)
		}
	}()
	middleware.CrossOrigin(&middleware.CrossOriginOptions{Trusted: []string{"app.example"}})
}

// TestRule151HeaderLists: what a page of another origin needs is there.
func TestRule151HeaderLists(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		got  []string
		want string
	}{
		{"exposed", middleware.ExposedHeaders("X-Mine"),
			"ETag Location Link Content-Location Allow Accept-Patch Deprecation Sunset RateLimit " +
				"RateLimit-Policy Retry-After API-Version Preference-Applied Idempotency-Replayed WWW-Authenticate X-Request-Id X-Mine"},
		{"allowed", middleware.AllowedHeaders("X-Mine"),
			"API-Version Idempotency-Key If-Match If-None-Match Authorization Content-Type Prefer " +
				"Last-Event-ID GraphQL-Require-Preflight X-Mine"},
	}
	for _, tt := range tests {
		have := map[string]bool{}
		for _, name := range tt.got {
			if have[http.CanonicalHeaderKey(name)] {
				t.Errorf("%s: %s is there twice", tt.name, name)
			}
			have[http.CanonicalHeaderKey(name)] = true
		}
		for name := range strings.FieldsSeq(tt.want) {
			if !have[http.CanonicalHeaderKey(name)] {
				t.Errorf("%s: %s is missing", tt.name, name)
			}
		}
	}
	if a := middleware.ExposedHeaders(); len(a) > 0 {
		a[0] = "changed"
		if middleware.ExposedHeaders()[0] == "changed" {
			t.Error("the list is the same for everybody")
		}
	}
}

func ExampleExposedHeaders() {
	fmt.Println(strings.Join(middleware.ExposedHeaders(), ", "))
	// Output: Accept-Patch, Accept-Post, Accept-Query, Accept-Ranges, Allow, API-Version, Content-Location, Content-Range, Deprecation, ETag, Event-Cursor, Idempotency-Replayed, Idempotency-Result, Link, Location, Preference-Applied, RateLimit, RateLimit-Policy, Repr-Digest, Retry-After, Sunset, WWW-Authenticate, X-Request-Id
}

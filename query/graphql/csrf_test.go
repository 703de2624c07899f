package graphql_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stoa-go/stoa/query/graphql"
)

// TestCrossSiteRequests checks that requests that a page of another site can cause are rejected.
func TestCrossSiteRequests(t *testing.T) {
	t.Parallel()
	h := newTestHandler(t, func(s *setup) {
		s.opts.Origins = []string{"https://app.example.org"}
		s.opts.PreflightHeaders = []string{"x-shop"}
	})
	const here, there, app = "Origin: https://example.com", "Origin: https://evil.example",
		"Origin: https://App.example.org"
	tests := []struct {
		name      string
		fields    []string
		get, post bool
	}{
		{"a program", nil, true, true},
		{"our page", []string{"Sec-Fetch-Site: same-origin", here}, true, true},
		{"the address bar", []string{"Sec-Fetch-Site: none"}, true, true},
		{"another site", []string{"Sec-Fetch-Site: cross-site"}, false, false},
		{"another site, with its origin", []string{"Sec-Fetch-Site: cross-site", there}, false, false},
		{"another host of the site", []string{"Sec-Fetch-Site: same-site",
			"Origin: https://blog.example.com"}, false, true},
		{"a site that is spelled like none", []string{"Sec-Fetch-Site: elsewhere"}, false, false},
		{"another site with a forged origin", []string{"Sec-Fetch-Site: cross-site", here}, false,
			false},
		{"an old browser, our page", []string{here}, true, true},
		{"an old browser, our page without TLS", []string{"Origin: http://EXAMPLE.com"}, true, true},
		{"an old browser, another site", []string{there}, false, false},
		{"an old browser, another port", []string{"Origin: https://example.com:8443"}, false, false},
		{"an origin that is kept secret", []string{"Origin: null"}, false, false},
		{"two origins", []string{here, here}, false, false},
		{"an origin that may", []string{app}, true, true},
		{"an origin that may, from another site", []string{"Sec-Fetch-Site: cross-site", app}, true, true},
		{"permission was asked: Apollo", []string{"Sec-Fetch-Site: cross-site",
			"Apollo-Require-Preflight: 1"}, true, false},
		{"permission was asked: GraphQL", []string{there, "GraphQL-Require-Preflight: 1"}, true, false},
		{"permission was asked: an old custom",
			[]string{"Sec-Fetch-Site: cross-site", "X-Requested-With: XMLHttpRequest"}, true, false},
		{"permission was asked: our own", []string{"Sec-Fetch-Site: cross-site", "X-Shop: 1"}, true, false},
		{"permission was asked: a type", []string{"Sec-Fetch-Site: cross-site", jsonBody}, true, false},
		{"a type that needs none", []string{"Sec-Fetch-Site: cross-site",
			"Content-Type: Text/Plain;charset=utf-8"}, false, false},
		{"a header of a proxy", []string{"Sec-Fetch-Site: cross-site", "X-Forwarded-For: 192.0.2.1"}, false,
			false},
		{"credentials", []string{"Sec-Fetch-Site: cross-site", "Authorization: Basic eDp5"}, false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			check := func(res *answer, may bool) {
				t.Helper()
				if may {
					want(t, res, http.StatusOK)
					return
				}
				wantCode(t, res, http.StatusForbidden, "FORBIDDEN")
			}
			get := request(t, "GET /graphql?query="+url.QueryEscape("{__typename}"), tt.fields...)
			check(answered(h, get), tt.get)
			post := request(t, "POST /graphql", append(tt.fields, "", typenameBody)...)
			post.Header.Set("Content-Type", "application/json")
			check(answered(h, post), tt.post)
			if tt.get {
				return
			}
			// The schema and the page do not depend on the caller.
			want(t, answered(h, request(t, "GET /graphql/schema.graphql", tt.fields...)), http.StatusOK)
		})
	}
}

// TestInvalidOrigins checks that New panics for an origin that no request can have.
func TestInvalidOrigins(t *testing.T) {
	t.Parallel()
	c, _ := catalog(t)
	for _, origin := range []string{"", "*", "example.com", "https://example.com/", "https://example.com/a",
		"https://", "null"} {
		t.Run(origin, func(t *testing.T) {
			t.Parallel()
			wantPanic(t, "Options.Origins", func() {
				graphql.New(c,
					&graphql.Options{Origins: []string{origin}})
			})
		})
	}
}

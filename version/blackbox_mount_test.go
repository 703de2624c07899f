package version_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/contract"
	"github.com/stoa-go/stoa/version"
)

func TestRule042LinksStayInTheStrategy(t *testing.T) {
	t.Parallel()
	api, _ := openMarket(t)
	type links struct{ Link, Linked, Param string }
	tests := []struct {
		line   string
		fields []string
		want   links
		source version.Strategy
	}{
		{"GET /v1/x", nil, links{"/v1/orders/5", "/v1/orders?after=x", ""}, version.Path{}},
		{"GET /1.1/x", nil, links{"/1.1/orders/5", "/1.1/orders?after=x", ""}, version.Path{}},
		{"GET /x?version=v1", nil, links{"/orders/5?version=v1", "/orders?after=x&version=v1", "version=v1"},
			version.Query{}},
		{"GET /x?a=b&version=1.1", nil, links{"/orders/5?version=1.1", "/orders?after=x&version=1.1",
			"version=1.1"},
			version.Query{}},
		{"GET /x", []string{"API-Version: 1"}, links{"/orders/5", "/orders?after=x", ""}, version.Header{}},
		{"GET /x", []string{"Accept: " + vnd("1.order")}, links{"/orders/5", "/orders?after=x", ""},
			version.MediaType{}},
		{"GET /x", []string{"Host: api-v1.market.example"}, links{"/orders/5", "/orders?after=x", ""},
			version.Host{}},
		{"POST /x", []string{asJSON, "", `{"version":"1"}`}, links{"/orders/5", "/orders?after=x", ""},
			version.Body{}},
		{"GET /v1/x", []string{"API-Version: 1"}, links{"/v1/orders/5", "/v1/orders?after=x", ""},
			version.Path{}},
	}
	for _, tt := range tests {
		t.Run(tt.line+strings.Join(tt.fields, " "), func(t *testing.T) {
			t.Parallel()
			s := ask(t, api, tt.line, tt.fields...).saw(t, "1.1.0")
			if diff := cmp.Diff(tt.want, links{s.Link, s.Linked, s.Param}); diff != "" {
				t.Errorf("links (-want +got):\n%s", diff)
			}
			for _, strategy := range everyStrategy() {
				if sameType(strategy, tt.source) && s.Source != strategy.Source() {
					t.Errorf("Source() = %q, want %q", s.Source, strategy.Source())
				}
			}
			// The link leads to the same contract.
			if len(tt.fields) == 0 {
				ask(t, api, "GET "+s.Link).saw(t, "1.1.0")
				ask(t, api, "GET "+s.Linked).saw(t, "1.1.0")
			}
		})
	}
	// Path and query both: both are kept.
	s := ask(t, api, "GET /v1/x?version=1").saw(t, "1.1.0")
	ask(t, api, "GET "+s.Link).saw(t, "1.1.0")
	if !strings.HasPrefix(s.Link, "/v1/orders/5") {
		t.Errorf("URL is %s", s.Link)
	}
	if s := ask(t, api, "GET /x").saw(t, "2.0.0"); s.Link != "/orders/5" || s.Source != "" || s.Param != "" {
		t.Errorf("by default: %s, %q, %q", s.Link, s.Source, s.Param)
	}
}

func sameType(a, b version.Strategy) bool {
	kind := func(s version.Strategy) int {
		switch s.(type) {
		case version.Path:
			return 1
		case version.Host:
			return 2
		case version.Query:
			return 3
		case version.Header:
			return 4
		case version.MediaType:
			return 5
		case version.Body:
			return 6
		}
		return 0
	}
	return kind(a) == kind(b)
}

func TestRule042WhereNothingSelected(t *testing.T) {
	t.Parallel()
	var s seen
	s.look(contract.From(context.Background()))
	want := seen{Link: "/orders/5", Linked: "/orders?after=x", Answer: "application/json"}
	if diff := cmp.Diff(want, s); diff != "" {
		t.Errorf("without a contract (-want +got):\n%s", diff)
	}
}

func TestMountedUnderAPrefix(t *testing.T) {
	t.Parallel()
	api, _ := openMarket(t)
	mux := http.NewServeMux()
	mux.Handle("/api/", http.StripPrefix("/api", api))
	mux.Handle("/tenants/{tenant}/", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.StripPrefix("/tenants/"+r.PathValue("tenant"), api).ServeHTTP(w, r)
	}))
	mux.HandleFunc("/health", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") })
	tests := []struct{ target, contract, path, raw, link, successor string }{
		{"/api/v1/orders", "1.1.0", "/orders", "", "/v1/orders/5", "/api/v2/orders"},
		{"/api/v1/a%2Fb", "1.1.0", "/a/b", "/a%2Fb", "/v1/orders/5", "/api/v2/a%2Fb"},
		{"/api/v1/", "1.1.0", "/", "", "/v1/orders/5", "/api/v2/"},
		{"/api/v1", "1.1.0", "/", "", "/v1/orders/5", ""},
		{"/api/v1/orders?limit=5&q=%20", "1.1.0", "/orders", "", "/v1/orders/5", "/api/v2/orders"},
		{"/api/orders", "2.0.0", "/orders", "", "/orders/5", ""},
		{"/api/orders?version=1&limit=5", "1.1.0", "/orders", "", "/orders/5?version=1", ""},
		{"/tenants/a%20b/v1/orders", "1.1.0", "/orders", "", "/v1/orders/5", "/tenants/a%20b/v2/orders"},
	}
	for _, tt := range tests {
		t.Run(tt.target, func(t *testing.T) {
			t.Parallel()
			res := ask(t, mux, "GET "+tt.target)
			s := res.saw(t, tt.contract)
			want := seen{Path: tt.path, RawPath: tt.raw, Link: tt.link, Target: tt.target}
			if diff := cmp.Diff(want, seen{Path: s.Path, RawPath: s.RawPath, Link: s.Link,
				Target: s.Target}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if tt.successor != "" {
				ask(t, mux, "GET "+tt.successor).saw(t, "2.0.0")
				if got := linkTo(res, "successor-version"); got != tt.successor {
					t.Errorf("successor %s, want %s", got, tt.successor)
				}
			}
		})
	}
	// A path may have what a scheme ends with.
	if got := linkTo(ask(t, http.StripPrefix("/api", api), "GET /api/v1/a://b"),
		"successor-version"); got != "/api/v2/a://b" {
		t.Errorf("the successor of a path with a colon is %s", got)
	}
	// A neutral route knows of no versions (rule 40).
	res := ask(t, mux, "GET /health", "API-Version: 7", "Host: elsewhere.example")
	res.has(t, http.StatusOK, "API-Version:", "Vary:")
}

// linkTo is the target of the link with this relation; "" if there is none.
func linkTo(a *answer, rel string) string {
	for link := range strings.SplitSeq(strings.Join(a.header["Link"], ", "), "<") {
		target, params, _ := strings.Cut(link, ">")
		if strings.Contains(params, `rel="`+rel+`"`) {
			return target
		}
	}
	return ""
}

// A contract is any handler, so also a mux with patterns, or one that strips a prefix itself.
func TestMuxAsContract(t *testing.T) {
	t.Parallel()
	api, _ := openMarket(t, func(m *market) {
		m.stall = func(contract string) http.Handler {
			mux := http.NewServeMux()
			mux.HandleFunc("GET /orders/{id}", func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.WriteString(w, contract+" "+r.PathValue("id")+" "+r.Pattern)
			})
			mux.Handle("/inner/", http.StripPrefix("/inner", seenBy(contract)))
			mux.HandleFunc("/{$}", func(w http.ResponseWriter, _ *http.Request) {
				_, _ = io.WriteString(w, contract+" root")
			})
			return mux
		}
	})
	outer := http.NewServeMux()
	outer.Handle("/{rest...}", api)
	for _, h := range []http.Handler{api, outer} {
		for target, want := range map[string]string{
			"/v1/orders/5":          "1.1.0 5 GET /orders/{id}",
			"/orders/5":             "2.0.0 5 GET /orders/{id}",
			"/v1/orders/a%2Fb":      "1.1.0 a/b GET /orders/{id}",
			"/orders/a%2Fb":         "2.0.0 a/b GET /orders/{id}",
			"/orders/%31?version=1": "1.1.0 1 GET /orders/{id}",
			"/v1":                   "1.1.0 root",
			"/v1/":                  "1.1.0 root",
		} {
			res := ask(t, h, "GET "+target)
			if res.status != http.StatusOK || res.body != want {
				t.Errorf("%s: %d %q, want %q", target, res.status, res.body, want)
			}
		}
		res := ask(t, h, "GET /v1/nothing/here")
		res.has(t, http.StatusNotFound, "API-Version: 1.1.0")
		res.varies(t, "Accept", "API-Version")
		ask(t, h, "DELETE /v1/orders/5").has(t, http.StatusMethodNotAllowed, "API-Version: 1.1.0",
			"Allow: GET, HEAD")
		s := ask(t, h, "GET /v1/inner/a%2Fb").saw(t, "1.1.0")
		if s.Path != "/a/b" || s.RawPath != "/a%2Fb" {
			t.Errorf("the inner handler saw %q, %q", s.Path, s.RawPath)
		}
	}
}

// The contract has the path values of an outer mux.
func TestPathValuesAreKept(t *testing.T) {
	t.Parallel()
	api, _ := openMarket(t, answering(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.PathValue("tenant")+" "+r.URL.Path)
	}))
	mux := http.NewServeMux()
	mux.Handle("/{tenant}/v1/", http.StripPrefix("/acme", api))
	if res := ask(t, mux, "GET /acme/v1/x"); res.body != "acme /x" {
		t.Errorf("%d %q", res.status, res.body)
	}
}

// A Negotiator per part of the API: the inner one decides what the outer one left.
func TestNegotiatorsNest(t *testing.T) {
	t.Parallel()
	inner, _ := openMarket(t, only(version.Header{Name: "Part-Version"}))
	outer, _ := openMarket(t, only(version.Path{}, version.Header{Name: "API-Version"}),
		func(m *market) { m.stall = func(string) http.Handler { return inner } })
	res := ask(t, outer, "GET /v2/orders", "Part-Version: 1")
	res.has(t, http.StatusOK, "API-Version: 2.0.0", "Part-Version: 1.1.0")
	res.varies(t, "API-Version", "Part-Version")
	if s := res.saw(t, "1.1.0"); s.Path != "/orders" {
		t.Errorf("path %s", s.Path)
	}
	ask(t, outer, "GET /v1/orders", "Part-Version: 0.9").
		has(t, http.StatusGone, "API-Version: 1.1.0", "Part-Version: 0.9.0")
}

type ctxKey struct{}

// The handler receives the complete request.
func TestContextsAreKept(t *testing.T) {
	t.Parallel()
	api, _ := openMarket(t, answering(func(w http.ResponseWriter, r *http.Request) {
		value, _ := r.Context().Value(ctxKey{}).(string)
		_, _ = io.WriteString(w, value+" "+contract.From(r.Context()).Name()+" "+contract.From(
			context.WithValue(r.Context(), ctxKey{}, "other")).Name())
		if r.Context().Err() == nil {
			t.Error("the context of the request was cancelled, and this one is not")
		}
	}))
	ctx, cancel := context.WithCancel(context.WithValue(t.Context(), ctxKey{}, "mine"))
	cancel()
	res := recorded(t, api, asked(t, "GET /v1/x").WithContext(ctx))
	if res.body != "mine 1.1.0 1.1.0" {
		t.Errorf("%q", res.body)
	}
}

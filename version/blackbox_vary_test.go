package version_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/contract"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/version"
)

func TestRule036VaryOfEveryAnswer(t *testing.T) {
	t.Parallel()
	status := func(code int) func(*market) {
		return answering(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) })
	}
	for _, code := range []int{200, 201, 204, 206, 301, 304, 400, 401, 403, 404, 405, 406, 410, 412, 415, 429,
		500, 503} {
		api, _ := openMarket(t, status(code))
		for _, line := range []string{"GET /v1/orders", "HEAD /orders", "DELETE /orders/1",
			"OPTIONS /orders"} {
			res := ask(t, api, line)
			res.varies(t, "Accept", "API-Version")
			res.has(t, code, "API-Version: *")
		}
	}
	api, _ := openMarket(t)
	for _, rest := range [][]string{
		{"GET /v7/orders"}, {"GET /v01/orders"}, {"GET /v0/orders"}, {"GET /orders?version=7"},
		{"GET /orders?version=x"},
		{"GET /v1/orders?version=2"}, {"GET /orders", "API-Version: 7"},
		{"GET /orders", "Host: elsewhere.example"},
		{"GET /orders", "Accept: " + vnd("7.order")}, {"POST /orders", "Content-Type: " + vnd("7.order"), "",
			`{}`},
		{"POST /orders", asJSON, "", `{"version":"7"}`}, {"HEAD /v7/orders"}, {"HEAD /v0/orders"},
	} {
		res := ask(t, api, rest[0], rest[1:]...)
		res.varies(t, "Accept", "API-Version")
		if res.status < 400 {
			t.Errorf("%q: status %d", rest, res.status)
		}
	}
	none, _ := openMarket(t, withDefault(""))
	ask(t, none, "GET /orders").varies(t, "Accept", "API-Version")
}

func TestRule036VaryIsMerged(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		own  []string // lines of the handler
		want []string
	}{
		{"none", nil, []string{"accept", "api-version"}},
		{"another", []string{"Accept-Encoding"}, []string{"accept", "api-version", "accept-encoding"}},
		{"the same", []string{"Accept"}, []string{"accept", "api-version"}},
		{"the same in other case", []string{"ACCEPT, api-version"}, []string{"accept", "api-version"}},
		{"lines", []string{"Origin", "Accept-Encoding,Accept"},
			[]string{"accept", "api-version", "origin", "accept-encoding"}},
		{"blanks", []string{" , Origin ,, "}, []string{"accept", "api-version", "origin"}},
		{"twice by itself", []string{"Origin, Origin", "origin"},
			[]string{"accept", "api-version", "origin"}},
		{"the beginning of another", []string{"Accept-Encoding, API-Version-Extra"},
			[]string{"accept", "api-version", "accept-encoding", "api-version-extra"}},
		{"star", []string{"*"}, []string{"*"}},
		{"star among others", []string{"Origin, *"}, []string{"*"}},
		{"empty", []string{""}, []string{"accept", "api-version"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			api, _ := openMarket(t, answering(func(w http.ResponseWriter, _ *http.Request) {
				for _, line := range tt.own {
					w.Header().Add("Vary", line)
				}
				w.Header().Set("Cache-Control", "public, max-age=60")
				w.Header().Add("Link", `</own>; rel="own"`)
				_, _ = w.Write([]byte("x"))
			}))
			for range 3 { // whatever is remembered of the first time
				res := ask(t, api, "GET /v1/orders")
				res.varies(t, tt.want...)
				res.has(t, http.StatusOK, "Cache-Control: public, max-age=60")
				links := strings.Join(res.header["Link"], ", ")
				if !strings.Contains(links, `</own>; rel="own"`) ||
					!strings.Contains(links, `rel="successor-version"`) {
					t.Errorf("Link: %s", links)
				}
			}
		})
	}
}

// Middleware around the Negotiator keeps the fields that it has set.
func TestRule036VaryFromOutside(t *testing.T) {
	t.Parallel()
	api, _ := openMarket(t)
	outer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Vary", "Origin")
		w.Header().Set("X-Outer", "1")
		api.ServeHTTP(w, r)
	})
	for _, line := range []string{"GET /v1/orders", "GET /v7/orders", "GET /v0/orders"} {
		res := ask(t, outer, line)
		res.varies(t, "Origin", "Accept", "API-Version")
		res.has(t, res.status, "X-Outer: 1")
	}
}

// A handler that tidies up, or knows better, does not take away what caches need.
func TestRule036VaryCannotBeLost(t *testing.T) {
	t.Parallel()
	api, _ := openMarket(t, answering(func(w http.ResponseWriter, _ *http.Request) {
		clear(w.Header())
		w.Header().Set("API-Version", "9.9.9")
		w.WriteHeader(http.StatusTeapot)
		w.Header().Set("Vary", "Late")
	}))
	res := ask(t, api, "GET /v1/orders")
	res.varies(t, "Accept", "API-Version")
	res.has(t, http.StatusTeapot, "API-Version: 1.1.0", "Sunset: *")
}

func TestRule037VaryListsHeadersOnly(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name       string
		strategies []version.Strategy
		want       []string
	}{
		{"path", []version.Strategy{version.Path{}}, nil},
		{"host", []version.Strategy{version.Host{Domains: []string{"market.example"}}}, nil},
		{"query and body", []version.Strategy{version.Query{}, version.Body{}}, nil},
		{"header", []version.Strategy{version.Header{Name: "API-Version"}}, []string{"api-version"}},
		{"media type", []version.Strategy{version.MediaType{Vendor: "shop"}}, []string{"accept"}},
		{"own", []version.Strategy{version.Path{}, claim{}}, []string{"x-claim", "x-tenant"}},
		{"all", append(everyStrategy(), claim{}), []string{"accept", "api-version", "x-claim", "x-tenant"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			api, _ := openMarket(t, only(tt.strategies...))
			ask(t, api, "GET /orders").varies(t, tt.want...)
			for _, s := range tt.strategies {
				if s.Source() == "" {
					t.Errorf("%T has no Source", s)
				}
			}
			if diff := cmp.Diff(len(tt.strategies), len(api.Strategies())); diff != "" {
				t.Errorf("Strategies (-want +got):\n%s", diff)
			}
		})
	}
	// Whatever decides, all that could have decided are listed.
	api, _ := openMarket(t)
	for _, rest := range [][]string{
		{"GET /v1/orders"}, {"GET /orders?version=1"}, {"GET /orders", "Host: api-v1.market.example"},
		{"GET /orders"},
		{"GET /orders", "API-Version: 1"}, {"POST /orders", asJSON, "", `{"version":"1"}`},
	} {
		ask(t, api, rest[0], rest[1:]...).varies(t, "Accept", "API-Version")
	}
}

// claim is a strategy of an application.
type claim struct{}

func (claim) Source() string { return "the claim of the token" }
func (claim) Vary() []string { return []string{"X-Claim", "X-Tenant"} }
func (claim) Find(r *http.Request) (string, bool) {
	name, ok := r.Header["X-Claim"]
	if !ok {
		return "", false
	}
	return name[0], true
}

func TestOwnStrategy(t *testing.T) {
	t.Parallel()
	api, _ := openMarket(t, only(version.Path{}, claim{}))
	if s := ask(t, api, "GET /orders", "X-Claim: 1").saw(t, "1.1.0"); s.Source != (claim{}).Source() {
		t.Errorf("Source() = %q", s.Source)
	}
	if s := ask(t, api, "GET /v1/orders", "X-Claim: 1.1").saw(t,
		"1.1.0"); s.Source != (version.Path{}).Source() {
		t.Errorf("Source() = %q, want that of the first", s.Source)
	}
	for name, kind := range map[string]problem.Kind{
		"x": problem.MalformedVersion, "": problem.MalformedVersion, "7": problem.UnsupportedVersion,
		"0.9": problem.VersionRetired,
	} {
		ask(t, api, "GET /orders", "X-Claim: "+name).refused(t, kind.Status(), kind).wantSupported(t)
	}
	res := ask(t, api, "GET /v2/orders", "X-Claim: 1")
	r := res.refused(t, http.StatusBadRequest, problem.AmbiguousVersion)
	for _, source := range []string{(claim{}).Source(), (version.Path{}).Source()} {
		if !strings.Contains(r.Detail, source) {
			t.Errorf("%q does not name %q", r.Detail, source)
		}
	}
}

// A default that depends on the caller is private to that caller.
func TestRule036DefaultsByPrincipalArePrivate(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, own, want string }{
		{"none", "", "private"},
		{"public", "public, max-age=60", "max-age=60, private"},
		{"shared", "s-maxage=60, max-age=5", "max-age=5, private"},
		{"private", "private, no-cache", "private, no-cache"},
		{"no-store", "no-store", "no-store"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			api, _ := openMarket(t, func(m *market) {
				m.options.DefaultFor = func(r *http.Request) string { return r.Header.Get("X-Account") }
			}, answering(func(w http.ResponseWriter, r *http.Request) {
				if tt.own != "" {
					w.Header().Set("Cache-Control", tt.own)
				}
				w.Header().Set("X-Contract", contract.From(r.Context()).Name())
			}))
			res := ask(t, api, "GET /orders", "X-Account: 1.0.0")
			res.has(t, http.StatusOK, "X-Contract: 1.0.0")
			if diff := cmp.Diff(directives(tt.want),
				directives(res.header.Get("Cache-Control"))); diff != "" {
				t.Errorf("Cache-Control (-want +got):\n%s", diff)
			}
			// Nor may a cache give the account what those without one get.
			res = ask(t, api, "GET /orders")
			res.has(t, http.StatusOK, "X-Contract: 2.0.0")
			if diff := cmp.Diff(directives(tt.want),
				directives(res.header.Get("Cache-Control"))); diff != "" {
				t.Errorf("without an account: Cache-Control (-want +got):\n%s", diff)
			}
			// If the request names one, the URL or Vary is enough.
			ask(t, api, "GET /v1/orders", "X-Account: 1.0.0").
				has(t, http.StatusOK, "X-Contract: 1.1.0", "Cache-Control: "+tt.own)
		})
	}
	api, _ := openMarket(t, func(m *market) {
		m.options.DefaultFor = func(r *http.Request) string { return r.Header.Get("X-Account") }
	})
	ask(t, api, "GET /orders", "X-Account: 0.9.0").refused(t, http.StatusGone, problem.VersionRetired)
	if res := ask(t, api, "GET /orders", "X-Account: 7.0.0"); res.status < 400 {
		t.Errorf("an account that is pinned to nothing got %d: %s", res.status, res.body)
	}
}

// directives are the members of a Cache-Control field, as a set.
func directives(field string) map[string]bool {
	set := map[string]bool{}
	for d := range strings.SplitSeq(field, ",") {
		set[strings.ToLower(strings.TrimSpace(d))] = true
	}
	return set
}

// A preflight asks for another request, which has not named anything yet.
func TestRule151PreflightsAreNeverRefused(t *testing.T) {
	t.Parallel()
	api, _ := openMarket(t)
	preflight := []string{"Origin: https://app.example", "Access-Control-Request-Method: PUT"}
	tests := []struct {
		line     string
		fields   []string
		contract string
	}{
		{"OPTIONS /orders", nil, "2.0.0"},
		{"OPTIONS /v1/orders", nil, "1.1.0"},
		{"OPTIONS /orders", []string{"Host: api-v1.market.example"}, "1.1.0"},
		{"OPTIONS /orders", []string{"API-Version: 7"}, "2.0.0"},
		{"OPTIONS /orders?version=", nil, "2.0.0"},
		{"OPTIONS /v7/orders", nil, "2.0.0"},
		{"OPTIONS /v0/orders", nil, "2.0.0"},
		{"OPTIONS /v01/orders", nil, "2.0.0"},
		{"OPTIONS /orders", []string{"Accept: " + vnd("7.order")}, "2.0.0"},
	}
	for _, tt := range tests {
		t.Run(tt.line+strings.Join(tt.fields, " "), func(t *testing.T) {
			t.Parallel()
			res := ask(t, api, tt.line, append(tt.fields, preflight...)...)
			res.saw(t, tt.contract)
			res.varies(t, "Accept", "API-Version")
			// Neither half of it alone is a preflight.
			if strings.HasPrefix(tt.line, "OPTIONS /v7") {
				ask(t, api, tt.line, preflight[0]).refused(t, http.StatusNotFound, problem.UnsupportedVersion)
				ask(t, api, tt.line, preflight[1]).refused(t, http.StatusNotFound, problem.UnsupportedVersion)
				ask(t, api, "GET /v7/orders", preflight...).refused(t, http.StatusNotFound,
					problem.UnsupportedVersion)
			}
		})
	}
	none, _ := openMarket(t, withDefault(""))
	ask(t, none, "OPTIONS /orders", preflight...).saw(t, "2.0.0") // the newest current one, not the preview
}

package version_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/version"
)

func TestRule029TheQueryIsStripped(t *testing.T) {
	t.Parallel()
	api, _ := openMarket(t)
	tests := []struct{ query, contract, rest string }{
		{"version=1", "1.1.0", ""},
		{"version=v1.0", "1.0.0", ""},
		{"version=1&limit=5", "1.1.0", "limit=5"},
		{"limit=5&version=1", "1.1.0", "limit=5"},
		{"limit=5&version=1&sort=-a", "1.1.0", "limit=5&sort=-a"},
		{"version=1&version=1.1.0", "1.1.0", ""}, // twice, and equal after resolution
		{"version=v1&a=b&version=1.1", "1.1.0", "a=b"},
		{"%76ersion=1", "1.1.0", ""},
		{"version=%31%2E0", "1.0.0", ""},
		{"%56ersion=1", "2.0.0", "%56ersion=1"}, // names are case-sensitive
		{"Version=7", "2.0.0", "Version=7"},
		{"xversion=7&versions=8&version.x=9", "2.0.0", "xversion=7&versions=8&version.x=9"},
		{"a=version&b=version%3D7", "2.0.0", "a=version&b=version%3D7"},
		// The rest stays as it is spelled, however strange.
		{"q=a+b&version=1&r=%2b%20&s", "1.1.0", "q=a+b&r=%2b%20&s"},
		{"version=1&q=%zz", "1.1.0", "q=%zz"},
		{"q=%zz&r=1", "2.0.0", "q=%zz&r=1"},
		{"a=1&&b=2", "2.0.0", "a=1&&b=2"},
		{"=x", "2.0.0", "=x"},
		{"", "2.0.0", ""},
	}
	for _, tt := range tests {
		t.Run(tt.query, func(t *testing.T) {
			t.Parallel()
			s := ask(t, api, "GET /orders?"+tt.query).saw(t, tt.contract)
			if s.Query != tt.rest {
				t.Errorf("the handler saw the query %q, want %q", s.Query, tt.rest)
			}
			if s.Target != "/orders?"+tt.query {
				t.Errorf("RequestURI %q", s.Target)
			}
		})
	}
}

func TestRule029QueriesThatAreRefused(t *testing.T) {
	t.Parallel()
	api, _ := openMarket(t)
	for query, kind := range map[string]problem.Kind{
		"version":                 problem.MalformedVersion,
		"version=":                problem.MalformedVersion,
		"version=+1":              problem.MalformedVersion, // a blank
		"version=%zz":             problem.MalformedVersion,
		"version=1%00":            problem.MalformedVersion,
		"version=1&version=":      problem.MalformedVersion,
		"version=x&version=1":     problem.MalformedVersion,
		"version=1;2":             problem.MalformedVersion,
		"version=7":               problem.UnsupportedVersion,
		"version=3":               problem.UnsupportedVersion, // a preview
		"version=1&version=2":     problem.AmbiguousVersion,
		"version=1&version=1.0":   problem.AmbiguousVersion,
		"version=2&a=b&version=1": problem.AmbiguousVersion,
	} {
		t.Run(query, func(t *testing.T) {
			t.Parallel()
			res := ask(t, api, "GET /orders?"+query)
			res.refused(t, http.StatusBadRequest, kind).wantSupported(t)
			res.has(t, http.StatusBadRequest, "API-Version:")
			ask(t, api, "HEAD /orders?"+query).refused(t, http.StatusBadRequest, kind)
		})
	}
	ask(t, api, "GET /orders?version=0.9").refused(t, http.StatusGone, problem.VersionRetired)
}

func TestRule029NameOfTheParameter(t *testing.T) {
	t.Parallel()
	api, _ := openMarket(t, only(version.Query{Name: "api version"}))
	s := ask(t, api, "GET /orders?version=7&api+version=1").saw(t, "1.1.0")
	if s.Query != "version=7" {
		t.Errorf("the handler saw %q", s.Query)
	}
	ask(t, api, "GET /orders?api%20version=1").saw(t, "1.1.0")
	if s.Param != "api+version=1" && s.Param != "api%20version=1" {
		t.Errorf("Query() = %q", s.Param)
	}
}

func TestRule030EveryHeaderLineCounts(t *testing.T) {
	t.Parallel()
	api, _ := openMarket(t)
	tests := []struct {
		name     string
		fields   []string
		contract string
		kind     problem.Kind
	}{
		{"one", []string{"API-Version: 1"}, "1.1.0", ""},
		{"other case", []string{"api-version: v1.0"}, "1.0.0", ""},
		{"blanks", []string{"API-Version:   1  "}, "1.1.0", ""},
		{"two lines, equal", []string{"API-Version: 1", "API-Version: 1.1.0"}, "1.1.0", ""},
		{"a list, equal", []string{"API-Version: v1, 1.1 ,1.1.0"}, "1.1.0", ""},
		{"empty members", []string{"API-Version: , 1,,", "API-Version:"}, "1.1.0", ""},
		{"two lines, unequal", []string{"API-Version: 1", "API-Version: 2"}, "", problem.AmbiguousVersion},
		{"a list, unequal", []string{"API-Version: 1, 1.0"}, "", problem.AmbiguousVersion},
		{"malformed", []string{"API-Version: one"}, "", problem.MalformedVersion},
		{"malformed among good ones", []string{"API-Version: 1", "API-Version: one"}, "",
			problem.MalformedVersion},
		{"quoted", []string{`API-Version: "1"`}, "", problem.MalformedVersion},
		{"blank inside", []string{"API-Version: 1 .0"}, "", problem.MalformedVersion},
		{"present but empty", []string{"API-Version:"}, "", problem.MalformedVersion},
		{"only commas", []string{"API-Version: ,,"}, "", problem.MalformedVersion},
		{"unsupported", []string{"API-Version: 7"}, "", problem.UnsupportedVersion},
		{"retired", []string{"API-Version: 0.9"}, "", problem.VersionRetired},
		{"other fields", []string{"X-API-Version: 1", "Version: 1", "Accept-Version: 1"}, "2.0.0", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			res := ask(t, api, "GET /orders", tt.fields...)
			if tt.contract != "" {
				res.saw(t, tt.contract)
				res.has(t, http.StatusOK, "API-Version: "+tt.contract)
				return
			}
			res.refused(t, tt.kind.Status(), tt.kind).wantSupported(t)
		})
	}
}

// Each response names the contract, however it was requested.
func TestRule031EchoHoweverNamed(t *testing.T) {
	t.Parallel()
	api, _ := openMarket(t)
	tests := [][]string{
		{"GET /v1/orders"}, {"HEAD /v1/orders"}, {"DELETE /v1/orders/1"}, {"OPTIONS /v1/orders"},
		{"BREW /v1/orders"},
		{"GET /orders?version=1.1"}, {"GET /orders", "API-Version: v1"},
		{"GET /orders", "Host: api-v1.market.example"},
		{"GET /orders", "Accept: application/vnd.shop.1.order+json"},
		{"POST /orders", "Content-Type: application/vnd.shop.1.order+json", "", `{}`},
		{"POST /orders", asJSON, "", `{"version":"1"}`},
	}
	for _, tt := range tests {
		ask(t, api, tt[0], tt[1:]...).has(t, http.StatusOK, "API-Version: 1.1.0")
	}
	ask(t, api, "GET /orders").has(t, http.StatusOK, "API-Version: 2.0.0")
	ask(t, api, "GET /v0/orders").has(t, http.StatusGone, "API-Version: 0.9.0")
	ask(t, api, "GET /v7/orders").has(t, http.StatusNotFound, "API-Version:")

	silent, _ := openMarket(t, only(version.Path{}, version.Query{}))
	ask(t, silent, "GET /v1/orders").has(t, http.StatusOK, "API-Version:", "Vary:")
	twice, _ := openMarket(t,
		only(version.Header{Name: "API-Version"}, version.Header{Name: "X-Old-Version"}))
	ask(t, twice, "GET /orders", "X-Old-Version: 1").has(t, http.StatusOK, "API-Version: 1.1.0",
		"X-Old-Version: 1.1.0")
	ask(t, twice, "GET /orders", "X-Old-Version: 1", "API-Version: 2").
		refused(t, http.StatusBadRequest, problem.AmbiguousVersion)
}

func TestRule032NamesOfTheHeader(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"", "Version", "version", "Accept-Version", "ACCEPT-VERSION", "API Version", "A:B", "Ä", "A\n",
	} {
		if raw := panics(func() { openMarket(t, only(version.Header{Name: name})) }); raw == "" {
			t.Errorf("a header field %q was taken", name)
		}
	}
	for _, name := range []string{"API-Version", "Shop-Version", "X-Version", "shop_version"} {
		api, _ := openMarket(t, only(version.Header{Name: name}))
		res := ask(t, api, "GET /orders", name+": 1")
		res.saw(t, "1.1.0")
		res.varies(t, strings.ToLower(name))
	}
}

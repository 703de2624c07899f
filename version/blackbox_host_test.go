package version_test

import (
	"net/http"
	"testing"

	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/version"
)

func TestRule014NoHostNamesNothing(t *testing.T) {
	t.Parallel()
	api, _ := openMarket(t)
	r := asked(t, "GET /orders")
	r.Host, r.URL.Host = "", ""
	recorded(t, api, r).saw(t, "2.0.0")

	srv := listenTo(t, api)
	c := dialTo(t, srv)
	c.send("GET /orders HTTP/1.0", "", "")
	c.receive("GET /orders").saw(t, "2.0.0")
	c = dialTo(t, srv)
	c.send("GET /orders HTTP/1.0", "Host: api-v1.market.example", "", "")
	c.receive("GET /orders").saw(t, "1.1.0")
}

func TestRule015AbsoluteFormNamesTheHost(t *testing.T) {
	t.Parallel()
	api, _ := openMarket(t)
	srv := listenTo(t, api)
	tests := []struct{ target, host, contract string }{
		{"http://api-v1.market.example/orders", "api-v2.market.example", "1.1.0"},
		{"http://api-v2.market.example/orders", "api-v1.market.example", "2.0.0"},
		{"http://market.example/v1/orders", "market.example", "1.1.0"},
		{"http://market.example/orders", "api-v1.market.example", "2.0.0"},
	}
	for _, tt := range tests {
		t.Run(tt.target, func(t *testing.T) {
			t.Parallel()
			c := dialTo(t, srv)
			c.send("GET "+tt.target+" HTTP/1.1", "Host: "+tt.host, "", "")
			if s := c.receive("GET "+tt.target).saw(t, tt.contract); s.Path != "/orders" {
				t.Errorf("path %s", s.Path)
			}
		})
	}
	c := dialTo(t, srv)
	c.send("GET http://elsewhere.example/orders HTTP/1.1", "Host: market.example", "", "")
	c.receive("GET http://elsewhere.example/orders").refused(t, http.StatusMisdirectedRequest,
		problem.Misdirected)
}

func TestRule016HostsAreCompared(t *testing.T) {
	t.Parallel()
	api, _ := openMarket(t)
	for host, contract := range map[string]string{
		"api-v1.market.example":       "1.1.0",
		"api-v1.market.example:8080":  "1.1.0",
		"api-v1.market.example.":      "1.1.0",
		"API-V1.Market.Example.:8080": "1.1.0",
		"api-v1-0.market.example":     "1.0.0",
		"api-v1-0-0.market.example":   "1.0.0",
		"api-v2.market.example":       "2.0.0",
		"api-v3-0-0.market.example":   "3.0.0",
		"market.example":              "2.0.0",
		"MARKET.EXAMPLE.:80":          "2.0.0",
		"127.0.0.1":                   "2.0.0",
		"127.0.0.1:8080":              "2.0.0",
		"[::1]":                       "2.0.0",
		"[::1]:8080":                  "2.0.0",
	} {
		t.Run(host, func(t *testing.T) {
			t.Parallel()
			ask(t, api, "GET /orders", "Host: "+host).saw(t, contract)
		})
	}
}

func TestRule017LabelsAreAnchored(t *testing.T) {
	t.Parallel()
	api, _ := openMarket(t)
	tests := []struct {
		host   string
		status int
	}{
		{"api-v7.market.example", http.StatusNotFound},
		{"api-v01.market.example", http.StatusNotFound},
		{"api-v1-2-3-4.market.example", http.StatusNotFound},
		{"api-v1-.market.example", http.StatusNotFound},
		{"api-v.market.example", http.StatusNotFound},
		{"api-v3.market.example", http.StatusNotFound}, // a preview
		{"api-v0.market.example", http.StatusGone},
		{"api-v0-9-0.market.example:80", http.StatusGone},
		{"elsewhere.example", http.StatusMisdirectedRequest},
		{"api-v1.elsewhere.example", http.StatusMisdirectedRequest},
		{"api-v1.market.example.elsewhere.example", http.StatusMisdirectedRequest},
		{"api-v1.notmarket.example", http.StatusMisdirectedRequest},
		{"api-v1market.example", http.StatusMisdirectedRequest},
		{"api-v1.127.0.0.1", http.StatusMisdirectedRequest},
		{"127.0.0.2", http.StatusMisdirectedRequest},
		{"[::2]:8080", http.StatusMisdirectedRequest},
		{"market.example..", http.StatusMisdirectedRequest},
		{"example", http.StatusMisdirectedRequest},
	}
	for _, tt := range tests {
		t.Run(tt.host, func(t *testing.T) {
			t.Parallel()
			ask(t, api, "GET /orders", "Host: "+tt.host).
				has(t, tt.status, "Content-Type: "+problem.MediaType, "Cache-Control: no-store")
		})
	}
	// only labels that begin with api-v name contracts
	for host, status := range map[string]int{
		"www.market.example": 421, "x.api-v1.market.example": 421, "xapi-v1.market.example": 421,
		"v1.market.example":       421,
		"api-v1.x.market.example": 404, "api-v1.0.market.example": 404,
	} {
		if res := ask(t, api, "GET /orders", "Host: "+host); res.status != status {
			t.Errorf("%s: status %d, want %d: %s", host, res.status, status, res.body)
		}
	}
	ask(t, api, "OPTIONS /orders", "Host: other.example", "Origin: https://a.example",
		"Access-Control-Request-Method: PUT").
		refused(t, http.StatusMisdirectedRequest, problem.Misdirected)
}

func TestRule017PrefixOfTheLabel(t *testing.T) {
	t.Parallel()
	api, _ := openMarket(t,
		only(version.Host{Prefix: "V", Domains: []string{"Market.Example.", "market.test"}}))
	ask(t, api, "GET /orders", "Host: v1.market.example").saw(t, "1.1.0")
	ask(t, api, "GET /orders", "Host: v1-0.market.test:81").saw(t, "1.0.0")
	ask(t, api, "GET /orders", "Host: market.test").saw(t, "2.0.0")
	if res := ask(t, api, "GET /orders", "Host: api-v1.market.test"); res.status < 400 {
		t.Errorf("the usual prefix works beside the one that was set: %s", res.body)
	}
}

func TestRule018ForwardedHostsNameNothing(t *testing.T) {
	t.Parallel()
	api, _ := openMarket(t)
	for _, field := range []string{
		"X-Forwarded-Host: api-v1.market.example", "Forwarded: host=api-v1.market.example;proto=https",
		"X-Host: api-v1.market.example", "X-Original-URL: /v1/orders", "X-Forwarded-Prefix: /v1",
		"X-Forwarded-Host: elsewhere.example",
	} {
		s := ask(t, api, "GET /orders", field).saw(t, "2.0.0")
		if s.Link != "/orders/5" || s.Source != "" {
			t.Errorf("%s: the link is %s, the source %q", field, s.Link, s.Source)
		}
	}
	ask(t, api, "GET /orders", "Host: elsewhere.example", "X-Forwarded-Host: market.example").
		refused(t, http.StatusMisdirectedRequest, problem.Misdirected)
}

func TestRule019ForeignAuthoritiesAreMisdirected(t *testing.T) {
	t.Parallel()
	api, _ := openMarket(t)
	for _, rest := range [][]string{
		{"Host: elsewhere.example"},
		{"Host: elsewhere.example", "API-Version: 1"},
		{"Host: elsewhere.example", "API-Version: nonsense"}, // before any other source than the path
		{"Host: elsewhere.example", "API-Version: 0.9"},
		{"Host: elsewhere.example", "API-Version: 1", "API-Version: 2"},
	} {
		res := ask(t, api, "GET /orders", rest...)
		res.refused(t, http.StatusMisdirectedRequest, problem.Misdirected).wantSupported(t)
		res.has(t, http.StatusMisdirectedRequest, "API-Version:", "Deprecation:", "Sunset:")
	}
	// An unknown path is reported before an unknown host.
	ask(t, api, "GET /v7/orders", "Host: elsewhere.example").
		refused(t, http.StatusNotFound, problem.UnsupportedVersion)
	ask(t, api, "GET /v1/orders", "Host: elsewhere.example").
		refused(t, http.StatusMisdirectedRequest, problem.Misdirected)
	// Without the strategy for hosts, a host names no contract.
	noHosts, _ := openMarket(t, only(version.Path{}, version.Query{}))
	ask(t, noHosts, "GET /orders", "Host: api-v1.elsewhere.example").saw(t, "2.0.0")
}

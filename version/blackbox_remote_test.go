package version_test

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/version"
)

// at puts the contract 1.0.0 on another server.
func at(base string) func(*market) {
	return func(m *market) { m.contracts[1].At = base }
}

func TestNewRejectsAt(t *testing.T) {
	t.Parallel()
	const end = "; use a URL such as https://api-v1.example.com/v1"
	tests := []struct {
		name     string
		contract version.Contract
		want     string
	}{
		{name: "host", contract: version.Contract{At: "https://api-v1.example.com"}},
		{name: "path", contract: version.Contract{At: "http://[::1]:8080/a%2Fb/v1/"}},
		{name: "no transport", contract: version.Contract{At: "http://10.0.0.1", Proxy: true},
			want: "version: contract 1.0.0 has Proxy but Options.Transport is nil; " +
				"set it, for example to http.DefaultTransport"},
		{name: "retired", contract: version.Contract{At: "http://10.0.0.1", Sunset: lastYear}},
		{name: "nothing serves it",
			want: "version: contract 1.0.0 has no Handler and no At; only a retired contract may have none"},
		{name: "both", contract: version.Contract{At: "https://a.example", Handler: seenBy("1.0.0")},
			want: "version: contract 1.0.0 has Handler and At; remove one"},
		{name: "only Proxy", contract: version.Contract{Proxy: true, Handler: seenBy("1.0.0")},
			want: "version: contract 1.0.0 has Proxy but no At; set At to the URL of the other server"},
		{name: "a path", contract: version.Contract{At: "/v1"},
			want: `version: contract 1.0.0 has At "/v1", which does not begin with http:// or https://` + end},
		{name: "no scheme", contract: version.Contract{At: "//a.example/v1"}, want: "version: contract 1.0.0 has " +
			`At "//a.example/v1", which does not begin with http:// or https://` + end},
		{name: "another scheme", contract: version.Contract{At: "ftp://a.example"}, want: "version: contract 1.0.0 " +
			`has At "ftp://a.example", which does not begin with http:// or https://` + end},
		{name: "no host", contract: version.Contract{At: "https:///v1"},
			want: `version: contract 1.0.0 has At "https:///v1", which has no host in ASCII` + end},
		{name: "only a port", contract: version.Contract{At: "https://:80"},
			want: `version: contract 1.0.0 has At "https://:80", which has no host in ASCII` + end},
		{name: "opaque", contract: version.Contract{At: "https:a.example"},
			want: `version: contract 1.0.0 has At "https:a.example", which has no host in ASCII` + end},
		{name: "a host beyond ASCII", contract: version.Contract{At: "https://ä.example"}, want: "version: contract " +
			`1.0.0 has At "https://%C3%A4.example", which has no host in ASCII` + end},
		{name: "a password", contract: version.Contract{At: "https://u:secret@a.example"}, want: "version: contract " +
			`1.0.0 has At "https://u:xxxxx@a.example", which has a user name` + end},
		{name: "a query", contract: version.Contract{At: "https://a.example/?v=1"}, want: "version: contract 1.0.0 " +
			`has At "https://a.example/?v=1", which has a query or a fragment` + end},
		{name: "a fragment", contract: version.Contract{At: "https://a.example/#v"}, want: "version: contract 1.0.0 " +
			`has At "https://a.example/#v", which has a query or a fragment` + end},
		{name: "dot segments", contract: version.Contract{At: "https://a.example/a/%2e%2e/b"}, want: "version: " +
			`contract 1.0.0 has At "https://a.example/a/%2e%2e/b", which has a dot segment` + end},
		{name: "no URL", contract: version.Contract{At: "https://u:secret@a.example:x"}, want: "version: contract " +
			"1.0.0 has an At that is not a URL; use one such as https://api-v1.example.com/v1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.contract.Name = "1.0.0"
			got := panics(func() {
				version.New([]version.Contract{tt.contract}, []version.Strategy{version.Path{}}, nil)
			})
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("New panicked (-want +got):\n%s", diff)
			}
		})
	}
}

// A contract on another server is named like any other, and the request is redirected there.
func TestRule020LocationOnOtherServers(t *testing.T) {
	t.Parallel()
	tests := []struct {
		base, line string
		fields     []string
		want       string
	}{
		{"https://old.example/v1", "GET /1.0/orders/5", nil, "https://old.example/v1/orders/5"},
		{"https://old.example/v1/", "GET /v1.0.0/orders/5", nil, "https://old.example/v1/orders/5"},
		{"https://old.example", "GET /1.0/orders", nil, "https://old.example/orders"},
		{"https://old.example:8443/a%2Fb", "GET /1.0/orders", nil, "https://old.example:8443/a%2Fb/orders"},
		{"https://old.example", "GET /1.0", nil, "https://old.example/"},
		{"https://old.example", "HEAD /orders?version=1.0", nil, "https://old.example/orders"},
		{"https://old.example", "GET /orders?a=%20&version=1.0&b=+;&a=<é>", nil,
			"https://old.example/orders?a=%20&b=+;&a=%3C%C3%A9%3E"},
		{"https://old.example", "PUT /orders/a%2Fb%20c", []string{"API-Version: 1.0", "", "x"},
			"https://old.example/orders/a%2Fb%20c"},
		{"https://old.example", "DELETE /orders/5", []string{"Host: api-v1-0.market.example"},
			"https://old.example/orders/5"},
		{"https://old.example", "GET /orders", []string{"Accept: " + vnd("1.0.order")}, "https://old.example/orders"},
		{"https://old.example", "POST /orders", []string{"Content-Type: " + vnd("1.0.order"), "", "{}"},
			"https://old.example/orders"},
		{"https://old.example", "POST /orders", []string{asJSON, "", `{"version":"1.0"}`}, "https://old.example/orders"},
		{"https://old.example", "POST /1.0/orders", []string{asJSON, "Expect: 100-continue", "", `{}`},
			"https://old.example/orders"},
		// A path can never become a host.
		{"https://old.example", "GET /1.0//evil.example/x", nil, "https://old.example//evil.example/x"},
		{"https://old.example", "GET /1.0/@evil.example", nil, "https://old.example/@evil.example"},
		{"https://old.example", "GET /1.0/%2F%2Fevil.example", nil, "https://old.example/%2F%2Fevil.example"},
		{"https://old.example", `GET /1.0/\evil.example`, nil, "https://old.example/%5Cevil.example"},
		{"https://old.example", "GET http://evil.example/1.0/x", nil, "421"},
		{"https://old.example", "GET /1.0/%0D%0AX:y", nil, "https://old.example/%0D%0AX:y"},
		// Dot segments could leave the path of the contract.
		{"https://old.example/v1", "GET /1.0/../admin", nil, "400"},
		{"https://old.example/v1", "GET /1.0/a/%2e%2E/admin", nil, "400"},
		{"https://old.example/v1", "GET /1.0/a%2F..%2F..%2Fadmin", nil, "400"},
		{"https://old.example/v1", "GET /1.0/..;x/admin", nil, "400"},
		{"https://old.example/v1", "GET /1.0/..%5Cadmin", nil, "400"},
		{"https://old.example/v1", "GET /1.0/a/.", nil, "400"},
		{"https://old.example/v1", "GET /1.0/...", nil, "https://old.example/v1/..."},
		// It takes part in the negotiation.
		{"https://old.example", "GET /1.0/orders?version=2", nil, "400"},
		{"https://old.example", "CONNECT /1.0/orders", nil, "501"},
		// A redirect to itself.
		{"https://market.example/1.0", "GET /1.0/orders?a=b", nil, "508"},
		{"https://Market.Example/1.0", "GET /v1.0/orders", nil, "https://Market.Example/1.0/orders"},
	}
	for _, tt := range tests {
		t.Run(tt.line, func(t *testing.T) {
			t.Parallel()
			api, _ := openMarket(t, at(tt.base))
			res := ask(t, api, tt.line, tt.fields...)
			if !strings.HasPrefix(tt.want, "https:") {
				if diff := cmp.Diff(tt.want, strconv.Itoa(res.status)); diff != "" {
					t.Errorf("status (-want +got):\n%s", diff)
				}
				res.has(t, res.status, "Location:", "Content-Type: "+problem.MediaType)
				return
			}
			res.has(t, http.StatusPermanentRedirect, "Location: "+tt.want, "Cache-Control: no-store",
				"Content-Length: 0", "API-Version: 1.0.0", "Deprecation: @1780272000",
				"Sunset: Wed, 30 Jun 2027 23:59:59 GMT")
			res.varies(t, "API-Version", "Accept")
			if linkTo(res, "successor-version") == "" {
				t.Errorf("no successor: %v", res.header["Link"])
			}
		})
	}
}

// The list and the links have the URL of a contract on another server, unless it is internal.
func TestRule041ContractsOnOtherServers(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		proxy bool
		url   string
		links map[string]string // by request
	}{
		{"redirected", false, "https://new.example/api", map[string]string{
			"GET /1.0/orders/a%2Fb?x=y": "https://new.example/api/orders/a%2Fb",
			"GET /orders?version=1.0":   "https://new.example/api/orders"}},
		{"forwarded", true, "", map[string]string{
			"GET /1.0/orders/a%2Fb?x=y": "/v2/orders/a%2Fb",
			"GET /orders?version=1.0":   "/orders?version=2"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			api, clock := openMarket(t, func(m *market) {
				m.contracts[3].At, m.contracts[3].Proxy = "https://new.example/api/", tt.proxy
				m.options.Transport = http.DefaultTransport
			})
			for line, want := range tt.links {
				if got := linkTo(ask(t, api, line), "successor-version"); got != want {
					t.Errorf("%s: successor %s, want %s", line, got, want)
				}
			}
			var urls []string
			res := ask(t, api.List(), "GET /versions")
			for _, entry := range readList(t, res) {
				urls = append(urls, entry.URL)
			}
			if diff := cmp.Diff([]string{"", tt.url, "", "", ""}, urls); diff != "" {
				t.Errorf("URLs in the list (-want +got):\n%s", diff)
			}
			if tt.proxy && strings.Contains(res.body, "new.example") {
				t.Errorf("the list has an internal URL: %s", res.body)
			}
			line := ", redirected to https://new.example/api\n"
			if tt.proxy {
				line = ", forwarded to https://new.example/api\n"
			}
			if report := api.Report(); !strings.Contains(report, "2.0.0, default"+line) {
				t.Errorf("Report: %s", report)
			}
			brief := " (default)" + strings.TrimSuffix(line, "\n")
			if report := api.BriefReport(); !strings.Contains(report, brief) {
				t.Errorf("BriefReport: %s", report)
			}
			// A retired contract is 410 here, and its successor is elsewhere.
			clock.set(nextJune)
			gone := ask(t, api, "GET /1.0/orders")
			gone.refused(t, http.StatusGone, problem.VersionRetired)
			if got := linkTo(gone, "successor-version"); !tt.proxy && got != "https://new.example/api/orders" {
				t.Errorf("successor of a retired contract: %s", got)
			}
		})
	}
}

// A preflight reaches the other server like any other request.
func TestRule151PreflightElsewhere(t *testing.T) {
	t.Parallel()
	api, _ := openMarket(t, at("https://old.example"))
	res := ask(t, api, "OPTIONS /1.0/orders", "Origin: https://shop.example", "Access-Control-Request-Method: PUT")
	res.has(t, http.StatusPermanentRedirect, "Location: https://old.example/orders")
}

// FuzzLocation checks that a redirect leads below the URL of the contract, with the path and the
// query of the request.
func FuzzLocation(f *testing.F) {
	for _, seed := range []string{
		"/v1/orders/5?a=b", "/v1//evil.example", "/v1/@evil.example", "/v1", "/v1/a%2Fb?version=1&c=%zz",
		"/v1/%2e%2e/x", "/v1/\\evil", "/v1/a?b#c", "/v1/é?é", "/v1/;/../x", "/v1/?", "/v1/:80",
		"http://evil.example/v1/x", "/v1/%00", "/v1/a\"b<c>?\"<>", "/%76%31/x",
	} {
		f.Add(seed)
	}
	bases := []string{"https://old.example", "http://[::1]:81/a%2Fb/v1", "https://old.example/x/"}
	var servers []*version.Negotiator
	for _, base := range bases {
		servers = append(servers, version.New([]version.Contract{{Name: "1.0.0", At: base}},
			[]version.Strategy{version.Path{}, version.Query{}}, &version.Options{Default: "1.0.0"}))
	}
	f.Fuzz(func(t *testing.T, target string) {
		in, err := url.ParseRequestURI(target)
		if err != nil || in.Opaque != "" {
			return
		}
		for i, base := range bases {
			r := &http.Request{Method: "GET", URL: in, RequestURI: target, Host: "market.example", Header: http.Header{}}
			res := recorded(t, servers[i], r.WithContext(t.Context()))
			if res.status != http.StatusPermanentRedirect {
				if res.header["Location"] != nil || res.status < 400 || res.status >= 502 {
					t.Errorf("%s: %d %v", target, res.status, res.header)
				}
				continue
			}
			checkLocation(t, in, strings.TrimSuffix(base, "/"), res.header.Get("Location"))
		}
	})
}

// checkLocation checks the redirect of in to the server at base.
func checkLocation(t *testing.T, in *url.URL, base, location string) {
	t.Helper()
	if !strings.HasPrefix(location, base+"/") || strings.ContainsFunc(location, func(c rune) bool {
		return c <= ' ' || c > '~' || strings.ContainsRune("\"<>\\^`{|}#", c)
	}) {
		t.Errorf("%s: Location %q is not below %s", in, location, base)
	}
	out, err := url.Parse(location)
	if err != nil {
		t.Fatalf("%s: %v", in, err)
	}
	// A client removes dot segments before it follows the redirect.
	if resolved := out.ResolveReference(&url.URL{}).String(); !strings.HasPrefix(resolved, base) {
		t.Errorf("%s: Location %q leads to %s", in, location, resolved)
	}
	want, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	path, ok := strings.CutPrefix(out.EscapedPath(), want.EscapedPath())
	if !ok || !strings.HasSuffix("/"+in.EscapedPath(), path) && path != "/" {
		t.Errorf("%s: path %s", in, path)
	}
	query := in.Query()
	query.Del("version")
	if !strings.Contains(in.RawQuery, "version") && !cmp.Equal(query, out.Query()) {
		t.Errorf("%s: query %s", in, out.RawQuery)
	}
}

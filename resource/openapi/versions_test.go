package openapi_test

import (
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/openapi"
	"github.com/stoa-go/stoa/resource/rest"
	"github.com/stoa-go/stoa/version"
)

var (
	deprecated = time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	sunset     = time.Date(2027, 6, 30, 0, 0, 0, 0, time.UTC)
)

// clock can be put forward.
type clock struct{ at atomic.Pointer[time.Time] }

func newClock(at time.Time) *clock {
	c := &clock{}
	c.at.Store(&at)
	return c
}

func (c *clock) now() time.Time { return *c.at.Load() }

// tenant is a strategy of an application.
type tenant struct{}

func (tenant) Source() string                    { return "the plan of your account" }
func (tenant) Vary() []string                    { return []string{"Authorization"} }
func (tenant) Find(*http.Request) (string, bool) { return "", false }

// every strategy at once.
func everyStrategy() []version.Strategy {
	return []version.Strategy{version.Path{}, version.Host{Domains: []string{"example.com"}}, version.Query{},
		version.Header{Name: "API-Version"}, version.MediaType{Vendor: "shop"}, version.Body{}, tenant{}}
}

// negotiated serves the contracts of the shop through a Negotiator.
func negotiated(s shop, now func() time.Time, strategies ...version.Strategy) *version.Negotiator {
	return version.New([]version.Contract{
		{Name: "1.0.0", Handler: rest.New(s.old, shopREST), Deprecated: deprecated, Sunset: sunset,
			OpenAPI: "/openapi/1.0.0.json"},
		{Name: "2.0.0", Handler: rest.New(s.now, shopREST), OpenAPI: "/openapi/2.0.0.json"},
	}, strategies, &version.Options{Default: "2.0.0", Now: now})
}

func TestGoldenContract(t *testing.T) {
	t.Parallel()
	shop := newShop(t)
	n := negotiated(shop, newClock(deprecated).now, everyStrategy()...)
	doc := openapi.New(shop.old, &openapi.Options{REST: shopREST, Title: "Shop", Contract: "1.0.0",
		Negotiator: n, IdempotencyKey: true,
		RateLimit: true, Servers: []string{"https://example.com/api"},
		Contact:  &openapi.Contact{Name: "The shop", Email: "shop@example.com"},
		License:  &openapi.License{Name: "MIT", Identifier: "MIT"},
		Security: []openapi.SecurityScheme{{Name: "bearer", Type: "http", Scheme: "bearer"}}})
	golden(t, "contract.json", full(doc))
}

// TestNames checks the description of each strategy.
func TestNames(t *testing.T) {
	t.Parallel()
	const contract = "1.0.0"
	tests := []struct {
		name     string
		strategy version.Strategy
		servers  []string
		says     string // in the description of the API
		check    func(t *testing.T, d reader)
	}{
		{"path", version.Path{}, []string{"/api/v1"}, "`/v1`", nil},
		{"host", version.Host{Domains: []string{"example.com"}}, []string{"https://api-v1.example.com"},
			"https://api-v1.example.com",
			func(t *testing.T, d reader) { wantStatus(t, d, "421") }},
		{"query", version.Query{Name: "v"}, []string{"/api"}, "`v=1`", func(t *testing.T, d reader) {
			wantVersionParameter(t, d, "v", "query")
		}},
		{"header", version.Header{Name: "API-Version"}, []string{"/api"}, "`API-Version: 1`",
			func(t *testing.T, d reader) {
				wantVersionParameter(t, d, "API-Version", "header")
				d.operations(func(path, method string, op object) {
					for status := range op["responses"].(object) {
						if !hasHeader(d.at(op, "responses", status, "headers"), "API-Version") {
							t.Errorf("%s %s %s does not have the field", method, path, status)
						}
					}
				})
			}},
		{"media type", version.MediaType{Vendor: "shop"}, []string{"/api"},
			"application/vnd.shop.1.<name>+json",
			func(t *testing.T, d reader) {
				post := d.at(d.root, "paths", "/orders", "post")
				const media = "application/vnd.shop.1.0.0.order+json"
				for _, v := range []any{d.at(post, "requestBody"), d.at(post, "responses", "201"),
					d.at(d.root, "paths", "/orders", "get", "responses", "200")} {
					if d.schemaOf(v, media) == nil {
						t.Errorf("no content of %s in %v", media, v)
					}
				}
				wantStatus(t, d, "406")
			}},
		{"body", version.Body{}, []string{"/api"}, "`version`", func(t *testing.T, d reader) {
			schemas := d.at(d.root, "components", "schemas")
			for name, want := range map[string]bool{"OrderCreate": true, "OrderReplace": true,
				"OrderPatch": false, "Order": true} {
				if got := d.at(schemas, name, "properties", "version") != nil; got != want {
					t.Errorf("%s has a member for the version: %v", name, got)
				}
			}
		}},
		{"own", tenant{}, []string{"/api"}, "the plan of your account", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			shop := newShop(t)
			n := negotiated(shop, newClock(deprecated).now, tt.strategy)
			d := described(t, openapi.New(shop.old, &openapi.Options{REST: shopREST, Contract: contract,
				Negotiator: n, Servers: []string{"/api"}}))
			var servers []string
			for _, s := range d.root["servers"].([]any) {
				servers = append(servers, s.(object)["url"].(string))
			}
			if diff := cmp.Diff(tt.servers, servers); diff != "" {
				t.Errorf("servers (-want +got):\n%s", diff)
			}
			if text := d.at(d.root, "info", "description").(string); !strings.Contains(text, tt.says) {
				t.Errorf("the description does not say %q:\n%s", tt.says, text)
			}
			if tt.check != nil {
				tt.check(t, d)
			}
		})
	}
}

// wantStatus asks every operation for a status.
func wantStatus(t *testing.T, d reader, status string) {
	t.Helper()
	d.operations(func(path, method string, op object) {
		if d.at(op, "responses", status) == nil {
			t.Errorf("%s %s does not document %s", method, path, status)
		}
	})
}

// wantVersionParameter asks every operation for a parameter that admits the names of 1.0.0 and no others.
func wantVersionParameter(t *testing.T, d reader, name, in string) {
	t.Helper()
	d.operations(func(path, method string, _ object) {
		p := d.parameters(path, method)[name]
		if p["in"] != in {
			t.Errorf("%s %s: %s is %v", method, path, name, p)
			return
		}
		for value, valid := range map[string]bool{"1": true, "v1": true, "1.0": true, "1.0.0": true,
			"2": false, "1.0.0.0": false, "10": false} {
			if bad := d.invalid(p["schema"], value, ""); (len(bad) == 0) != valid {
				t.Errorf("%s: %s: %v", name, value, bad)
			}
		}
	})
}

// TestServersOfAllStrategies lists each place where the contract is found, the default one also without a name.
func TestServersOfAllStrategies(t *testing.T) {
	t.Parallel()
	shop := newShop(t)
	n := negotiated(shop, newClock(deprecated).now, everyStrategy()...)
	for _, tt := range []struct {
		contract string
		want     []string
	}{
		{"1.0.0", []string{"https://example.com:8443/api/v1", "/v1", "https://api-v1.example.com:8443/api",
			"https://example.com:8443/api", "/"}},
		{"2.0.0", []string{"https://example.com:8443/api/v2", "/v2", "https://api-v2.example.com:8443/api",
			"https://example.com:8443/api", "/"}},
	} {
		d := described(t, openapi.New(shop.now, &openapi.Options{REST: shopREST, Contract: tt.contract,
			Negotiator: n,
			Servers:    []string{"https://example.com:8443/api", "/"}}))
		var got []string
		for _, s := range d.root["servers"].([]any) {
			got = append(got, s.(object)["url"].(string))
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.contract, diff)
		}
	}
}

// TestContractsShowTheirOwnFields and parameters.
func TestContractsShowTheirOwnFields(t *testing.T) {
	t.Parallel()
	shop := newShop(t)
	n := negotiated(shop, newClock(deprecated).now, version.Path{})
	for contract, want := range map[string]string{"1.0.0": "id itemId qty status",
		"2.0.0": "createdAt customer customerId id lines note status"} {
		c := shop.now
		if contract == "1.0.0" {
			c = shop.old
		}
		d := described(t, openapi.New(c, &openapi.Options{Contract: contract, Negotiator: n}))
		var got []string
		for name := range d.at(d.root, "components", "schemas", "Order", "properties").(object) {
			if contract == "2.0.0" || name != "customer" {
				got = append(got, name)
			}
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", contract, diff)
		}
		if has := d.parameters("/orders", "GET")["note"] != nil; has != (contract == "2.0.0") {
			t.Errorf("%s: filtering by note: %v", contract, has)
		}
	}
}

// TestRule150DocumentOfEachContract: version, status and dates are in the document, and follow the clock.
func TestRule150DocumentOfEachContract(t *testing.T) {
	t.Parallel()
	shop, clock := newShop(t), newClock(deprecated.Add(-time.Hour))
	n := negotiated(shop, clock.now, version.Path{}, version.Header{Name: "API-Version"})
	doc := openapi.New(shop.old, &openapi.Options{REST: shopREST, Contract: "1.0.0", Negotiator: n})
	current := openapi.New(shop.now, &openapi.Options{REST: shopREST, Contract: "2.0.0", Negotiator: n})
	tags := map[string]bool{}
	for _, tt := range []struct {
		at         time.Time
		status     string
		deprecated bool
	}{
		{deprecated.Add(-time.Hour), "current", false},
		{deprecated, "deprecated", true},
		{sunset, "retired", true},
	} {
		clock.at.Store(&tt.at)
		d := described(t, doc)
		info := d.root["info"].(object)
		if info["version"] != "1.0.0" || info["x-status"] != tt.status ||
			info["x-sunset"] != "2027-06-30T00:00:00Z" {
			t.Errorf("%s: %v", tt.status, info)
		}
		d.operations(func(path, method string, op object) {
			if got := op["deprecated"] == true; got != tt.deprecated {
				t.Errorf("%s: %s %s: deprecated is %v", tt.status, method, path, got)
			}
			if got := op["x-sunset"]; tt.deprecated && got != "2027-06-30T00:00:00Z" {
				t.Errorf("%s: %s %s: x-sunset is %v", tt.status, method, path, got)
			}
			for status := range op["responses"].(object) {
				if h := d.at(op, "responses", status, "headers"); !hasHeader(h, "Deprecation") ||
					!hasHeader(h, "Sunset") {
					t.Errorf("%s: %s %s %s has no dates", tt.status, method, path, status)
				}
			}
		})
		wantStatus(t, d, "410")
		res := send(doc, "GET /openapi/1.0.0.json", "")
		if res.StatusCode != http.StatusOK || tags[res.Header.Get("Etag")] {
			t.Errorf("%s: %d with the tag of before", tt.status, res.StatusCode)
		}
		tags[res.Header.Get("Etag")] = true

		c := described(t, current)
		if info := c.root["info"].(object); info["version"] != "2.0.0" || info["x-status"] != "current" ||
			info["x-sunset"] != nil {
			t.Errorf("2.0.0: %v", info)
		}
		get := c.at(c.root, "paths", "/order-archive", "get", "responses")
		if c.at(get, "410") != nil || hasHeader(c.at(get, "200", "headers"), "Sunset") {
			t.Error("2.0.0 has no end, and its document speaks of one")
		}
	}
}

// TestRule130ServiceDesc follows the link from an answer to the document of its contract.
func TestRule130ServiceDesc(t *testing.T) {
	t.Parallel()
	shop := newShop(t)
	n := negotiated(shop, newClock(deprecated).now, version.Path{})
	mux := http.NewServeMux()
	mux.Handle("/", n)
	for contract, c := range map[string]struct {
		path string
		doc  *openapi.Document
	}{
		"1.0.0": {"/v1", openapi.New(shop.old, &openapi.Options{REST: shopREST, Contract: "1.0.0",
			Negotiator: n})},
		"2.0.0": {"/v2", openapi.New(shop.now, &openapi.Options{REST: shopREST, Contract: "2.0.0",
			Negotiator: n})},
	} {
		mux.Handle("/openapi/"+contract+".json", c.doc)
		links := send(mux, "GET "+c.path+"/orders", "").Header.Values("Link")
		i := slices.IndexFunc(links, func(l string) bool { return strings.Contains(l, `rel="service-desc"`) })
		if i < 0 {
			t.Fatalf("%s: no link: %q", contract, links)
		}
		_, after, _ := strings.Cut(links[i], "<")
		href, _, _ := strings.Cut(after, ">")
		res := send(mux, "GET "+href, "", "Accept: application/vnd.oai.openapi+json;version=3.1")
		if got := res.Header.Get("Content-Type"); got != "application/vnd.oai.openapi+json;version=3.1" {
			t.Errorf("%s: the document is %s", contract, got)
		}
		if got := described(t, c.doc).at(described(t, c.doc).root, "info", "version"); got != contract {
			t.Errorf("%s: the document is that of %v", contract, got)
		}
	}
}

// TestWalkContracts is TestWalk through a Negotiator, in each contract and with each strategy.
func TestWalkContracts(t *testing.T) {
	t.Parallel()
	shop := newShop(t)
	n := negotiated(shop, newClock(deprecated).now, everyStrategy()...)
	for contract, c := range map[string]*openapi.Document{
		"1.0.0": openapi.New(shop.old, &openapi.Options{REST: shopREST, Contract: "1.0.0", Negotiator: n}),
		"2.0.0": openapi.New(shop.now, &openapi.Options{REST: shopREST, Contract: "2.0.0", Negotiator: n}),
	} {
		t.Run(contract, func(t *testing.T) {
			t.Parallel()
			d := described(t, c)
			w := walker{Rand: rand.New(rand.NewPCG(3, 4)), d: d}
			seen := map[int]int{}
			for range 1500 {
				path, request, body, header := w.step()
				host := "example.com"
				switch method, at, _ := strings.Cut(request, " "); w.IntN(4) {
				case 0:
					request = method + " /v" + contract[:1] + at
				case 1:
					header = append(header, "API-Version: "+w.pick(contract, contract[:1], contract, contract,
						"nope"))
				case 2:
					host = w.pick("api-v"+contract[:1]+".example.com", "elsewhere.test")
				case 3:
					header = append(header, "Accept: application/vnd.shop."+contract+".order+json",
						"API-Version: "+contract)
				}
				res := w.to(n, request, host, body, header)
				seen[res.StatusCode]++
				if echo := res.Header.Get("Api-Version"); echo != "" && echo != contract {
					t.Errorf("%s is answered by %s", request, echo)
				}
				d.check(t, path, request, res)
			}
			for _, status := range []int{200, 201, 204, 400, 404, 406, 421} {
				if seen[status] == 0 {
					t.Errorf("the walk never came to %d", status)
				}
			}
		})
	}
}

// to sends a request to a host.
func (w *walker) to(h http.Handler, request, host, body string, header []string) *http.Response {
	return send(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		r.Host = host
		h.ServeHTTP(rw, r)
	}), request, body, header...)
}

// TestNewPanics on mistakes of the program, and names them.
func TestNewPanics(t *testing.T) {
	t.Parallel()
	shop := newShop(t)
	n := negotiated(shop, newClock(deprecated).now, version.Path{})
	tests := []struct {
		name string
		opts openapi.Options
		want string
	}{
		{"no contract", openapi.Options{Negotiator: n}, "not a contract"},
		{"another contract", openapi.Options{Negotiator: n, Contract: "3.0.0"}, "3.0.0"},
		{"server with a query", openapi.Options{Servers: []string{"/?a=b"}}, "Servers"},
		{"server without a scheme", openapi.Options{Servers: []string{"example.com"}}, "Servers"},
		{"scheme without a name",
			openapi.Options{Security: []openapi.SecurityScheme{{Type: "http", Scheme: "basic"}}}, "name"},
		{"scheme of no type", openapi.Options{Security: []openapi.SecurityScheme{{Name: "a", Type: "magic"}}},
			"Type"},
		{"bearer of nothing", openapi.Options{Security: []openapi.SecurityScheme{{Name: "a", Type: "http"}}},
			"Scheme"},
		{"key of nothing", openapi.Options{Security: []openapi.SecurityScheme{{Name: "a", Type: "apiKey",
			In: "body", Key: "k"}}}, "In"},
		{"oauth2 without a provider",
			openapi.Options{Security: []openapi.SecurityScheme{{Name: "a", Type: "oauth2"}}}, "TokenURL"},
		{"openIdConnect without one",
			openapi.Options{Security: []openapi.SecurityScheme{{Name: "a", Type: "openIdConnect"}}}, "URL"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			defer func() {
				if got, ok := recover().(string); !ok || !strings.HasPrefix(got, "openapi: ") ||
					!strings.Contains(got, tt.want) {
					t.Errorf("the panic is %q, and does not say %q", got, tt.want)
				}
			}()
			openapi.New(shop.now, &tt.opts)
		})
	}
}

package version_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stoa-go/stoa/version"
)

// discard is a response writer that is used again, as that of a server is, and forgets the content.
type discard struct{ header http.Header }

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) WriteHeader(int)             {}
func (d *discard) Write(b []byte) (int, error) { return len(b), nil }

var ordinary = []string{"Accept-Encoding"}

// bare is a handler that does as little as a handler of a resource can do.
var bare = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
	w.Header()["Vary"] = ordinary
	w.WriteHeader(http.StatusOK)
})

// measured are the ways of naming a contract, and what each may cost over the bare handler.
var measured = []struct {
	name, target string
	header       http.Header
	allocations  float64
}{
	{"default", "http://example.com/orders/5", nil, 2},
	{"path", "http://example.com/v1/orders/5", nil, 2},
	{"host", "http://api-v1.example.com/orders/5", nil, 2},
	{"header", "http://example.com/orders/5", http.Header{"Api-Version": {"1"}}, 2},
	{"query", "http://example.com/orders/5?version=1&fields=id", nil, 3},
	{"media type", "http://example.com/orders/5",
		http.Header{"Accept": {"application/vnd.shop.1.order+json"}}, 2},
	{"media types by quality", "http://example.com/orders/5",
		http.Header{"Accept": {"application/vnd.shop.1.order+json, application/json;q=0.5, */*;q=0.1"}}, 6},
	{"browser", "http://example.com/orders/5",
		http.Header{"Accept": {"text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8"}},
		2},
}

// everywhere returns a Negotiator that looks at all places at once.
func everywhere() *version.Negotiator {
	return version.New(
		[]version.Contract{{Name: "1.0.0", Handler: bare}, {Name: "1.1.0", Handler: bare},
			{Name: "2.0.0", Handler: bare}},
		[]version.Strategy{version.Path{}, version.Host{Domains: []string{"example.com"}}, version.Query{},
			version.Header{Name: "API-Version"}, version.MediaType{Vendor: "shop"}, version.Body{}},
		&version.Options{Default: "2.0.0"},
	)
}

// TestAllocations holds negotiation to its budget. It is not parallel: AllocsPerRun counts for the whole process.
func TestAllocations(t *testing.T) {
	n := everywhere()
	for _, tt := range measured {
		r := httptest.NewRequest(http.MethodGet, tt.target, nil)
		for name, lines := range tt.header {
			r.Header[name] = lines
		}
		w := &discard{header: http.Header{}}
		run := func() {
			clear(w.header)
			n.ServeHTTP(w, r)
		}
		if got := testing.AllocsPerRun(200, run); got > tt.allocations {
			t.Errorf("%s: %v allocations, want %v at most", tt.name, got, tt.allocations)
		}
		if w.header.Get("Api-Version") == "" {
			t.Errorf("%s: no contract answered", tt.name)
		}
	}
}

func BenchmarkNegotiation(b *testing.B) {
	measure := func(name string, h http.Handler, r *http.Request) {
		b.Run(name, func(b *testing.B) {
			w := &discard{header: http.Header{}}
			b.ReportAllocs()
			for b.Loop() {
				clear(w.header)
				h.ServeHTTP(w, r)
			}
		})
	}
	measure("bare", bare, httptest.NewRequest(http.MethodGet, "/orders/5", nil))
	n := everywhere()
	for _, tt := range measured {
		r := httptest.NewRequest(http.MethodGet, tt.target, nil)
		for name, lines := range tt.header {
			r.Header[name] = lines
		}
		measure(tt.name, n, r)
	}
}

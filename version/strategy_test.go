package version_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/version"
)

// TestFind asks the strategies by themselves, as an application does that wraps one.
func TestFind(t *testing.T) {
	t.Parallel()
	host := version.Host{Domains: []string{"Example.com"}, Others: []string{"127.0.0.1"}}
	header := version.Header{Name: "API-Version"}
	media := version.MediaType{Vendor: "shop"}
	tests := []struct {
		name     string
		strategy version.Strategy
		target   string
		field    [2]string
		want     string
		ok       bool
	}{
		{"path", version.Path{}, "/v1/x", [2]string{}, "v1", true},
		{"path, what no contract has", version.Path{}, "/1..2/x", [2]string{}, "1..2", true},
		{"path, something else", version.Path{}, "/v1x/x", [2]string{}, "", false},
		{"path, escaped", version.Path{}, "/%76%31/x", [2]string{}, "v1", true},
		{"host", host, "http://API-V1-2.example.COM.:80/", [2]string{}, "1.2", true},
		{"host, bare", host, "http://example.com/", [2]string{}, "", false},
		{"host, another label", host, "http://www.example.com/", [2]string{}, "", false},
		{"host, another", host, "http://example.org/", [2]string{}, "", false},
		{"query", version.Query{}, "/x?a=2&version=1&version=3", [2]string{}, "1", true},
		{"query, empty", version.Query{}, "/x?version", [2]string{}, "", true},
		{"query, none", version.Query{}, "/x?versions=1", [2]string{}, "", false},
		{"query, another name", version.Query{Name: "v"}, "/x?version=1&v=2", [2]string{}, "2", true},
		{"header", header, "/", [2]string{"Api-Version", ", 1 ,2"}, "1", true},
		{"header, empty", header, "/", [2]string{"Api-Version", ","}, "", true},
		{"header, none", header, "/", [2]string{"Version", "1"}, "", false},
		{"accept", media, "/", [2]string{"Accept", "text/html, application/vnd.shop.1.2.order+json"}, "1.2",
			true},
		{"accept, not wanted", media, "/", [2]string{"Accept", "application/vnd.shop.1.2.order+json;q=0"}, "",
			false},
		{"content type", media, "/", [2]string{"Content-Type", "application/vnd.shop.3.order"}, "3", true},
		{"content type of somebody else", media, "/",
			[2]string{"Content-Type", "application/vnd.eshop.3.order"}, "", false},
		{"content type that is none", media, "/", [2]string{"Content-Type", "vnd.shop.3.order"}, "", false},
		{"content", version.Body{}, "/", [2]string{"Content-Type", "application/json"}, "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequest(http.MethodPost, tt.target, nil)
			if tt.field[0] != "" {
				r.Header[tt.field[0]] = []string{tt.field[1]}
			}
			name, ok := tt.strategy.Find(r)
			if name != tt.want || ok != tt.ok {
				t.Errorf("Find returns %q and %v, want %q and %v", name, ok, tt.want, tt.ok)
			}
		})
	}
}

// TestStrategyByPointer: methods of a value are methods of a pointer to it, so that both can be given.
func TestStrategyByPointer(t *testing.T) {
	t.Parallel()
	api := version.New([]version.Contract{{Name: "1.0.0", Handler: http.NotFoundHandler()}},
		[]version.Strategy{&version.Path{}, &version.Query{}}, nil)
	w := httptest.NewRecorder()
	api.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/v2?version=1", nil))
	if w.Code != http.StatusNotFound || w.Header().Get("Content-Type") != "application/problem+json" {
		t.Errorf("/v2 answers %d, want a problem with 404", w.Code)
	}
}

// TestRule030OnePlaceOnItsOwn: what is said several times is judged as a whole, the mistake before the contradiction, and
// that before what is not served.
func TestRule030OnePlaceOnItsOwn(t *testing.T) {
	t.Parallel()
	nothing := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNoContent)
	})
	api := version.New([]version.Contract{{Name: "1.0.0", Handler: nothing},
		{Name: "2.0.0", Handler: nothing}},
		[]version.Strategy{version.Query{}, version.Header{Name: "API-Version"}}, nil)
	tests := []struct {
		values []string
		want   string
	}{
		{[]string{"1", "v1", "1.0.0"}, ""},
		{[]string{"1", "2", "x"}, "malformed-version"},
		{[]string{"x", "1", "2"}, "malformed-version"},
		{[]string{"7", "x"}, "malformed-version"},
		{[]string{"1", "2", "7"}, "ambiguous-version"},
		{[]string{"1", "7", "1"}, "unsupported-version"},
		{[]string{"7", "8"}, "unsupported-version"},
	}
	for _, tt := range tests {
		for _, place := range []string{"query", "header"} {
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			for i, value := range tt.values {
				if place == "header" {
					r.Header.Add("API-Version", value)
					continue
				}
				if i > 0 {
					r.URL.RawQuery += "&"
				}
				r.URL.RawQuery += "version=" + value
			}
			w := httptest.NewRecorder()
			api.ServeHTTP(w, r)
			got, _ := field(w.Body.Bytes(), "type").(string)
			want := ""
			if tt.want != "" {
				want = "https://stoa-go.github.io/problems/" + tt.want
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s %q: kind of problem (-want +got):\n%s", place, tt.values, diff)
			}
		}
	}
}

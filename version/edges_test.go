package version_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/contract"
	"github.com/stoa-go/stoa/version"
)

// selected answers with the contract that was selected.
var selected = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	_, _ = io.WriteString(w, contract.From(r.Context()).Name())
})

// answer returns the status and the content of the response to a request.
func answerOf(h http.Handler, r *http.Request) string {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		return fmt.Sprint(w.Code)
	}
	return w.Body.String()
}

func TestNewRefusesStrategies(t *testing.T) {
	t.Parallel()
	tests := []struct {
		names string // in the panic
		given []version.Strategy
	}{
		{"Path", []version.Strategy{version.Path{}, version.Query{}, version.Path{}}},
		{"Query", []version.Strategy{version.Query{}, version.Query{Name: "v"}}},
		{"Host", []version.Strategy{version.Host{Domains: []string{"a.org"}},
			version.Host{Domains: []string{"b.org"}}}},
		{"Domains", []version.Strategy{version.Host{}}},
		{"127.0.0.1", []version.Strategy{version.Host{Domains: []string{"127.0.0.1"}}}},
		{"a.org:80", []version.Strategy{version.Host{Domains: []string{"a.org:80"}}}},
		{"Limit", []version.Strategy{version.Body{Limit: -1}}},
		{"Header a-b", []version.Strategy{version.Header{Name: "A-B"}, version.Header{Name: "a-b"}}},
		{"Accept-Version", []version.Strategy{version.Header{Name: "Accept-Version"}}},
		{"a b", []version.Strategy{version.Header{Name: "a b"}}},
		{"MediaType", []version.Strategy{version.MediaType{Vendor: "a"}, version.MediaType{Vendor: "b"}}},
	}
	for _, tt := range tests {
		t.Run(tt.names, func(t *testing.T) {
			t.Parallel()
			defer func() {
				if raw := fmt.Sprint(recover()); !strings.HasPrefix(raw, "version: ") ||
					!strings.Contains(raw, tt.names) {
					t.Errorf("New said %q, which does not name %s", raw, tt.names)
				}
			}()
			version.New([]version.Contract{{Name: "1.0.0", Handler: selected}}, tt.given, nil)
		})
	}
}

func TestNewRejectsUnprintableDates(t *testing.T) {
	t.Parallel()
	defer func() {
		if raw := fmt.Sprint(recover()); !strings.Contains(raw, "1.0.0") {
			t.Errorf("New said %q, which does not name the contract", raw)
		}
	}()
	far := time.Date(12026, 1, 1, 0, 0, 0, 0, time.UTC)
	version.New([]version.Contract{{Name: "1.0.0", Handler: selected, Sunset: far}},
		[]version.Strategy{version.Path{}}, nil)
}

// TestRule146SuccessorsThatAreNotThere: no link leads to a contract that cannot be used yet, or no more.
func TestRule146SuccessorsThatAreNotThere(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	for _, next := range []version.Contract{
		{Name: "2.0.0", Handler: selected, Preview: true},
		{Name: "2.0.0", Sunset: now},
		{Name: "2.0.0", Handler: selected},
	} {
		api := version.New(
			[]version.Contract{{Name: "1.0.0", Handler: selected, Successor: "2.0.0"}, next},
			[]version.Strategy{version.Path{}}, &version.Options{Now: func() time.Time { return now }},
		)
		w := httptest.NewRecorder()
		api.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/v1/x", nil))
		want := ""
		if !next.Preview && next.Handler != nil {
			want = `</v2/x>; rel="successor-version"`
		}
		if diff := cmp.Diff(want, w.Header().Get("Link")); diff != "" {
			t.Errorf("successor %+v: Link (-want +got):\n%s", next, diff)
		}
	}
}

// TestRule146SuccessorWithoutAWayToNameIt: a link has nothing but a URL.
func TestRule146SuccessorWithoutAWayToNameIt(t *testing.T) {
	t.Parallel()
	header := version.Header{Name: "API-Version"}
	tests := []struct {
		target     string
		strategies []version.Strategy
		want       string
	}{
		{"/x?a=1", []version.Strategy{header}, ""},
		{"/x?a=1", []version.Strategy{header, version.Query{}}, `</x?version=2>; rel="successor-version"`},
		{"/x", []version.Strategy{header, version.Query{Name: "a&b"}},
			`</x?a%26b=2>; rel="successor-version"`},
		{"/x", []version.Strategy{header, version.Query{}, version.Path{}},
			`</v2/x>; rel="successor-version"`},
		{"//evil.example/x", []version.Strategy{header, version.Query{}}, ""},
		{"//evil.example/x", []version.Strategy{header, version.Path{}},
			`</v2//evil.example/x>; rel="successor-version"`},
	}
	for _, tt := range tests {
		api := version.New([]version.Contract{{Name: "1.0.0", Handler: selected, Successor: "2.0.0"},
			{Name: "2.0.0", Handler: selected}},
			tt.strategies, nil)
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.RequestURI = tt.target
		r.URL.Path, r.URL.RawQuery, _ = strings.Cut(tt.target, "?")
		r.Header.Set("API-Version", "1")
		api.ServeHTTP(w, r)
		if diff := cmp.Diff(tt.want, w.Header().Get("Link")); diff != "" {
			t.Errorf("%s: Link (-want +got):\n%s", tt.target, diff)
		}
	}
}

// TestRule151PreflightWithoutAnyContract: if all contracts are retired, no handler can respond.
func TestRule151PreflightWithoutAnyContract(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	api := version.New([]version.Contract{{Name: "1.0.0", Sunset: now}}, []version.Strategy{version.Path{}},
		&version.Options{Now: func() time.Time { return now }})
	r := httptest.NewRequest(http.MethodOptions, "/v1/x", nil)
	r.Header.Set("Origin", "https://example.com")
	r.Header.Set("Access-Control-Request-Method", "GET")
	if got := answerOf(api, r); got != "410" {
		t.Errorf("the preflight answers %s, want 410", got)
	}
}

// TestRetiredWithoutHandler: a contract without handler stays retired, at any later time.
func TestRetiredWithoutHandler(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	api := version.New([]version.Contract{{Name: "1.0.0", Sunset: now}}, []version.Strategy{version.Path{}},
		&version.Options{Now: func() time.Time { return now }})
	now = now.Add(-time.Hour)
	if got := answerOf(api, httptest.NewRequest(http.MethodGet, "/v1/x", nil)); got != "410" {
		t.Errorf("it answers %s, want 410", got)
	}
	if got := api.Status("2.0.0"); got != "" {
		t.Errorf("a contract that is not there has the status %s", got)
	}
}

// TestRule049WeightsOfContracts: a weight that cannot be read takes its range away, and the others decide.
func TestRule049WeightsOfContracts(t *testing.T) {
	t.Parallel()
	api := version.New([]version.Contract{{Name: "1.0.0", Handler: selected},
		{Name: "2.0.0", Handler: selected}},
		[]version.Strategy{version.MediaType{Vendor: "shop"}}, &version.Options{Default: "2.0.0"})
	for weight, want := range map[string]string{
		"1": "1.0.0", "1.000": "1.0.0", "0.501": "1.0.0", ".6": "1.0.0", "1.": "1.0.0", "0.499": "2.0.0",
		"0":     "2.0.0",
		"1.001": "2.0.0", "2": "2.0.0", "0.5555": "2.0.0", "": "2.0.0", ".": "2.0.0", "0.x": "2.0.0",
		"-1": "2.0.0",
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Accept", "application/vnd.shop.1.a;q="+weight+", application/vnd.shop.2.a;q=0.5")
		if got := answerOf(api, r); got != want {
			t.Errorf("the weight %q against 0.5 selects %s, want %s", weight, got, want)
		}
	}
	for accept, want := range map[string]string{
		"application/vnd.shop.a, application/vnd.shop.1.a":                         "1.0.0",
		"application/vnd.shop.1.a, application/vnd.shop.a":                         "1.0.0",
		"application/vnd.shop.a, application/vnd.shop.1.a;q=0.9":                   "2.0.0",
		"application/vnd.shop.1." + strings.Repeat("a", 128):                       "406",
		"application/vnd.shop+xml":                                                 "406",
		"application/vnd.shop":                                                     "406",
		"application/vnd.shop.v1.a+json":                                           "406",
		"application/vnd.shop.2.a, application/vnd.shop.1.a":                       "2.0.0",
		"application/vnd.shop.1.a;x=\"\\\",application/vnd.shop.2.a\", text/x;q=0": "1.0.0",
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Accept", accept)
		if got := answerOf(api, r); got != want {
			t.Errorf("Accept: %s selects %s, want %s", accept, got, want)
		}
	}
}

func TestRule028IdentityIsNoCoding(t *testing.T) {
	t.Parallel()
	api := version.New([]version.Contract{{Name: "1.0.0", Handler: selected},
		{Name: "2.0.0", Handler: selected}},
		[]version.Strategy{version.Body{}}, nil)
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(`{"version":"1"}`))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Content-Encoding", "Identity")
	if got := answerOf(api, r); got != "1.0.0" {
		t.Errorf("it answers %s, want 1.0.0", got)
	}
}

package version_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stoa-go/stoa/resource/contract"
	"github.com/stoa-go/stoa/version"
)

// fuzzed is what a contract saw of a request.
type fuzzed struct {
	contract string
	url      *url.URL
}

// fuzzedAPI serves a few contracts by every strategy. The response has the request as the
// contract receives it.
func fuzzedAPI() *version.Negotiator {
	look := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := contract.From(r.Context())
		w.Header().Set("Seen", r.URL.RequestURI())
		w.Header().Set("Selected", s.Name())
		w.Header().Set("Content-Type", s.ContentType("order"))
	})
	sunset := time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC)
	return version.New(
		[]version.Contract{{Name: "0.9.0", Sunset: sunset}, {Name: "1.0.0", Handler: look},
			{Name: "1.1.0", Handler: look},
			{Name: "1.10.0", Handler: look}, {Name: "2.0.0", Handler: look},
			{Name: "3.0.0", Handler: look, Preview: true}},
		[]version.Strategy{version.Path{}, version.Host{Domains: []string{"example.com"},
			Others: []string{"[::1]"}},
			version.Query{}, version.Header{Name: "API-Version"}, version.MediaType{Vendor: "shop"},
			version.Body{}},
		&version.Options{Default: "2.0.0", Now: func() time.Time { return sunset.AddDate(1, 0, 0) }},
	)
}

// decided sends a request and holds the answer to what is true of every answer: it is of one of the contracts, or a
// refusal with one of the statuses. The contract is "" for a refusal.
func decided(t *testing.T, api *version.Negotiator, r *http.Request, statuses ...int) fuzzed {
	t.Helper()
	w := httptest.NewRecorder()
	api.ServeHTTP(w, r)
	h := w.Header()
	if vary := h.Get("Vary"); vary != "API-Version, Accept" {
		t.Errorf("Vary: %s", vary)
	}
	if w.Code == http.StatusOK {
		seen, err := url.ParseRequestURI(h.Get("Seen"))
		if err != nil {
			t.Fatalf("the contract saw the URL %s: %v", h.Get("Seen"), err)
		}
		name := h.Get("Selected")
		if api.Status(name) == "" || api.Status(name) == version.Retired || h.Get("Api-Version") != name {
			t.Errorf("%s answered, and the header says %s", name, h.Get("Api-Version"))
		}
		return fuzzed{name, seen}
	}
	if !slices.Contains(statuses, w.Code) {
		t.Errorf("status %d, want one of %v: %s", w.Code, statuses, w.Body)
	}
	var d struct {
		Status    int
		Supported []string `json:"supported-versions"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &d); err != nil ||
		h.Get("Content-Type") != "application/problem+json" {
		t.Fatalf("%s is no problem (%v): %s", h.Get("Content-Type"), err, w.Body)
	}
	if d.Status != w.Code || len(d.Supported) != 5 || h.Get("Cache-Control") != "no-store" {
		t.Errorf("the problem with %d says %d and names %v", w.Code, d.Status, d.Supported)
	}
	return fuzzed{}
}

func FuzzVersion(f *testing.F) {
	for _, seed := range []string{"1", "v1", "1.1", "1.10.0", "0.9", "3.0.0", "01", "1.", "123456", "v",
		"1.1.1.1", "1 ", "é", "1/2"} {
		f.Add(seed)
	}
	api := fuzzedAPI()
	f.Fuzz(func(t *testing.T, name string) {
		selected := api.Resolve(name)
		if selected != "" {
			// A name is one of those of the contract, except for the v.
			if names := api.Names(selected); !slices.Contains(names, strings.TrimPrefix(name, "v")) {
				t.Errorf("%q selects %s, of which the names are %q", name, selected, names)
			}
		}
		byQuery := httptest.NewRequest(http.MethodGet, "/orders", nil)
		byQuery.URL.RawQuery = "a=1&version=" + url.QueryEscape(name) + "&b=2"
		seen := decided(t, api, byQuery, 400, 410)
		if seen.contract != selected || selected != "" && seen.url.String() != "/orders?a=1&b=2" {
			t.Errorf("%q in the query selects %s with %v, want %q", name, seen.contract, seen.url, selected)
		}
		byPath := httptest.NewRequest(http.MethodGet, "/", nil)
		byPath.URL.Path, byPath.URL.RawPath = "/"+name+"/a/b", "/"+url.PathEscape(name)+"/a%2Fb"
		seen = decided(t, api, byPath, 404, 410)
		if selected != "" && (seen.contract != selected || seen.url.EscapedPath() != "/a%2Fb") {
			t.Errorf("%q in the path selects %s with %v, want %q", name, seen.contract, seen.url, selected)
		}
		byHeader := httptest.NewRequest(http.MethodGet, "/orders", nil)
		byHeader.Header["Api-Version"] = []string{name}
		seen = decided(t, api, byHeader, 400, 410)
		if selected != "" && seen.contract != selected {
			t.Errorf("%q in the header selects %s, want %s", name, seen.contract, selected)
		}
	})
}

func FuzzAccept(f *testing.F) {
	f.Add("application/vnd.shop.1.order+json", "")
	f.Add("application/vnd.shop.1.order+json;q=0.5, application/vnd.shop.2.order, */*;q=0.1", "1")
	f.Add("application/vnd.shop.0.9.order+json", "")
	f.Add("APPLICATION/vnd.shop+json;q=.3\n,,application/json", "2.0.0")
	f.Add(`text/html;a="application/vnd.shop.1.order+json,"`, "1.0")
	api := fuzzedAPI()
	f.Fuzz(func(t *testing.T, accept, header string) {
		r := httptest.NewRequest(http.MethodGet, "/orders", nil)
		r.Header["Accept"] = strings.Split(accept, "\n")
		if header != "" {
			r.Header["Api-Version"] = []string{header}
		}
		seen := decided(t, api, r, 400, 406, 410)
		if want := api.Resolve(header); seen.contract != "" && want != "" && seen.contract != want {
			t.Errorf("API-Version: %s answers %s", header, seen.contract)
		}
		if !strings.Contains(strings.ToLower(accept), "vnd.shop") {
			without := r.Clone(t.Context())
			delete(without.Header, "Accept")
			if want := decided(t, api, without, 400, 410); want.contract != seen.contract {
				t.Errorf("Accept: %q, in which is nothing of ours, selects %q instead of %q", accept,
					seen.contract, want.contract)
			}
		}
	})
}

func FuzzMediaType(f *testing.F) {
	for _, seed := range []string{
		"application/vnd.shop.1.order+json", "application/vnd.shop.1.10.order",
		"Application/VND.shop.order+JSON; charset=utf-8",
		"application/vnd.shop+json", "application/vnd.shop.v1.order+json", "application/vnd.shop.01.order",
		"application/json",
		"application/vnd.shop.0.9.0.order+json", "application/vnd.shop.1.2.3.4.order+json", "text/plain", "",
	} {
		f.Add(seed)
	}
	api := fuzzedAPI()
	f.Fuzz(func(t *testing.T, typ string) {
		r := httptest.NewRequest(http.MethodPost, "/orders", nil)
		r.Header["Content-Type"] = []string{typ}
		seen := decided(t, api, r, 410, 415)
		if found, ok := (version.MediaType{Vendor: "shop"}).Find(r); ok &&
			api.Resolve(found) != seen.contract {
			t.Errorf("%q names %s and is given to %s", typ, found, seen.contract)
		} else if !ok && seen.contract != "" && seen.contract != "2.0.0" {
			t.Errorf("%q names nothing, and is given to %s", typ, seen.contract)
		}
	})
}

func FuzzHost(f *testing.F) {
	for _, seed := range []string{
		"api-v1.example.com", "API-V1-10.Example.COM.:8080", "api-v0-9.example.com", "example.com",
		"[::1]:8080", "[::1", "127.0.0.1",
		"api-v1.example.com.evil.org", "api-v1.1.example.com", "evilexample.com", "www.example.com",
		"example.com:80:80", ".", "",
	} {
		f.Add(seed)
	}
	api := fuzzedAPI()
	f.Fuzz(func(t *testing.T, host string) {
		r := httptest.NewRequest(http.MethodGet, "/orders", nil)
		r.Host = host
		seen := decided(t, api, r, 404, 410, 421)
		if seen.contract == "" || host == "" {
			return
		}
		bare, _, _ := strings.Cut(strings.ToLower(host), ":")
		if bare = strings.TrimSuffix(bare, "."); bare != "example.com" &&
			!strings.HasSuffix(bare, ".example.com") && bare != "[" {
			t.Errorf("the host %q is answered by %s", host, seen.contract)
		}
	})
}

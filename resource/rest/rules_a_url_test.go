package rest_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/rest"
)

// URLs in responses: escaped, without a host, and with the prefix that the client uses.

func TestRule010GeneratedURLs(t *testing.T) {
	t.Parallel()
	h := api(t)
	tests := []struct{ id, location string }{
		{"a/b", "/users/a%2Fb"},
		{"ü", "/users/%C3%BC"},
		{"%", "/users/%25"},
		{"%2F", "/users/%252F"},
		{"a+b c", "/users/a+b%20c"},
		{"?q=1&r#f", "/users/%3Fq=1&r%23f"},
		{"...", "/users/..."},
		{"../etc/passwd", "/users/..%2Fetc%2Fpasswd"},
		{"a/", "/users/a%2F"},
		{"/", "/users/%2F"},
		{"//evil.example", "/users/%2F%2Fevil.example"},
		{`"<>\^|{}`, "/users/%22%3C%3E%5C%5E%7C%7B%7D"},
		{";,:@=!$'()*~", "/users/%3B%2C:@=%21$%27%28%29%2A~"},
		{"日本", "/users/%E6%97%A5%E6%9C%AC"},
		{"\u200e", "/users/%E2%80%8E"},
		{"orders", "/users/orders"},
	}
	for _, tt := range tests {
		t.Run(tt.id, func(t *testing.T) {
			t.Parallel()
			body := `{"id":` + quote(tt.id) + `,"name":"x"}`
			res := send(t, h, "POST /users", jsonBody, "", body)
			want(t, res, http.StatusCreated)
			location := res.header.Get("Location")
			if !sameURL(t, tt.location, location) {
				t.Errorf("Location %s, want %s", location, tt.location)
			}
			if got := res.header.Get("Content-Location"); got != location {
				t.Errorf("Content-Location %s, want %s", got, location)
			}
			// And the item is found at its location.
			wantBody(t, send(t, h, "GET "+location), http.StatusOK, body)
			want(t, send(t, h, "PUT "+location, jsonBody, "", `{"name":"y"}`), http.StatusOK, "Content-Location: "+location)
			want(t, send(t, h, "PATCH "+location, mergeBody, "", `{"name":"z"}`), http.StatusOK, "Content-Location: "+location)
			want(t, send(t, h, "DELETE "+location), http.StatusNoContent)
		})
	}
}

// quote returns a JSON string of printable characters.
func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// sameURL compares decoded segments, because more characters than necessary may be escaped.
func sameURL(t *testing.T, a, b string) bool {
	t.Helper()
	as, bs := strings.Split(a, "/"), strings.Split(b, "/")
	if len(as) != len(bs) {
		return false
	}
	for i := range as {
		x, err1 := url.PathUnescape(as[i])
		y, err2 := url.PathUnescape(bs[i])
		if err1 != nil || err2 != nil || x != y {
			return false
		}
	}
	return true
}

// A plus is a plus in a path and a space in a query.
func TestRule010Plus(t *testing.T) {
	t.Parallel()
	h := api(t)
	want(t, send(t, h, "PUT /users/a+b", jsonBody, "", `{"name":"plus"}`), http.StatusCreated, "Location: /users/a+b")
	wantBody(t, send(t, h, "GET /users/a%2Bb"), http.StatusOK, `{"id":"a+b","name":"plus"}`)
	want(t, send(t, h, "GET /users/a%20b"), http.StatusNotFound)
	create(t, h, "/orders", `{"customerId":"a b"}`)
	create(t, h, "/orders", `{"customerId":"a+b"}`)
	wantBody(t, send(t, h, "GET /orders?customerId=a+b&fields=customerId"), http.StatusOK,
		`{"items":[{"customerId":"a b"}]}`)
	wantBody(t, send(t, h, "GET /orders?customerId=a%2Bb&fields=customerId"), http.StatusOK,
		`{"items":[{"customerId":"a+b"}]}`)
}

// mounts are the ways to mount a catalog below a prefix, with the path that the client uses before
// /orders.
var mounts = []struct {
	name, prefix string
	base         string
	mount        func(http.Handler) http.Handler
}{
	{"at the root", "", "", func(h http.Handler) http.Handler { return h }},
	{"StripPrefix", "/api", "", func(h http.Handler) http.Handler { return http.StripPrefix("/api", h) }},
	{"StripPrefix with a slash", "/api", "", func(h http.Handler) http.Handler { return http.StripPrefix("/api/", h) }},
	{"StripPrefix of the root", "", "", func(h http.Handler) http.Handler { return http.StripPrefix("/", h) }},
	{"StripPrefix deep", "/a/b~/c", "", func(h http.Handler) http.Handler { return http.StripPrefix("/a/b~/c", h) }},
	{"StripPrefix twice", "/a/b", "", func(h http.Handler) http.Handler {
		return http.StripPrefix("/a", http.StripPrefix("/b", h))
	}},
	{"below a mux", "/api", "", func(h http.Handler) http.Handler {
		mux := http.NewServeMux()
		mux.Handle("/api/", http.StripPrefix("/api", h))
		return mux
	}},
	{"with a proxy", "", "/shop", func(h http.Handler) http.Handler { return h }},
	{"with absolute URLs", "", "https://api.example.com", func(h http.Handler) http.Handler { return h }},
	{"with both", "/v1", "https://api.example.com/shop", func(h http.Handler) http.Handler {
		return http.StripPrefix("/v1", h)
	}},
}

func TestRule152URLsUnderAnyPrefix(t *testing.T) {
	t.Parallel()
	for _, tt := range mounts {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := tt.mount(api(t, withLookup, func(s *setup) { s.rest.Base = tt.base }))
			in, out := tt.prefix, tt.base+tt.prefix // the requested path, and the path in the response
			for range 3 {
				res := send(t, h, "POST "+in+"/orders", jsonBody, "", `{"customerId":"u"}`)
				want(t, res, http.StatusCreated, "Content-Location: "+res.header.Get("Location"))
				if got := res.header.Get("Location"); !strings.HasPrefix(got, out+"/orders/") {
					t.Fatalf("Location %s, want %s/orders/...", got, out)
				}
			}
			want(t, send(t, h, "PUT "+in+"/users/a%2Fb", jsonBody, "", `{"name":"x"}`), http.StatusCreated,
				"Location: "+out+"/users/a%2Fb", "Content-Location: "+out+"/users/a%2Fb")
			want(t, send(t, h, "PATCH "+in+"/users/a%2Fb", mergeBody, "", `{"name":"y"}`), http.StatusOK,
				"Content-Location: "+out+"/users/a%2Fb")
			want(t, send(t, h, "GET "+in+"/biggest?customerId=u"), http.StatusOK, "Content-Location: "+out+"/orders/1")
			want(t, send(t, h, "GET "+in+"/orders/1/?fields=id"), http.StatusPermanentRedirect,
				"Location: "+out+"/orders/1?fields=id")
			d := wantProblem(t, send(t, h, "POST "+in+"/users", jsonBody, "", `{"id":"a/b","name":"x"}`), "already-exists")
			if d.Existing != out+"/users/a%2Fb" {
				t.Errorf("existing %s", d.Existing)
			}
			res := send(t, h, "GET "+in+"/orders?limit=1&sort=-cents")
			want(t, res, http.StatusOK)
			for link := range strings.SplitSeq(res.header.Get("Link"), ", ") {
				if !strings.HasPrefix(link, "<"+out+"/orders?limit=1&sort=-cents") {
					t.Errorf("Link %s", link)
				}
			}
		})
	}
}

// The prefix is found in targets with characters that should have been escaped.
func TestRule152UnescapedTargets(t *testing.T) {
	t.Parallel()
	h := http.StripPrefix("/api", api(t))
	for _, id := range []string{"ü", "a|b", `a"b`, "a^b"} {
		res := send(t, h, "PUT /api/users/"+id, jsonBody, "", `{"name":"x"}`)
		want(t, res, http.StatusCreated, "Location: /api/users/"+url.PathEscape(id))
		want(t, send(t, h, "GET "+res.header.Get("Location")), http.StatusOK)
	}
}

// A request that was not received by a server has no RequestURI.
func TestRule152RequestsMadeByHand(t *testing.T) {
	t.Parallel()
	h := api(t)
	r := request(t, "POST /orders", jsonBody, "", `{"customerId":"u"}`)
	r.RequestURI = ""
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	want(t, received("POST", w.Result()), http.StatusCreated, "Location: /orders/1")
}

func TestRule015AbsoluteForm(t *testing.T) {
	t.Parallel()
	h := http.StripPrefix("/api", api(t))
	res := send(t, h, "POST http://shop.example/api/orders", jsonBody, "", `{"customerId":"u"}`)
	want(t, res, http.StatusCreated, "Location: /api/orders/1", "Content-Location: /api/orders/1")
	want(t, send(t, h, "GET http://shop.example/api/orders/1"), http.StatusOK)
	res = send(t, h, "GET http://shop.example/api/orders?limit=1")
	want(t, res, http.StatusOK, `Link: </api/orders?limit=1>; rel="first", </api/orders?limit=1&before=`+
		lastCursor(res)+`>; rel="last"`)
	want(t, send(t, h, "GET http://shop.example/api/orders/"), http.StatusPermanentRedirect, "Location: /api/orders")
}

func lastCursor(res *response) string {
	_, after, _ := strings.Cut(res.header.Get("Link"), "before=")
	cursor, _, _ := strings.Cut(after, ">")
	return cursor
}

// Responses do not depend on forwarding fields of the client.
func TestRule018ForwardedFieldsAreIgnored(t *testing.T) {
	t.Parallel()
	h := api(t)
	spoofed := []string{"Host: evil.example", "X-Forwarded-Host: evil.example", "X-Forwarded-Proto: https",
		"X-Forwarded-Prefix: /evil", "Forwarded: host=evil.example;proto=https", "X-Original-URL: /evil",
		"X-Rewrite-URL: /evil"}
	plain := send(t, api(t), "POST /orders", jsonBody, "", `{"customerId":"u"}`)
	res := send(t, h, "POST /orders", append(spoofed, jsonBody, "", `{"customerId":"u"}`)...)
	want(t, res, http.StatusCreated)
	plain.header.Del("Etag")
	res.header.Del("Etag")
	if diff := cmp.Diff(plain.header, res.header); diff != "" {
		t.Errorf("header (-want +got):\n%s", diff)
	}
	wantBody(t, res, http.StatusCreated, plain.body)
}

func TestRule020PathAbsoluteReferences(t *testing.T) {
	t.Parallel()
	h := api(t)
	for _, host := range []string{"shop.example", "127.0.0.1:8080", "", "evil.example/x?"} {
		r := request(t, "POST /orders", jsonBody, "", `{"customerId":"u"}`)
		r.Host = host
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		location := w.Header().Get("Location")
		if !strings.HasPrefix(location, "/orders/") || strings.Contains(w.Body.String()+location, "example") {
			t.Errorf("Host %q: Location %s", host, location)
		}
	}
	for _, base := range []string{"https://api.example.com/", "/x?y", "/x#y"} {
		func() {
			defer func() {
				if v, _ := recover().(string); !strings.Contains(v, "rest: Options.Base") {
					t.Errorf("Base %q: recovered %q", base, v)
				}
			}()
			rest.New(resource.NewCatalog(nil), &rest.Options{Base: base})
		}()
	}
}

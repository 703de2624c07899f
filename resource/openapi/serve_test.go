package openapi_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/openapi"
)

// TestDeterminism makes the document of equal catalogs many times: maps are in none of them.
func TestDeterminism(t *testing.T) {
	t.Parallel()
	want := openapi.New(newShop(t).now, &openapi.Options{REST: shopREST}).JSON()
	for range 5 {
		if got := openapi.New(newShop(t).now, &openapi.Options{REST: shopREST}).JSON(); !bytes.Equal(want,
			got) {
			t.Fatalf("another document (-want +got):\n%s",
				cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(got), "\n")))
		}
	}
}

func TestServe(t *testing.T) {
	t.Parallel()
	doc := openapi.New(newShop(t).now, &openapi.Options{REST: shopREST})
	const (
		vendor   = "application/vnd.oai.openapi+json;version=3.1"
		openAPI  = "application/openapi+json;version="
		openYAML = "application/openapi+yaml;version="
	)
	tests := []struct {
		name, request string
		header        []string
		status        int
		want          map[string]string
	}{
		{"plain", "GET /openapi.json", nil, 200, map[string]string{"Content-Type": "application/json",
			"Cache-Control":          "no-cache",
			"X-Content-Type-Options": "nosniff", "Vary": "Accept, Accept-Encoding", "Content-Encoding": ""}},
		{"browser", "GET /", []string{"Accept: text/html,application/xhtml+xml,*/*;q=0.8"}, 200,
			map[string]string{"Content-Type": "application/json"}},
		{"registered type", "GET /", []string{"Accept: " + vendor}, 200,
			map[string]string{"Content-Type": vendor}},
		{"registered type without version", "GET /",
			[]string{"Accept: application/vnd.oai.openapi+json, application/json;q=0.5"}, 200,
			map[string]string{"Content-Type": vendor}},
		{"older type of version 3.0", "GET /", []string{"Accept: application/vnd.oai.openapi+json;version=3.0"},
			200, map[string]string{"Content-Type": "application/vnd.oai.openapi+json;version=3.0"}},
		{"openapi type", "GET /", []string{"Accept: application/openapi+json"}, 200,
			map[string]string{"Content-Type": openAPI + "3.1"}},
		{"openapi type with version", "GET /", []string{"Accept: application/openapi+json; version=\"3.2\""}, 200,
			map[string]string{"Content-Type": openAPI + "3.2"}},
		{"openapi type with patch version", "GET /", []string{"Accept: application/openapi+json;version=3.0.3"},
			200, map[string]string{"Content-Type": openAPI + "3.0"}},
		{"parameter and type agree", "GET /?openapi=3.0", []string{"Accept: application/openapi+json;version=3.0"},
			200, map[string]string{"Content-Type": openAPI + "3.0"}},
		{"parameter alone", "GET /?openapi=3.0.3", []string{"Accept: application/openapi+json"}, 200,
			map[string]string{"Content-Type": openAPI + "3.0"}},
		{"parameter and type differ", "GET /?openapi=3.2",
			[]string{"Accept: application/openapi+json;version=3.0"}, 406,
			map[string]string{"Content-Type": "application/problem+json", "Vary": "Accept, Accept-Encoding"}},
		{"unknown version in type", "GET /", []string{"Accept: application/openapi+json;version=2.0"}, 406,
			map[string]string{"Content-Type": "application/problem+json", "Vary": "Accept, Accept-Encoding"}},
		{"yaml", "GET /", []string{"Accept: application/yaml"}, 200,
			map[string]string{"Content-Type": "application/yaml", "Vary": "Accept, Accept-Encoding"}},
		{"openapi yaml", "GET /", []string{"Accept: application/openapi+yaml"}, 200,
			map[string]string{"Content-Type": openYAML + "3.1"}},
		{"older yaml", "GET /", []string{"Accept: application/vnd.oai.openapi;version=3.2"}, 200,
			map[string]string{"Content-Type": "application/vnd.oai.openapi;version=3.2"}},
		{"yaml path", "GET /openapi.yaml", nil, 200, map[string]string{"Content-Type": "application/yaml"}},
		{"yml path in a browser", "GET /a/b.yml", []string{"Accept: text/html,*/*;q=0.8"}, 200,
			map[string]string{"Content-Type": "application/yaml"}},
		{"json of a yaml path", "GET /openapi.yaml", []string{"Accept: application/json"}, 200,
			map[string]string{"Content-Type": "application/json"}},
		{"html", "GET /", []string{"Accept: text/html"}, 406, nil},
		{"full", "GET /?profile=full", nil, 200, map[string]string{"Content-Type": "application/json"}},
		{"default", "GET /?profile=default&openapi=3.1&v=2", nil, 200, nil},
		{"unknown profile", "GET /?profile=all", nil, 400,
			map[string]string{"Content-Type": "application/problem+json", "Vary": "Accept, Accept-Encoding"}},
		{"two profiles", "GET /?profile=full&profile=full", nil, 400, nil},
		{"unknown version", "GET /?openapi=2.0", nil, 400, nil},
		{"two versions", "GET /?openapi=3.0&openapi=3.1", nil, 400, nil},
		{"no version", "GET /?openapi=", nil, 400, nil},
		{"head of a variant", "HEAD /?profile=full&openapi=3.2", []string{"Accept: application/openapi+yaml"}, 200,
			map[string]string{"Content-Type": openYAML + "3.2"}},
		{"neither coding", "GET /", []string{"Accept-Encoding: identity;q=0"}, 406, nil},
		{"gzip", "GET /", []string{"Accept-Encoding: gzip"}, 200,
			map[string]string{"Content-Encoding": "gzip"}},
		{"head", "HEAD /", nil, 200, map[string]string{"Content-Type": "application/json"}},
		{"any tag", "GET /", []string{"If-None-Match: *"}, 304,
			map[string]string{"Vary": "Accept, Accept-Encoding", "Cache-Control": "no-cache"}},
		{"no tag", "GET /", []string{"If-None-Match: nope"}, 400, nil},
		{"another tag", "GET /", []string{`If-None-Match: "nope"`}, 200, nil},
		{"options", "OPTIONS /", nil, 204, map[string]string{"Allow": "GET, HEAD, OPTIONS",
			"Content-Type": ""}},
		{"post", "POST /", nil, 405, map[string]string{"Allow": "GET, HEAD, OPTIONS"}},
		{"no method", "BREW /", nil, 501, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			res := send(doc, tt.request, "", tt.header...)
			if res.StatusCode != tt.status {
				t.Errorf("%d, want %d", res.StatusCode, tt.status)
			}
			for name, want := range tt.want {
				if got := res.Header.Get(name); got != want {
					t.Errorf("%s is %q, want %q", name, got, want)
				}
			}
			body, err := io.ReadAll(res.Body)
			if err != nil {
				t.Fatal(err)
			}
			if empty := tt.status == 304 || tt.status == 204 ||
				strings.HasPrefix(tt.request, "HEAD"); empty != (len(body) == 0) {
				t.Errorf("%d bytes of content", len(body))
			}
		})
	}
}

// TestTags checks that each representation has a strong entity tag of its own, and that a request with
// the tag is 304.
func TestTags(t *testing.T) {
	t.Parallel()
	doc := openapi.New(newShop(t).now, &openapi.Options{REST: shopREST})
	types := []string{"application/json", "application/openapi+json", "application/vnd.oai.openapi+json",
		"application/yaml", "application/openapi+yaml"}
	seen, first := map[string]bool{}, true
	for _, query := range []string{"", "?openapi=3.0", "?openapi=3.2", "?profile=full",
		"?profile=full&openapi=3.0", "?profile=full&openapi=3.2"} {
		for _, media := range types {
			for _, coding := range []string{"identity", "gzip"} {
				fields := []string{"Accept: " + media, "Accept-Encoding: " + coding}
				tag := send(doc, "GET /"+query, "", fields...).Header.Get("Etag")
				if tag == "" || strings.HasPrefix(tag, "W/") || seen[tag] {
					t.Errorf("%s %q: the tag %s is weak or that of another representation", query, fields, tag)
				}
				seen[tag] = true
				res := send(doc, "GET /"+query, "", append(fields, "If-None-Match: "+tag)...)
				if res.StatusCode != http.StatusNotModified || res.Header.Get("Etag") != tag ||
					res.Header.Get("Vary") != "Accept, Accept-Encoding" {
					t.Errorf("%s %q: %d %v", query, fields, res.StatusCode, res.Header)
				}
				same := send(doc, "GET /", "", "If-None-Match: "+tag).StatusCode == http.StatusNotModified
				if same != first {
					t.Errorf("%s %q: its tag matches that of the plain document: %v", query, fields, same)
				}
				first = false
			}
		}
	}
}

func TestGzip(t *testing.T) {
	t.Parallel()
	doc := openapi.New(newShop(t).now, &openapi.Options{REST: shopREST})
	zr, err := gzip.NewReader(send(doc, "GET /", "", "Accept-Encoding: gzip").Body)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(zr)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(doc.JSON(), got) {
		t.Error("what is compressed is another document")
	}
}

// TestConcurrentUse is for the race detector.
func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	doc := openapi.New(newShop(t).now, &openapi.Options{REST: shopREST})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if status := send(doc, "GET /", "").StatusCode; status != http.StatusOK {
				t.Errorf("%d", status)
			}
		})
	}
	wg.Wait()
}

// TestRuleD5ClientsAreTold: 204 and 410 both mean that it is gone, and 404 that it was never known, where that is so.
func TestRuleD5ClientsAreTold(t *testing.T) {
	t.Parallel()
	shop := newShop(t)
	d := described(t, openapi.New(shop.now, &openapi.Options{REST: shopREST}))
	tests := []struct {
		path, says string
		statuses   string
	}{
		{"/orders/{id}", "204 means that the item has been deleted, and 410 that it was deleted before",
			"204 404 410"},
		{"/orders/{id}", "404 means that it never existed", "204 404 410"},
		{"/countries/{id}", "204 means that the item has been deleted, now or before", "204 404"},
	}
	for _, tt := range tests {
		op := d.at(d.root, "paths", tt.path, "delete")
		if text := d.at(op, "description").(string); !strings.Contains(text, tt.says) {
			t.Errorf("%s: the description does not say %q: %s", tt.path, tt.says, text)
		}
		var got []string
		for _, status := range []string{"204", "404", "410"} {
			if d.at(op, "responses", status) != nil {
				got = append(got, status)
			}
		}
		if diff := cmp.Diff(tt.statuses, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.path, diff)
		}
	}
	// And it is so.
	at := send(shop.handler(), "POST /orders", `{"lines":[{"itemId":1,"qty":1}]}`).Header.Get("Location")
	for _, tt := range []struct {
		request string
		status  int
	}{{"DELETE " + at, 204}, {"DELETE " + at, 410}, {"GET " + at, 410}, {"DELETE /orders/99", 404}} {
		if got := send(shop.handler(), tt.request, "").StatusCode; got != tt.status {
			t.Errorf("%s: %d, want %d", tt.request, got, tt.status)
		}
	}
}

// TestDerivedSecurity: without Options.Security, the schemes are those of the challenge, for the parts that
// have a policy.
func TestDerivedSecurity(t *testing.T) {
	t.Parallel()
	shop := newShop(t)
	challenged := func(value string) *openapi.Options {
		o := *shopREST
		o.Challenge = value
		return &openapi.Options{REST: &o}
	}
	hasPolicy := regexp.MustCompile("^/(users|photos|auth/logout)")
	bearer := object{"bearerAuth": object{"type": "http", "scheme": "bearer"}}
	basic := object{"type": "http", "scheme": "basic"}
	private := resource.NewCatalog(nil, resource.New("users", memory.New[user](nil), &resource.Options[user]{
		Scope: func(context.Context) (query.Filter, error) { return query.Filter{}, nil }}))
	tests := []struct {
		name    string
		catalog *resource.Catalog
		opts    *openapi.Options
		root    []any
		// of the operations of parts with a policy, and of those of the others
		private, public any
		schemes         any
	}{
		{"all private", private, nil, []any{object{"bearerAuth": []any{}}}, nil, nil, bearer},
		{"challenge", private, challenged(`Bearer realm="a, Digest b", error = "x"`),
			[]any{object{"bearerAuth": []any{}}}, nil, nil, bearer},
		{"two challenges", private, challenged(`Basic realm="a", charset="UTF-8", Bearer`),
			[]any{object{"basicAuth": []any{}}, object{"bearerAuth": []any{}}}, nil, nil,
			object{"bearerAuth": bearer["bearerAuth"], "basicAuth": basic}},
		{"some private", shop.now, &openapi.Options{REST: shopREST}, []any{},
			[]any{object{"bearerAuth": []any{}}}, nil, bearer},
		{"no policy", resource.NewCatalog(nil, resource.New("places", memory.New[place](nil), nil)), nil,
			[]any{}, nil, nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := described(t, openapi.New(tt.catalog, tt.opts))
			if diff := cmp.Diff(tt.root, d.root["security"]); diff != "" {
				t.Errorf("security (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.schemes, d.root["components"].(object)["securitySchemes"]); diff != "" {
				t.Errorf("schemes (-want +got):\n%s", diff)
			}
			d.operations(func(path, method string, op object) {
				want := tt.public
				switch {
				case method == "OPTIONS" && len(tt.root) > 0:
					want = []any{}
				case method != "OPTIONS" && hasPolicy.MatchString(path):
					want = tt.private
				}
				if diff := cmp.Diff(want, op["security"]); diff != "" {
					t.Errorf("%s %s (-want +got):\n%s", method, path, diff)
				}
			})
		})
	}
}

// TestMinimalIsDescribed: a response without content, because of a preference, is described where the
// document has content.
func TestMinimalIsDescribed(t *testing.T) {
	t.Parallel()
	d := described(t, openapi.New(newShop(t).now, &openapi.Options{REST: shopREST}))
	for _, at := range []string{"/orders post 201", "/users post 201", "/places/{id} put 201", "/orders/{id} put 204",
		"/orders/{id} patch 204"} {
		path, rest, _ := strings.Cut(at, " ")
		method, status, _ := strings.Cut(rest, " ")
		text, _ := d.at(d.root, "paths", path, method, "responses", status, "description").(string)
		if !strings.Contains(text, "Prefer: return=minimal") {
			t.Errorf("%s: %q does not describe return=minimal", at, text)
		}
	}
}

func TestSecurity(t *testing.T) {
	t.Parallel()
	shop := newShop(t)
	plain := described(t, openapi.New(shop.now, &openapi.Options{REST: shopREST}))
	if plain.at(plain.root, "paths", "/orders", "get", "responses", "401") != nil ||
		plain.at(plain.root, "paths", "/users", "get", "responses", "401") == nil {
		t.Error("401 is for resources that have a policy")
	}
	d := described(t, openapi.New(shop.now, &openapi.Options{REST: shopREST,
		Security: []openapi.SecurityScheme{
			{Name: "bearer", Type: "http", Scheme: "bearer", BearerFormat: "JWT"},
			{Name: "key", Type: "apiKey", In: "header", Key: "X-Key"},
			{Name: "login", Type: "oauth2", AuthorizationURL: "https://id.example.com/a",
				TokenURL: "https://id.example.com/t",
				Scopes:   map[string]string{"write": "changes", "read": "looks"}, Require: []string{"read"}},
			{Name: "machine", Type: "oauth2", TokenURL: "https://id.example.com/t"},
			{Name: "oidc", Type: "openIdConnect",
				URL: "https://id.example.com/.well-known/openid-configuration"},
		},
		Secured: func(name string, op resource.Op) bool {
			return op != resource.OpList && op != resource.OpGet
		},
	}))
	want := []any{object{"bearer": []any{}}, object{"key": []any{}}, object{"login": []any{"read"}},
		object{"machine": []any{}},
		object{"oidc": []any{}}}
	if diff := cmp.Diff(want, d.root["security"]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	schemes := d.at(d.root, "components", "securitySchemes")
	if got := d.at(schemes, "login", "flows", "authorizationCode", "scopes"); !cmp.Equal(got,
		object{"read": "looks", "write": "changes"}) {
		t.Errorf("the scopes are %v", got)
	}
	if d.at(schemes, "machine", "flows", "clientCredentials", "tokenUrl") == nil {
		t.Error("a scheme with a TokenURL alone is no client credentials flow")
	}
	d.operations(func(path, method string, op object) {
		if free := op["security"] != nil; free != (method == "GET" || method == "OPTIONS") {
			t.Errorf("%s %s needs nothing: %v", method, path, free)
		}
		if method != "OPTIONS" && d.at(op, "responses", "401") == nil {
			t.Errorf("%s %s does not document 401", method, path)
		}
	})
}

// TestMounted checks documents with a path before the catalog.
func TestMounted(t *testing.T) {
	t.Parallel()
	shop := newShop(t)
	without := described(t, openapi.New(shop.now, &openapi.Options{REST: shopREST}))
	with := described(t,
		openapi.New(shop.now, &openapi.Options{REST: shopREST, IdempotencyKey: true, RateLimit: true}))
	with.operations(func(path, method string, op object) {
		key := method != "GET" && method != "OPTIONS"
		if got := with.parameters(path, method)["Idempotency-Key"] != nil; got != key {
			t.Errorf("%s %s has a key: %v", method, path, got)
		}
		if without.parameters(path, method)["Idempotency-Key"] != nil {
			t.Errorf("%s %s has a key where none is kept", method, path)
		}
		if with.at(op, "responses", "429") == nil || without.at(without.root, "paths", path,
			strings.ToLower(method), "responses", "429") != nil {
			t.Errorf("%s %s: 429 is for those who are counted", method, path)
		}
		if key {
			for _, status := range []string{"400", "409", "422"} {
				if with.at(op, "responses", status) == nil {
					t.Errorf("%s %s with a key does not document %s", method, path, status)
				}
			}
		}
		for status := range op["responses"].(object) {
			h := with.at(op, "responses", status, "headers")
			if good := status[0] == '2' && key; hasHeader(h, "Idempotency-Replayed") != good {
				t.Errorf("%s %s %s is replayed: %v", method, path, status, !good)
			}
			if !hasHeader(h, "RateLimit") {
				t.Errorf("%s %s %s does not tell the quota", method, path, status)
			}
		}
	})
}

package graphql_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/query/graphql"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/version"
)

// The handler implements an interface of package version, which it does not import.
var _ version.Reserver = (*graphql.Handler)(nil)

// TestPaths: a handler knows its own path wherever it is mounted.
func TestPaths(t *testing.T) {
	t.Parallel()
	h := newTestHandler(t)
	mux := func(patterns ...string) http.Handler {
		m := http.NewServeMux()
		for _, p := range patterns {
			m.Handle(p, h)
		}
		return m
	}
	stripped := http.NewServeMux()
	stripped.Handle("/api/", http.StripPrefix("/api", mux("/graphql", "/graphql/")))
	bare := http.NewServeMux()
	bare.Handle("/ask", http.StripPrefix("/ask", h))
	bare.Handle("/ask/", http.StripPrefix("/ask", h))
	tests := []struct {
		name    string
		handler http.Handler
		paths   []string
		schema  string
		nothing []string
	}{
		{"nowhere", h, []string{"/graphql", "/graphql/", "/v1/graphql", "/"}, "/graphql/schema.graphql",
			[]string{"/graphql/x", "/x", "/graphql/schema.graphql/", "/graphql/x/y"}},
		{"a mux", mux("/graphql", "/graphql/"), []string{"/graphql", "/graphql/"}, "/graphql/schema.graphql",
			[]string{"/graphql/graphql", "/graphql/x"}},
		{"another name", mux("/ask", "/ask/"), []string{"/ask", "/ask/"}, "/ask/schema.graphql",
			[]string{"/ask/x", "/ask/graphql"}},
		{"with a method", mux("POST example.com/ask", "/ask/"), []string{"/ask"}, "/ask/schema.graphql",
			[]string{"/ask/x"}},
		{"exactly", mux("/ask/{$}", "/schema.graphql"), []string{"/ask/"}, "/schema.graphql", nil},
		{"the root", mux("/"), []string{"/", "/graphql"}, "/schema.graphql", []string{"/x"}},
		{"under a prefix", stripped, []string{"/api/graphql"}, "/api/graphql/schema.graphql",
			[]string{"/api/graphql/x"}},
		{"stripped", bare, []string{"/ask", "/ask/"}, "/ask/schema.graphql", []string{"/ask/x"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, path := range tt.paths {
				wantBody(t, send(t, tt.handler, "POST "+path, jsonBody, "", typenameBody), 200, typenameIs)
			}
			want(t, send(t, tt.handler, "GET "+tt.schema), 200, "Content-Type: text/plain; charset=utf-8")
			for _, path := range tt.nothing {
				want(t, send(t, tt.handler, "POST "+path, jsonBody, "", typenameBody), 404,
					"Content-Type: "+problem.MediaType)
			}
		})
	}
}

// TestSchema: the SDL is served as a text that can be kept.
func TestSchema(t *testing.T) {
	t.Parallel()
	h := newTestHandler(t)
	const path = "/graphql/schema.graphql"
	res := send(t, h, "GET "+path)
	wantBody(t, res, 200, h.SDL(), "Content-Type: text/plain; charset=utf-8", "Etag: *",
		"Cache-Control: private, no-cache",
		"Vary: Accept, Accept-Encoding", "X-Content-Type-Options: nosniff")
	if !strings.Contains(h.SDL(), "\ntype Query {\n") || !strings.Contains(h.SDL(), "who pays") {
		t.Errorf("the schema is\n%s", h.SDL())
	}
	wantBody(t, send(t, h, "HEAD "+path), 200, "", "Content-Length: *", "Etag: "+res.header.Get("Etag"))
	want(t, send(t, h, "GET "+path, "If-None-Match: "+res.header.Get("Etag")), 304)
	want(t, send(t, h, "GET "+path, "Accept: application/graphql"), 200,
		"Content-Type: application/graphql; charset=utf-8")
	want(t, send(t, h, "GET "+path, "Accept: text/html, */*;q=0.8"), 200,
		"Content-Type: text/plain; charset=utf-8")
	want(t, send(t, h, "GET "+path, "Accept-Encoding: gzip"), 200, "Content-Encoding: gzip")
	want(t, send(t, h, "GET "+path, "Accept: image/png"), 406, "Content-Type: "+problem.MediaType)
	want(t, send(t, h, "GET "+path, "Accept-Encoding: identity;q=0, *;q=0"), 406,
		"Content-Type: "+problem.MediaType)
	want(t, send(t, h, "POST "+path), 405, "Content-Type: "+problem.MediaType, "Allow: GET, HEAD, OPTIONS")
	want(t, send(t, h, "BREW "+path), 501, "Content-Type: "+problem.MediaType)
	want(t, send(t, h, "OPTIONS "+path), 204, "Allow: GET, HEAD, OPTIONS", "Accept-Post:")
}

// TestNoIntrospection: neither queries nor the SDL reveal the schema.
func TestNoIntrospection(t *testing.T) {
	t.Parallel()
	h := newTestHandler(t, func(s *setup) { s.opts.NoIntrospection = true })
	want(t, send(t, h, "GET /graphql/schema.graphql"), 404, "Content-Type: "+problem.MediaType)
	for _, field := range []string{"__schema{queryType{name}}", `__type(name:\"Query\"){name}`} {
		res := send(t, h, "POST /graphql", jsonBody, acceptNew, "", `{"query":"{`+field+`}"}`)
		wantCode(t, res, 400, "GRAPHQL_VALIDATION_FAILED")
	}
	wantBody(t, send(t, h, ask("{__typename}")), 200, typenameIs)
}

// TestContracts: one handler for each contract.
func TestContracts(t *testing.T) {
	t.Parallel()
	served := func(opts ...func(*setup)) http.Handler {
		m := http.NewServeMux()
		h := newTestHandler(t, opts...)
		m.Handle("/graphql", h)
		m.Handle("/graphql/", h)
		return m
	}
	named := func(s *setup) { s.opts.Names = map[string]string{"orders": "Purchase"} }
	api := version.New([]version.Contract{{Name: "1.0.0", Handler: served(named)},
		{Name: "2.0.0", Handler: served()}},
		[]version.Strategy{version.Path{}, version.Header{Name: "API-Version"}, version.Query{},
			version.MediaType{Vendor: "shop"},
			version.Body{}}, &version.Options{Default: "2.0.0"})
	const order, purchase = `{"query":"{order(id:\"1\"){__typename}}"}`,
		`{"query":"{purchase(id:\"1\"){__typename}}"}`
	const isOrder, isPurchase = `{"data":{"order":{"__typename":"Order"}}}`,
		`{"data":{"purchase":{"__typename":"Purchase"}}}`
	const vendor = "application/vnd.shop.1.0.0.graphql+json"
	tests := []struct {
		name, line string
		fields     []string
		body, want string
		form       string
	}{
		{"the default", "POST /graphql", nil, order, isOrder, typeOld},
		{"the path", "POST /v1/graphql", nil, purchase, isPurchase, typeOld},
		{"a header", "POST /graphql", []string{"API-Version: 1"}, purchase, isPurchase, typeOld},
		{"a parameter", "POST /graphql?version=1", nil, purchase, isPurchase, typeOld},
		{"a parameter of GET", strings.Replace(ask(`{purchase(id:"1"){__typename}}`), "?", "?version=1&", 1),
			nil, "", isPurchase, typeOld},
		{"the type asked for", "POST /graphql", []string{"Accept: " + vendor}, purchase, isPurchase,
			"Content-Type: " + vendor},
		{"the type, less than another", "POST /v1/graphql",
			[]string{"Accept: application/json, " + vendor + ";q=0.5"}, purchase, isPurchase, typeOld},
		{"the type, less than the newer", "POST /graphql",
			[]string{"Accept: " + vendor + ";q=0.5, application/graphql-response+json"}, purchase, isPurchase,
			typeNew},
		{"the type of the content", "POST /graphql", []string{"Content-Type: " + vendor}, purchase,
			isPurchase, "Content-Type: " + vendor},
		{"a member", "POST /graphql", nil, `{"version":"1.0.0",` + purchase[1:], isPurchase, typeOld},
		{"a variable that is called version", "POST /graphql", nil, order[:len(order)-1] +
			`,"variables":{"version":"1.0.0"}}`, isOrder, typeOld},
		{"Apollo's version", "POST /graphql", nil,
			order[:len(order)-1] + `,` + persistedQuery(hashOf(`{order(id:"1"){__typename}}`)) + `}`, isOrder,
			typeOld},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := request(t, tt.line, append(tt.fields, "", tt.body)...)
			if r.Header.Get("Content-Type") == "" {
				r.Header.Set("Content-Type", "application/json")
			}
			wantBody(t, answered(api, r), 200, tt.want, tt.form)
		})
	}
	want(t, send(t, api, "GET /v1/graphql/schema.graphql"), 200)
	wantCode(t, send(t, api, "POST /graphql", "Content-Type: "+vendor, "", order), 400,
		"GRAPHQL_VALIDATION_FAILED")
}

// TestReserve: what is a parameter of requests cannot be the version as well.
func TestReserve(t *testing.T) {
	t.Parallel()
	h := newTestHandler(t)
	for _, name := range []string{"query", "documentId", "operationName", "variables", "extensions"} {
		if h.Reserve(name, "") == nil || h.Reserve("", name) == nil {
			t.Errorf("%s may be the version", name)
		}
	}
	if err := h.Reserve("version", "version"); err != nil {
		t.Error(err)
	}
}

// TestReport checks the start-up report.
func TestReport(t *testing.T) {
	t.Parallel()
	c, _ := catalog(t, watched(t, nil))
	tests := []struct {
		name string
		opts *graphql.Options
		has  []string
		not  []string
	}{
		{"as it comes", nil, []string{"GraphQL  ", "10000 tokens", "16 levels", "cost 50000", "30s",
			"weak: introspection",
			"weak: no Trusted",
			"subscriptions: orders users, over WebSocket and SSE"},
			[]string{"batches", "Timeout", "public"}},
		{"strict", &graphql.Options{NoIntrospection: true, Trusted: graphql.Documents{"a": "{__typename}"}},
			[]string{"only the 1 of Trusted"}, []string{"weak"}},
		{"without WebSockets", &graphql.Options{Socket: graphql.Socket{None: true}},
			[]string{"subscriptions: orders users, over SSE"}, []string{"WebSocket"}},
		{"loose", &graphql.Options{Timeout: -1, Batch: 7, Cache: "public, max-age=60"},
			[]string{"batches: up to 7", "weak: no Timeout",
				"weak: Cache is public"}, []string{"30s"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			report := graphql.New(c, tt.opts).Report()
			for _, s := range tt.has {
				if !strings.Contains(report, s) {
					t.Errorf("without %q:\n%s", s, report)
				}
			}
			for _, s := range tt.not {
				if strings.Contains(report, s) {
					t.Errorf("with %q:\n%s", s, report)
				}
			}
		})
	}
}

// TestRegistration: what can never work is said at the start, all of it.
func TestRegistration(t *testing.T) {
	t.Parallel()
	c, _ := catalog(t)
	wantPanic(t, "users", func() {
		graphql.New(c, &graphql.Options{Names: map[string]string{"users": "no name"}})
	})
	wantPanic(t, "graphql: ", func() { graphql.New(resource.NewCatalog(nil), nil) })
	wantPanic(t, "graphql: ", func() { graphql.New(c, &graphql.Options{Fields: []graphql.Field{{}}}) })
}

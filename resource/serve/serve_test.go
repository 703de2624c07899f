package serve_test

import (
	"context"
	"encoding/json"
	"errors"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/query/graphql"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/blob"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/files"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/observe"
	"github.com/stoa-go/stoa/resource/openapi"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/rest"
	"github.com/stoa-go/stoa/resource/serve"
	"github.com/stoa-go/stoa/version"
)

type note struct {
	ID   int64  `json:"id" readOnly:"true"`
	Text string `json:"text" required:"true" minLength:"1"`
}

// notes returns a catalog with one collection.
func notes(name string) *resource.Catalog {
	return resource.NewCatalog(nil, resource.New(name, memory.New[note](nil), &resource.Options[note]{Public: true}))
}

// versions returns an API with a current, a deprecated and a retired version.
func versions(opts *serve.Options, strategies ...version.Strategy) *version.Negotiator {
	day := func(month time.Month) time.Time { return time.Date(2026, month, 1, 0, 0, 0, 0, time.UTC) }
	return version.New([]version.Contract{
		{Name: "2.0.0", Handler: serve.NewContract(notes("notes"), opts)},
		{Name: "1.0.0", Handler: serve.NewContract(notes("memos"), opts), Deprecated: day(1), Sunset: day(12)},
		{Name: "0.9.0", Sunset: day(2)},
	}, strategies, &version.Options{Default: "2.0.0", Now: func() time.Time { return day(6) }})
}

// send sends a request with header lines, such as "Accept: text/html".
func send(t *testing.T, h http.Handler, method, target, body string, lines ...string) *http.Response {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Add(name, value)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func bodyOf(t *testing.T, resp *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

const browser = "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"

func TestPaths(t *testing.T) {
	t.Parallel()
	const linkset = `application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"`
	tests := []struct {
		method, target, line string
		status               int
		contentType          string
	}{
		{"GET", "/", "", 200, "application/json"},
		{"GET", "/", browser, 200, "text/html; charset=utf-8"},
		{"HEAD", "/", browser, 200, "text/html; charset=utf-8"},
		{"GET", "/", "Accept: image/png", 406, problem.MediaType},
		{"POST", "/", "", 405, problem.MediaType},
		{"GET", "/notes", "", 200, "application/json"},
		{"GET", "/notes/1", "", 404, problem.MediaType},
		{"GET", "/openapi.json", "", 200, "application/json"},
		{"GET", "/openapi.json", "Accept: text/html", 406, problem.MediaType},
		{"GET", "/openapi.yaml", "", 200, "application/yaml"},
		{"HEAD", "/openapi.yaml", "", 200, "application/yaml"},
		{"PUT", "/openapi.yaml", "", 405, problem.MediaType},
		{"GET", "/openapi", "", 404, problem.MediaType},
		{"GET", "/docs", browser, 200, "text/html; charset=utf-8"},
		{"HEAD", "/docs", "", 200, "text/html; charset=utf-8"},
		{"POST", "/docs", "", 405, problem.MediaType},
		{"GET", "/graphql", browser, 200, "text/html; charset=utf-8"},
		{"GET", "/graphql?query={__typename}", "", 200, "application/json; charset=utf-8"},
		{"GET", "/graphql/schema.graphql", "", 200, "text/plain; charset=utf-8"},
		{"GET", "/health", "", 200, "application/json"},
		{"GET", "/ready", "", 200, "application/json"},
		{"DELETE", "/ready", "", 405, problem.MediaType},
		{"GET", "/.well-known/api-catalog", "", 200, linkset},
		{"HEAD", "/.well-known/api-catalog", "", 200, linkset},
		{"BREW", "/.well-known/api-catalog", "", 501, problem.MediaType},
		{"GET", "/llms.txt", "", 200, "text/plain; charset=utf-8"},
		{"OPTIONS", "/llms.txt", "", 204, ""},
		{"GET", "/health/", "", 308, ""},
		{"GET", "/health/?a=b", "", 308, ""},
		{"GET", "/elsewhere", "", 404, problem.MediaType},
	}
	handlers := map[string]http.Handler{}
	handlers[""] = serve.New(notes("notes"), nil)
	handlers["/api"] = http.StripPrefix("/api", serve.New(notes("notes"), nil))
	mux := http.NewServeMux()
	mux.Handle("/deep/api/", http.StripPrefix("/deep/api/", serve.New(notes("notes"), nil)))
	handlers["/deep/api"] = mux
	for prefix, h := range handlers {
		for _, tt := range tests {
			resp := send(t, h, tt.method, prefix+tt.target, "", tt.line)
			if got := resp.Header.Get("Content-Type"); resp.StatusCode != tt.status || got != tt.contentType {
				t.Errorf("%s %s%s %s: %d %q, want %d %q", tt.method, prefix, tt.target, tt.line, resp.StatusCode, got,
					tt.status, tt.contentType)
			}
			isJSON := resp.Header.Get("Content-Type") == "application/json" // which no browser renders
			if resp.StatusCode == 200 && !isJSON && resp.Header.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("%s %s%s: without nosniff", tt.method, prefix, tt.target)
			}
			if resp.StatusCode == 308 && resp.Header.Get("Location") != prefix+strings.Replace(tt.target, "health/", "health", 1) {
				t.Errorf("%s %s%s: Location %q", tt.method, prefix, tt.target, resp.Header.Get("Location"))
			}
			if resp.StatusCode == 308 && resp.Header.Get("Cache-Control") != "no-store" {
				t.Errorf("%s %s%s: Cache-Control %q", tt.method, prefix, tt.target, resp.Header.Get("Cache-Control"))
			}
			if resp.StatusCode == 405 && resp.Header.Get("Allow") == "" {
				t.Errorf("%s %s%s: 405 without Allow", tt.method, prefix, tt.target)
			}
		}
	}
}

// TestConditional checks entity tags, coding and Vary of each document.
func TestConditional(t *testing.T) {
	t.Parallel()
	h := serve.New(notes("notes"), nil)
	for _, target := range []string{"/", "/openapi.json", "/openapi.yaml", "/docs", "/.well-known/api-catalog",
		"/llms.txt"} {
		first := send(t, h, "GET", target, "")
		again := send(t, h, "GET", target, "", "If-None-Match: "+first.Header.Get("ETag"))
		if again.StatusCode != 304 || bodyOf(t, again) != "" || again.Header.Get("Cache-Control") != "no-cache" {
			t.Errorf("%s: a conditional request is %d, %v", target, again.StatusCode, again.Header)
		}
		if vary := first.Header.Get("Vary"); !strings.Contains(vary, "Accept-Encoding") {
			t.Errorf("%s: Vary %q", target, vary)
		}
		head := send(t, h, "HEAD", target, "")
		if diff := cmp.Diff(first.Header, head.Header); diff != "" || bodyOf(t, head) != "" {
			t.Errorf("%s: HEAD (-GET +HEAD):\n%s", target, diff)
		}
	}
	if vary := send(t, h, "GET", "/", "", browser).Header.Get("Vary"); vary != "Accept, Accept-Encoding" {
		t.Errorf("index: Vary %q", vary)
	}
}

// TestIndexBelowAPrefix checks that every link of the index and of the other documents leads to a
// response, also below a prefix.
func TestIndexBelowAPrefix(t *testing.T) {
	t.Parallel()
	for _, prefix := range []string{"", "/api"} {
		h := http.StripPrefix(prefix, serve.New(notes("notes"), nil))
		var index struct {
			Links map[string]string
			Parts []struct{ URL string }
		}
		if err := json.Unmarshal([]byte(bodyOf(t, send(t, h, "GET", prefix+"/", ""))), &index); err != nil {
			t.Fatal(err)
		}
		urls := []string{index.Parts[0].URL}
		for _, url := range index.Links {
			urls = append(urls, url)
		}
		if len(urls) < 10 {
			t.Errorf("the index has the links %q", urls)
		}
		html := bodyOf(t, send(t, h, "GET", prefix+"/", "", browser))
		text := bodyOf(t, send(t, h, "GET", prefix+"/llms.txt", ""))
		for _, url := range urls {
			if status := send(t, h, "GET", url, "", browser).StatusCode; status != 200 && status != 406 {
				t.Errorf("GET %s is %d", url, status)
			}
			if !strings.Contains(html, `href="`+url+`"`) {
				t.Errorf("the page has no link to %s", url)
			}
		}
		if want := "- [GET /notes](" + prefix + "/notes): list\n- `POST /notes`: create\n"; !strings.Contains(text, want) {
			t.Errorf("llms.txt lacks %s:\n%s", want, text)
		}
		var doc struct{ Servers []struct{ URL string } }
		if err := json.Unmarshal([]byte(bodyOf(t, send(t, h, "GET", prefix+"/openapi.json", ""))), &doc); err != nil {
			t.Fatal(err)
		}
		if want := max(prefix, "/"); doc.Servers[0].URL != want {
			t.Errorf("the server of the document is %q, want %q", doc.Servers[0].URL, want)
		}
	}
}

// TestServersBelowProxyAndMount: the document and the links of responses have the same URLs.
func TestServersBelowProxyAndMount(t *testing.T) {
	t.Parallel()
	h := http.StripPrefix("/api", serve.New(notes("notes"), &serve.Options{REST: &rest.Options{Base: "/gate"}}))
	var doc struct{ Servers []struct{ URL string } }
	if err := json.Unmarshal([]byte(bodyOf(t, send(t, h, "GET", "/api/openapi.json", ""))), &doc); err != nil {
		t.Fatal(err)
	}
	created := send(t, h, "POST", "/api/notes", `{"text":"a"}`, "Content-Type: application/json")
	location := created.Header.Get("Location")
	if want := "/gate/api"; doc.Servers[0].URL != want || !strings.HasPrefix(location, want+"/notes/") {
		t.Errorf("the server of the document is %q and Location %q, want both below %s", doc.Servers[0].URL,
			location, want)
	}
}

func TestAPICatalog(t *testing.T) {
	t.Parallel()
	h := serve.New(notes("notes"), &serve.Options{Title: "Notes", REST: &rest.Options{Base: "https://example.com/api"}})
	resp := send(t, h, "HEAD", "/.well-known/api-catalog", "")
	const link = `<https://example.com/api/.well-known/api-catalog>; rel="api-catalog"`
	if got := resp.Header.Get("Link"); got != link {
		t.Errorf("Link %q, want %q", got, link)
	}
	const want = `{
  "linkset": [
    {
      "anchor": "https://example.com/api/.well-known/api-catalog",
      "item": [
        {
          "href": "https://example.com/api/",
          "title": "Notes"
        },
        {
          "href": "https://example.com/api/graphql",
          "title": "Notes, GraphQL"
        }
      ]
    },
    {
      "anchor": "https://example.com/api/",
      "service-desc": [
        {
          "href": "https://example.com/api/openapi.json",
          "type": "application/json"
        },
        {
          "href": "https://example.com/api/openapi.yaml",
          "type": "application/yaml"
        }
      ],
      "service-doc": [
        {
          "href": "https://example.com/api/docs",
          "type": "text/html"
        },
        {
          "href": "https://example.com/api/",
          "type": "text/html"
        }
      ],
      "status": [
        {
          "href": "https://example.com/api/ready",
          "type": "application/json"
        }
      ]
    },
    {
      "anchor": "https://example.com/api/graphql",
      "service-desc": [
        {
          "href": "https://example.com/api/graphql/schema.graphql",
          "type": "application/graphql"
        }
      ],
      "service-doc": [
        {
          "href": "https://example.com/api/graphql",
          "type": "text/html"
        }
      ]
    }
  ]
}
`
	if diff := cmp.Diff(want, bodyOf(t, send(t, h, "GET", "/.well-known/api-catalog", ""))); diff != "" {
		t.Errorf("API catalog (-want +got):\n%s", diff)
	}
}

func TestVersions(t *testing.T) {
	t.Parallel()
	opts := &serve.Options{Title: "Notes"}
	h := serve.NewVersions(versions(opts, version.Path{}), opts)
	tests := []struct {
		target, line string
		status       int
		contains     string
	}{
		{"/notes", "", 200, `{"items":[]}`},
		{"/v1/memos", "", 200, `{"items":[]}`},
		{"/v1/notes", "", 404, ""},
		{"/v0.9.0/notes", "", 410, ""},
		{"/openapi.json", "", 200, `"version": "2.0.0"`},
		{"/openapi.yaml", "", 200, "\n  version: \"2.0.0\"\n"},
		{"/openapi/2.0.0.json", "", 200, `"/notes/{id}"`},
		{"/openapi/1.0.0.json", "", 200, `"/memos/{id}"`},
		{"/openapi/1.0.0.yaml", "", 200, "\n  /memos/{id}:\n"},
		{"/openapi/0.9.0.json", "", 404, "no document of this version"},
		{"/openapi", "", 200, `"status":"deprecated"`},
		{"/graphql?query={notes{nodes{id}}}", "", 200, `{"data":{"notes":{"nodes":[]}}}`},
		{"/v1/graphql?query={memos{nodes{id}}}", "", 200, `{"data":{"memos":{"nodes":[]}}}`},
		{"/", "", 200, `"graphql": "/v1/graphql"`},
		{"/", browser, 200, `<td class="retired">retired</td>`},
		{"/docs", browser, 200, html.EscapeString(`[{"name":"2.0.0","url":"openapi/2.0.0.json",` +
			`"full":"openapi/2.0.0.json?profile=full"},{"name":"1.0.0",`)},
		{"/", "", 200, `"docs": "/docs?version=1.0.0"`},
		{"/llms.txt", "", 200, "- [1.0.0](/openapi/1.0.0.json): deprecated\n- 0.9.0: retired\n"},
		{"/.well-known/api-catalog", "", 200, `"href": "/openapi/1.0.0.json"`},
	}
	for _, tt := range tests {
		resp := send(t, h, "GET", tt.target, "", tt.line)
		if got := bodyOf(t, resp); resp.StatusCode != tt.status || !strings.Contains(got, tt.contains) {
			t.Errorf("GET %s: %d, want %d with %q:\n%.2000s", tt.target, resp.StatusCode, tt.status, tt.contains, got)
		}
	}
	byQuery := serve.NewVersions(versions(opts, version.Query{}), opts)
	if got := bodyOf(t, send(t, byQuery, "GET", "/", "")); !strings.Contains(got, `"/graphql?version=1"`) {
		t.Errorf("the index does not name the version by query: %s", got)
	}
}

func TestAuthorize(t *testing.T) {
	t.Parallel()
	opts := &serve.Options{
		Challenge: `Bearer realm="notes"`,
		Authorize: func(r *http.Request) error {
			switch r.Header.Get("Authorization") {
			case "":
				return resource.ErrUnauthenticated
			case "Bearer guest":
				return resource.ErrForbidden
			case "Bearer broken":
				return errors.New("database is down")
			}
			return nil
		},
	}
	h := serve.New(notes("notes"), opts)
	tests := []struct {
		method, target, accept string
		private                bool
	}{
		{"GET", "/", "*/*", true},
		{"GET", "/openapi.json", "*/*", true},
		{"GET", "/openapi.yaml", "*/*", true},
		{"GET", "/llms.txt", "*/*", true},
		{"GET", "/docs", "text/html", true},
		{"GET", "/.well-known/api-catalog", "*/*", true},
		{"GET", "/graphql", "text/html", true},
		{"GET", "/graphql", "TEXT/HTML", true},
		{"GET", "/graphql", "text/*, text/event-stream;q=0", true},
		{"GET", "/graphql/schema.graphql", "*/*", true},
		{"GET", "/graphql?query={__typename}", "application/json", false},
		{"GET", "/graphql?query={__typename}", "application/json, text/html;q=0.1", false},
		{"GET", "/health", "*/*", false},
		{"GET", "/ready", "*/*", false},
		{"GET", "/notes", "*/*", false},
	}
	for _, tt := range tests {
		for token, status := range map[string]int{"": 401, "guest": 403, "broken": 500, "ada": 200} {
			lines := []string{"Accept: " + tt.accept}
			if token != "" {
				lines = append(lines, "Authorization: Bearer "+token)
			}
			if !tt.private {
				status = 200
			}
			resp := send(t, h, tt.method, tt.target, "", lines...)
			if resp.StatusCode != status {
				t.Errorf("%s %s as %q: %d, want %d", tt.method, tt.target, token, resp.StatusCode, status)
			}
			if challenge := resp.Header.Get("WWW-Authenticate"); (challenge == `Bearer realm="notes"`) != (status == 401) {
				t.Errorf("%s %s as %q: WWW-Authenticate %q", tt.method, tt.target, token, challenge)
			}
			if strings.Contains(bodyOf(t, resp), "database") {
				t.Errorf("%s %s: the error is in the response", tt.method, tt.target)
			}
		}
	}
}

// TestChallenge checks that one option applies to REST, GraphQL and documents.
func TestChallenge(t *testing.T) {
	t.Parallel()
	const own = `Bearer realm="notes", Basic realm="notes"`
	private := resource.New("notes", memory.New[note](nil), &resource.Options[note]{
		Authorize: func(context.Context, resource.Op, *note, *note) error { return resource.ErrUnauthenticated },
	})
	for given, want := range map[string]string{"": "Bearer", own: own} {
		h := serve.New(resource.NewCatalog(nil, private), &serve.Options{Challenge: given,
			REST: &rest.Options{}, GraphQL: &graphql.Options{},
			Authorize: func(*http.Request) error { return resource.ErrUnauthenticated }})
		for _, request := range [][3]string{
			{"GET", "/", ""},
			{"POST", "/notes", `{"text":"x"}`},
			{"POST", "/graphql", `{"query":"mutation { createNote(input: {text: \"x\"}) { id } }"}`},
		} {
			resp := send(t, h, request[0], request[1], request[2], "Content-Type: application/json")
			if diff := cmp.Diff(want, resp.Header.Get("WWW-Authenticate")); diff != "" {
				t.Errorf("%s: %s: WWW-Authenticate (-want +got):\n%s", request[1], bodyOf(t, resp), diff)
			}
		}
	}
}

func TestReady(t *testing.T) {
	t.Parallel()
	h := serve.New(notes("notes"), &serve.Options{Ready: map[string]func(context.Context) error{
		"database": func(context.Context) error { return errors.New("no route to host") },
	}})
	for target, want := range map[string]int{"/health": 200, "/ready": 503} {
		if got := send(t, h, "GET", target, "").StatusCode; got != want {
			t.Errorf("%s: %d, want %d", target, got, want)
		}
	}
}

// TestLeaveOut checks that each part can be left out, and that its path is then that of the catalog.
func TestLeaveOut(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		opts  serve.Options
		paths []string
	}{
		{"index", serve.Options{NoIndex: true}, []string{"/"}},
		{"REST", serve.Options{NoREST: true}, []string{"/notes", "/openapi.json", "/openapi.yaml", "/docs"}},
		{"GraphQL", serve.Options{NoGraphQL: true}, []string{"/graphql", "/graphql/schema.graphql"}},
		{"OpenAPI", serve.Options{NoOpenAPI: true}, []string{"/openapi.json", "/openapi.yaml", "/docs"}},
		{"documentation", serve.Options{NoDocs: true}, []string{"/docs"}},
		{"health", serve.Options{NoHealth: true}, []string{"/health", "/ready"}},
		{"API catalog", serve.Options{NoAPICatalog: true}, []string{"/.well-known/api-catalog"}},
		{"llms.txt", serve.Options{NoLLMs: true}, []string{"/llms.txt"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := serve.New(notes("notes"), &tt.opts)
			for _, path := range tt.paths {
				resp := send(t, h, "GET", path, "", browser)
				if resp.StatusCode != 404 || resp.Header.Get("Content-Type") != problem.MediaType {
					t.Errorf("GET %s: %d, want 404", path, resp.StatusCode)
				}
			}
			index := bodyOf(t, send(t, h, "GET", "/", ""))
			for _, path := range tt.paths[:1] {
				if path != "/" && strings.Contains(index, `"`+path+`"`) {
					t.Errorf("the index has %s", path)
				}
			}
		})
	}
	if got := send(t, serve.New(notes("health"), &serve.Options{NoHealth: true}), "GET", "/health", ""); got.StatusCode != 200 {
		t.Errorf("a collection at the path of a part that is left out: %d", got.StatusCode)
	}
}

func TestMistakes(t *testing.T) {
	t.Parallel()
	action := resource.NewCatalog(nil, command.New("ready/set", func(context.Context, struct{}) (struct{}, error) {
		return struct{}{}, nil
	}, &command.Options[struct{}]{Public: true}))
	tests := []struct {
		name string
		do   func()
		want string
	}{
		{"a collection called health", func() { serve.New(notes("health"), nil) },
			`serve: /health is the path of a health check (Options.NoHealth), and of the part "health" of the catalog; ` +
				`rename the part, or leave the other out and mount it at another path`},
		{"a collection called docs", func() { serve.New(notes("docs"), nil) },
			`serve: /docs is the path of the documentation page (Options.NoDocs), and of the part "docs" of the catalog; ` +
				`rename the part, or leave the other out and mount it at another path`},
		{"a collection called graphql", func() { serve.New(notes("graphql"), nil) },
			`serve: /graphql is the path of GraphQL (Options.NoGraphQL), and of the part "graphql" of the catalog; ` +
				`rename the part, or leave the other out and mount it at another path`},
		{"a collection called llms.txt", func() { serve.New(notes("llms.txt"), nil) },
			`serve: /llms.txt is the path of the summary (Options.NoLLMs), and of the part "llms.txt" of the catalog; ` +
				`rename the part, or leave the other out and mount it at another path`},
		{"a command below ready", func() { serve.New(action, &serve.Options{NoGraphQL: true}) },
			`serve: /ready is the path of a health check (Options.NoHealth), and of the part "ready/set" of the ` +
				`catalog; rename the part, or leave the other out and mount it at another path`},
		{"a collection called openapi, with versions", func() {
			n := version.New([]version.Contract{{Name: "1.0.0", Handler: serve.NewContract(notes("openapi"), nil)}},
				[]version.Strategy{version.Path{}}, nil)
			serve.NewVersions(n, nil)
		}, `serve: /openapi is the path of the list of versions (Options.NoOpenAPI), and of the part "openapi" of the ` +
			`catalog; rename the part, or leave the other out and mount it at another path`},
		{"Authorize of the versions only", func() {
			serve.NewVersions(versions(nil, version.Path{}), &serve.Options{Authorize: func(*http.Request) error { return nil }})
		}, "serve: NewVersions has Authorize, and NewContract of version 2.0.0 has not, so its GraphQL page would be " +
			"public; pass the same Options to both"},
		{"no catalog", func() { serve.New(nil, nil) }, "serve: the catalog is nil; pass the catalog to serve"},
		{"other handlers", func() {
			n := version.New([]version.Contract{{Name: "1.0.0", Handler: rest.New(notes("notes"), nil)}},
				[]version.Strategy{version.Path{}}, nil)
			serve.NewVersions(n, nil)
		}, "serve: no contract of the Negotiator has a Handler of serve.NewContract, which must not be wrapped"},
		{"the challenge of REST alone", func() {
			serve.New(notes("notes"), &serve.Options{REST: &rest.Options{Challenge: "Basic"}})
		}, "serve: Options.REST and Options.GraphQL must have no Challenge; set Options.Challenge"},
		{"the challenge of GraphQL alone", func() {
			serve.New(notes("notes"), &serve.Options{GraphQL: &graphql.Options{Challenge: "Basic"}})
		}, "serve: Options.REST and Options.GraphQL must have no Challenge; set Options.Challenge"},
		{"options of REST in two places", func() {
			serve.New(notes("notes"), &serve.Options{OpenAPI: &openapi.Options{REST: &rest.Options{}}})
		}, "serve: Options.OpenAPI must have no REST and no Negotiator; set Options.REST, and pass the Negotiator to " +
			"NewVersions"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			defer func() {
				if diff := cmp.Diff(any(tt.want), recover()); diff != "" {
					t.Errorf("panic (-want +got):\n%s", diff)
				}
			}()
			tt.do()
		})
	}
}

// TestTextIsEscaped checks that titles and descriptions are no markup.
func TestTextIsEscaped(t *testing.T) {
	t.Parallel()
	h := serve.New(notes("notes"), &serve.Options{Title: "<b>x", Description: "</p><script>y",
		GraphQL: &graphql.Options{Title: "notes"}})
	resp := send(t, h, "GET", "/", "", browser)
	html := bodyOf(t, resp)
	if strings.Contains(html, "<b>") || strings.Contains(html, "<script") {
		t.Errorf("the page is %s", html)
	}
	policy := resp.Header.Get("Content-Security-Policy")
	if !strings.HasPrefix(policy, "default-src 'none'; img-src data:; style-src 'sha256-") ||
		strings.Contains(policy, "unsafe") {
		t.Errorf("the policy is %s", policy)
	}
}

func TestReport(t *testing.T) {
	t.Parallel()
	opts := &serve.Options{}
	for name, h := range map[string]*serve.Handler{
		"one":     serve.New(notes("notes"), opts),
		"several": serve.NewVersions(versions(opts, version.Path{}), opts),
	} {
		report := h.Report()
		for _, want := range []string{"/notes", "/graphql", "pages: / /.well-known/api-catalog", "/llms.txt"} {
			if !strings.Contains(report, want) {
				t.Errorf("%s: the report lacks %s:\n%s", name, want, report)
			}
		}
		if strings.Contains(report, "contracts: 2.0.0") != (name == "several") {
			t.Errorf("%s: the report is\n%s", name, report)
		}
		if err := h.Shutdown(t.Context()); err != nil {
			t.Errorf("%s: Shutdown: %v", name, err)
		}
	}
}

// withoutList is a store that cannot list its blobs.
type withoutList struct{ blob.Store }

// TestNoLinkWithoutGET checks that the index and llms.txt have no link to a path that rejects GET, and
// that the index keeps Vary of a middleware.
func TestNoLinkWithoutGET(t *testing.T) {
	t.Parallel()
	folder, err := files.New(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	c := resource.NewCatalog(nil, blob.New("files", withoutList{folder}, &blob.Options{Public: true, ReadOnly: true}))
	h := serve.New(c, &serve.Options{NoGraphQL: true})
	if got := bodyOf(t, send(t, h, "GET", "/", "", browser)); strings.Contains(got, "Open /files") {
		t.Error("the index has a link to /files")
	}
	if got := bodyOf(t, send(t, h, "GET", "/llms.txt", "")); strings.Contains(got, "](/files)") {
		t.Errorf("llms.txt has a link to /files: %s", got)
	}
	w := httptest.NewRecorder()
	w.Header().Set("Vary", "Origin")
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/", nil))
	if diff := cmp.Diff([]string{"Origin, Accept, Accept-Encoding"}, w.Header()["Vary"]); diff != "" {
		t.Errorf("Vary (-want +got):\n%s", diff)
	}
}

// TestLinkOperations: the index and llms.txt have the paths of links, as the OpenAPI document has.
func TestLinkOperations(t *testing.T) {
	t.Parallel()
	type noteTag struct {
		ID   string `json:"id" readOnly:"true" id:"noteId,tagId"`
		Note int64  `json:"noteId"`
		Tag  int64  `json:"tagId"`
	}
	links := resource.OpsOf(memory.New[noteTag](nil))
	links.Delete, links.Deleted = nil, nil // links are made only
	c := resource.NewCatalog(nil,
		resource.New("notes", memory.New[note](nil), &resource.Options[note]{Public: true,
			Relations: []resource.Relation[note]{
				{Name: "tags", Target: "tags", Through: "note-tags", By: "noteId", To: "tagId"}}}),
		resource.New("tags", memory.New[note](nil), &resource.Options[note]{Public: true,
			Relations: []resource.Relation[note]{
				{Name: "links", Target: "note-tags", Many: true, By: "tagId"}}}),
		links.Resource("note-tags", &resource.Options[noteTag]{Public: true, Query: query.Support{
			Filter: map[string][]query.Op{"noteId": {query.Eq}, "tagId": {query.Eq}}}}))
	h := serve.New(c, &serve.Options{NoGraphQL: true})
	var index struct {
		Parts []struct {
			Operations []struct{ Method, Path, Summary string }
		}
	}
	if err := json.Unmarshal([]byte(bodyOf(t, send(t, h, "GET", "/", ""))), &index); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range index.Parts {
		for _, op := range p.Operations {
			if strings.Contains(op.Path, "{target}") {
				got = append(got, op.Method+" "+op.Path+" "+op.Summary)
			}
		}
	}
	if diff := cmp.Diff([]string{"PUT /notes/{id}/tags/{target} Link"}, got); diff != "" {
		t.Errorf("links in the index (-want +got):\n%s", diff)
	}
	const want = "- `PUT /notes/{id}/tags/{target}`: link\n"
	if text := bodyOf(t, send(t, h, "GET", "/llms.txt", "")); !strings.Contains(text, want) {
		t.Errorf("llms.txt lacks %s:\n%s", want, text)
	}
}

// The routes of REST and GraphQL in observations have the mount and the version.
func TestObservedRoutes(t *testing.T) {
	t.Parallel()
	var routes []string
	catalog := resource.NewCatalog(&resource.CatalogOptions{
		Observe: func(_ context.Context, o observe.Observation) { routes = append(routes, o.Route) },
	}, resource.New("notes", memory.New[note](nil), &resource.Options[note]{Public: true}))
	mux := http.NewServeMux()
	mux.Handle("/api/", http.StripPrefix("/api", serve.New(catalog, nil)))
	n := version.New([]version.Contract{{Name: "1.0.0", Handler: serve.NewContract(catalog, nil)}},
		[]version.Strategy{version.Path{}, version.Query{}}, &version.Options{Default: "1.0.0"})
	mux.Handle("/named/", http.StripPrefix("/named", serve.NewVersions(n, nil)))
	mux.Handle("/", serve.NewVersions(n, nil))
	var want []string
	for _, tt := range []struct{ prefix, query, want string }{
		{"/api", "", "/api"}, {"", "", ""}, {"/v1", "", "/v1"}, {"/named/v1.0", "", "/named/v1.0"},
		{"/named", "", "/named"}, {"/named", "?version=1", "/named"},
	} {
		send(t, mux, "GET", tt.prefix+"/notes/7"+tt.query, "")
		send(t, mux, "POST", tt.prefix+"/graphql"+tt.query, `{"query":"{ notes { nodes { id } } }"}`,
			"Content-Type: application/json")
		want = append(want, tt.want+"/notes/{id}", tt.want+"/graphql")
	}
	if diff := cmp.Diff(want, routes); diff != "" {
		t.Errorf("routes (-want +got):\n%s", diff)
	}
}

package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/examples/internal/recipe"
)

// prefixes are the paths under which main mounts the notes.
var prefixes = []string{"/api", "/chi/v1", "/gin/v1", "/echo/v1"}

func TestReadme(t *testing.T) {
	t.Parallel()
	recipe.Readme(t)
}

// send sends a request to the handler of main.
func send(t *testing.T, h http.Handler, method, target, body string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestURLsKeepThePrefix(t *testing.T) {
	t.Parallel()
	for _, prefix := range prefixes {
		t.Run(prefix, func(t *testing.T) {
			t.Parallel()
			h := newMux()
			created := send(t, h, "POST", prefix+"/notes", `{"text":"first"}`)
			location := created.Header().Get("Location")
			if !strings.HasPrefix(location, prefix+"/notes/") {
				t.Errorf("Location of POST is %q", location)
			}
			if w := send(t, h, "GET", location, ""); w.Code != 200 {
				t.Errorf("GET of Location returned %d", w.Code)
			}
			w := send(t, h, "PUT", prefix+"/notes/a%2Fb", `{"text":"second"}`)
			want := []string{prefix + "/notes/a%2Fb", prefix + "/notes/a%2Fb"}
			got := []string{w.Header().Get("Location"), w.Header().Get("Content-Location")}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("Location and Content-Location of PUT (-want +got):\n%s", diff)
			}
			w = send(t, h, "GET", prefix+"/notes/a%2Fb/?fields=id", "")
			if diff := cmp.Diff(prefix+"/notes/a%2Fb?fields=id", w.Header().Get("Location")); w.Code != 308 ||
				diff != "" {
				t.Errorf("%d, Location of a path with an additional slash (-want +got):\n%s", w.Code, diff)
			}
		})
	}
}

// A client that follows the links receives every item once, with every prefix.
func TestLinksKeepThePrefix(t *testing.T) {
	t.Parallel()
	next := regexp.MustCompile(`<([^>]*)>; rel="next"`)
	for _, prefix := range prefixes {
		t.Run(prefix, func(t *testing.T) {
			t.Parallel()
			h := newMux()
			for _, text := range []string{"one", "two", "three"} {
				send(t, h, "PUT", prefix+"/notes/"+text, `{"text":"`+text+`"}`)
			}
			var pages []string
			for target := prefix + "/notes?limit=1&fields=id"; target != ""; {
				w := send(t, h, "GET", target, "")
				page, _, _ := strings.Cut(w.Body.String(), "]")
				pages = append(pages, page+"]")
				target = ""
				if m := next.FindStringSubmatch(w.Header().Get("Link")); m != nil &&
					strings.HasPrefix(m[1], prefix+"/notes?") {
					target = m[1]
				}
			}
			want := []string{
				`{"items":[{"id":"one"}]`,
				`{"items":[{"id":"three"}]`,
				`{"items":[{"id":"two"}]`,
			}
			if diff := cmp.Diff(want, pages); diff != "" {
				t.Errorf("pages (-want +got):\n%s", diff)
			}
		})
	}
}

// GraphQL is served next to the catalog, with every prefix.
func TestGraphQL(t *testing.T) {
	t.Parallel()
	for _, prefix := range prefixes {
		t.Run(prefix, func(t *testing.T) {
			t.Parallel()
			h := newMux()
			send(t, h, "POST", prefix+"/graphql",
				`{"query":"mutation { createNote(input: {id: \"a/b\", text: \"first\"}) { id } }"}`)
			w := send(t, h, "POST", prefix+"/graphql", `{"query":"{ note(id: \"a/b\") { text } }"}`)
			if diff := cmp.Diff(`{"data":{"note":{"text":"first"}}}`,
				strings.TrimSpace(w.Body.String())); diff != "" {
				t.Errorf("%d (-want +got):\n%s", w.Code, diff)
			}
			if w := send(t, h, "GET", prefix+"/notes/a%2Fb?fields=text",
				""); w.Body.String() != `{"text":"first"}` {
				t.Errorf("REST returned %d: %s", w.Code, w.Body)
			}
			if w := send(t, h, "GET", prefix+"/graphql/schema.graphql", ""); !strings.Contains(
				w.Body.String(), "type Note {") {
				t.Errorf("the schema returned %d: %s", w.Code, w.Body)
			}
			if w := send(t, h, "GET", prefix+"/graphql/nothing", ""); w.Code != 404 {
				t.Errorf("a path below it returned %d: %s", w.Code, w.Body)
			}
		})
	}
}

// TestWrongMethods: a method that the path does not have is answered by the catalog or by the router.
func TestWrongMethods(t *testing.T) {
	t.Parallel()
	const catalog, plain, none = "application/problem+json", "text/plain", ""
	tests := []struct {
		router string
		want   map[string]string // method to status and media type; all answers of the catalog are problems
	}{
		{"net/http", map[string]string{"DELETE": "405 " + catalog, "TRACE": "405 " + catalog, "LINK": "501 " + catalog}},
		{"chi", map[string]string{"DELETE": "405 " + catalog, "TRACE": "405 " + catalog, "LINK": "405 " + none}},
		{"gin", map[string]string{"DELETE": "405 " + catalog, "TRACE": "405 " + catalog, "LINK": "404 " + plain}},
		{"echo", map[string]string{"DELETE": "405 " + catalog, "TRACE": "405 " + catalog, "LINK": "501 " + catalog}},
		{"gorilla/mux", map[string]string{"DELETE": "405 " + catalog, "TRACE": "405 " + catalog, "LINK": "501 " + catalog}},
	}
	got := map[string]map[string]string{}
	want := map[string]map[string]string{}
	for _, tt := range tests {
		want[tt.router] = tt.want
	}
	for _, r := range routers() {
		h := r.mount(newAPI())
		got[r.name] = map[string]string{}
		for method := range want[r.name] {
			w := send(t, h, method, r.prefix+"/notes", "")
			got[r.name][method] = fmt.Sprint(w.Code, " ", w.Header().Get("Content-Type"))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
}

func TestEverythingElseIsServedAsBefore(t *testing.T) {
	t.Parallel()
	h := newMux()
	tests := []struct {
		target      string
		status      int
		contentType string
	}{
		{"/", 200, "text/plain; charset=utf-8"},
		{"/chi/page", 200, "text/plain; charset=utf-8"},
		{"/gin/page", 200, "text/plain; charset=utf-8"},
		{"/echo/page", 200, "text/plain; charset=utf-8"},
		{"/elsewhere", 404, "text/plain; charset=utf-8"},
		{"/api/elsewhere", 404, "application/problem+json"},
		{"/chi/v1/elsewhere", 404, "application/problem+json"},
		{"/gin/v1/elsewhere", 404, "application/problem+json"},
		{"/echo/v1/elsewhere", 404, "application/problem+json"},
	}
	for _, tt := range tests {
		w := send(t, h, "GET", tt.target, "")
		got := w.Header().Get("Content-Type")
		if w.Code != tt.status || got != tt.contentType {
			t.Errorf("GET %s: %d %s, want %d %s", tt.target, w.Code, got, tt.status, tt.contentType)
		}
	}
	for _, prefix := range prefixes {
		target := prefix + "/notes"
		if w := send(t, h, "QUERY", target, `{"limit":1}`); w.Code != 200 {
			t.Errorf("QUERY %s: %d: %s", target, w.Code, w.Body)
		}
		if w := send(t, h, "DELETE", target, ""); w.Code != 405 ||
			w.Header().Get("Allow") != "GET, HEAD, QUERY, POST, OPTIONS" {
			t.Errorf("DELETE %s: %d, Allow: %q", target, w.Code, w.Header().Get("Allow"))
		}
	}
}

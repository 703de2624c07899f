package main

import (
	"encoding/json"
	"html"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// .ci/clients/run docs tests the page in a browser. This test covers the rest.
func TestDocs(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	w := ask(t, s, "GET", "/docs", "")
	text, policy := html.UnescapeString(w.Body.String()), w.Header().Get("Content-Security-Policy")
	const documents = `{"name":"1.0.0","url":"/openapi/1.0.0.json","full":"/openapi/1.0.0.json?profile=full"}]`
	if w.Code != 200 || !strings.Contains(text, documents) {
		t.Errorf("%d: the page does not list %s", w.Code, documents)
	}
	if !strings.HasPrefix(policy, "default-src 'none'; ") ||
		regexp.MustCompile(`https?:|\*|'unsafe`).MatchString(policy) {
		t.Errorf("the policy allows more than the page needs: %s", policy)
	}
}

// TestPagePaths requests the paths of the documentation and of the admin page.
func TestPagePaths(t *testing.T) {
	t.Parallel()
	tests := []struct {
		method, path string
		status       int
		header       string
	}{
		{"HEAD", "/docs", 200, "Content-Type: text/html; charset=utf-8"},
		{"GET", "/docs/", 308, "Location: /docs"},
		{"GET", "/docs/page.js", 404, "Content-Type: application/problem+json"},
		{"GET", "/docs/../orders", 404, "Content-Type: application/problem+json"},
		{"POST", "/docs", 405, "Allow: GET, HEAD, OPTIONS"},
		{"DELETE", "/docs/", 405, "Allow: GET, HEAD, OPTIONS"},
		{"GET", "/openapi/", 404, "Content-Type: application/problem+json"},
		{"GET", "/openapi/0.9.0.json", 404, "Content-Type: application/problem+json"},
		{"PUT", "/openapi/1.0.0.json", 405, "Allow: GET, HEAD, OPTIONS"},
		{"GET", "/admin/", 200, "Content-Type: text/html; charset=utf-8"},
		{"GET", "/admin", 308, "Location: /admin/"},
		{"GET", "/admin/description.json", 200, "Content-Type: application/json"},
		{"GET", "/admin/page.js", 404, "Content-Type: application/problem+json"},
		{"POST", "/admin/description.json", 405, "Allow: GET, HEAD, OPTIONS"},
	}
	s := openShop(t)
	for _, tt := range tests {
		t.Run(tt.method+" "+tt.path, func(t *testing.T) {
			t.Parallel()
			w := ask(t, s, tt.method, tt.path, "")
			name, want, _ := strings.Cut(tt.header, ": ")
			if got := w.Header().Get(name); w.Code != tt.status || got != want {
				t.Errorf("%d, %s: %q; want %d, %q", w.Code, name, got, tt.status, want)
			}
		})
	}
}

func TestDocuments(t *testing.T) {
	t.Parallel()
	tests := []struct {
		contract string
		order    []string
	}{
		{"1.0.0", []string{"id", "itemId", "qty", "status"}},
		{"1.1.0", []string{"id", "itemId", "note", "qty", "status"}},
		{"2.0.0", []string{"createdAt", "customerId", "id", "lines", "note", "status"}},
	}
	s := openShop(t)
	for _, tt := range tests {
		t.Run(tt.contract, func(t *testing.T) {
			t.Parallel()
			w := ask(t, s, "GET", documentPath(tt.contract), "")
			var doc struct {
				Info       struct{ Version string }
				Components struct {
					Examples map[string]struct{ Value json.RawMessage }
				}
			}
			if err := json.Unmarshal(w.Body.Bytes(), &doc); err != nil {
				t.Fatalf("%v: %s", err, w.Body)
			}
			if doc.Info.Version != tt.contract {
				t.Errorf("it is the document of %s", doc.Info.Version)
			}
			var order map[string]any
			if err := json.Unmarshal(doc.Components.Examples["Order"].Value, &order); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.order, slices.Sorted(maps.Keys(order))); diff != "" {
				t.Errorf("members of the example of an order (-want +got):\n%s", diff)
			}
			again := ask(t, s, "GET", documentPath(tt.contract), "", "If-None-Match: "+w.Header().Get("ETag"))
			if again.Code != 304 {
				t.Errorf("a conditional request returned %d", again.Code)
			}
		})
	}
}

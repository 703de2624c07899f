package main

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// .ci/clients/run docs tests the page in a browser. This test covers the rest.
func TestDocs(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	w := ask(t, s, "GET", "/docs", "")
	html, policy := w.Body.String(), w.Header().Get("Content-Security-Policy")
	if w.Code != 200 || !strings.Contains(html, `"/openapi/1.0.0.json"`) ||
		strings.Contains(html, "/openapi/0.9.0.json") {
		t.Errorf("%d: %s", w.Code, html)
	}
	if !strings.HasPrefix(policy, "default-src 'none'; ") ||
		regexp.MustCompile(`https?:|\*|'unsafe`).MatchString(policy) {
		t.Errorf("the policy allows more than the page needs: %s", policy)
	}
	for tag, more := range map[string]int{"script": 0, "style": 1} { // the logo has its own style element
		want := strings.Count(html, "<"+tag+">") + more
		directive := regexp.MustCompile(tag + `-src [^;]*`).FindString(policy)
		if got := strings.Count(directive, "'sha256-"); got != want {
			t.Errorf("the policy has hashes for %d of %d elements %s: %s", got, want, tag, directive)
		}
	}
	links := regexp.MustCompile(`(?:src|href)="([^"]*)"`).FindAllStringSubmatch(html, -1)
	if len(links) != 5 {
		t.Errorf("the page loads %q", links)
	}
	for _, link := range links {
		w := ask(t, s, "GET", link[1], "")
		if w.Code != 200 || w.Header().Get("X-Content-Type-Options") != "nosniff" || w.Body.Len() < 100 {
			t.Errorf("%s: %d %v, %d octets", link[1], w.Code, w.Header(), w.Body.Len())
		}
	}
}

// GET and HEAD of the assets have the same header, with a valid entity tag and ranges.
func TestDocsAssets(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	tags := map[string]bool{}
	for _, encoding := range []string{"identity", "gzip", "gzip;q=0"} {
		accept := "Accept-Encoding: " + encoding
		got := ask(t, s, "GET", "/docs/swagger-ui.css", "", accept)
		head := ask(t, s, "HEAD", "/docs/swagger-ui.css", "", accept)
		if diff := cmp.Diff(got.Header(), head.Header(), cmpopts.IgnoreMapEntries(isRequestID)); diff != "" {
			t.Errorf("%s: header of HEAD (-GET +HEAD):\n%s", encoding, diff)
		}
		h := got.Header()
		tags[h.Get("ETag")] = true
		if !regexp.MustCompile(`^"[^"]+"$`).MatchString(h.Get("ETag")) || h.Get("Accept-Ranges") != "bytes" ||
			h.Get("Vary") != "Accept-Encoding" || h.Get("Content-Length") != strconv.Itoa(got.Body.Len()) ||
			h.Get("Content-Encoding") != map[string]string{"gzip": "gzip"}[encoding] {
			t.Errorf("%s: %d octets, %v", encoding, got.Body.Len(), h)
		}
		if again := ask(t, s, "GET", "/docs/swagger-ui.css", "", accept, "If-None-Match: "+h.Get("ETag")); again.Code != 304 {
			t.Errorf("%s: a conditional request returned %d", encoding, again.Code)
		}
		part := ask(t, s, "GET", "/docs/swagger-ui.css", "", accept, "Range: bytes=2-11")
		if part.Code != 206 || part.Body.String() != got.Body.String()[2:12] {
			t.Errorf("%s: a range is %d with %d octets", encoding, part.Code, part.Body.Len())
		}
	}
	if len(tags) != 2 {
		t.Errorf("two representations have the entity tags %v", tags)
	}
}

func isRequestID(name string, _ []string) bool { return name == "X-Request-Id" }

func TestDocsPaths(t *testing.T) {
	t.Parallel()
	tests := []struct {
		method, path string
		status       int
		header       string
	}{
		{"HEAD", "/docs", 200, "Content-Type: text/html; charset=utf-8"},
		{"GET", "/docs/", 308, "Location: /docs"},
		{"GET", "/docs/swagger-ui.js", 404, "Content-Type: application/problem+json"},
		{"GET", "/docs/../orders", 404, "Content-Type: application/problem+json"},
		{"POST", "/docs", 405, "Allow: GET, HEAD, OPTIONS"},
		{"DELETE", "/docs/swagger-ui.css", 405, "Allow: GET, HEAD, OPTIONS"},
		{"GET", "/openapi/", 404, "Content-Type: application/problem+json"},
		{"GET", "/openapi/0.9.0.json", 404, "Content-Type: application/problem+json"},
		{"PUT", "/openapi/1.0.0.json", 405, "Allow: GET, HEAD, OPTIONS"},
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

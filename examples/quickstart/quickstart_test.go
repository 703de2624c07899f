package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/examples/internal/recipe"
)

func TestReadme(t *testing.T) {
	t.Parallel()
	recipe.ReadmeOf(t, newAPI())
}

// TestReadmeShowsThisFile compares main.go with the first block of Go in README.md.
func TestReadmeShowsThisFile(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(readme), "\n```go\n")
	block, _, _ = strings.Cut(block, "```\n")
	if diff := cmp.Diff(string(file), block); diff != "" {
		t.Errorf("README.md and main.go (-file +README):\n%s", diff)
	}
	if n := strings.Count(string(file), "\n"); n > 35 {
		t.Errorf("main.go has %d lines, want at most 35", n)
	}
}

// created is the response to the first request, without the values that differ each time.
const created = `HTTP/1.1 201 Created
Cache-Control: private, no-cache
Content-Length: 38
Content-Location: /notes/1
Content-Type: application/json
Date: ...
Etag: ...
Last-Modified: ...
Location: /notes/1
Vary: Accept, Accept-Encoding

{"id":1,"text":"buy oil","done":false}`

func TestCreated(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(newAPI())
	defer server.Close()
	resp, err := http.Post(server.URL+"/notes", "application/json", strings.NewReader(`{"text":"buy oil"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var got strings.Builder
	if err := resp.Write(&got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(created, "\n"), steady(got.String())); diff != "" {
		t.Errorf("POST /notes (-want +got):\n%s", diff)
	}
}

var changing = regexp.MustCompile(`(?m)^((?:Date|Last-Modified|Etag): ).*$`)

// steady returns the lines of a response with its header sorted, and without the values that differ each time.
func steady(answer string) []string {
	answer = strings.TrimSpace(strings.ReplaceAll(answer, "\r\n", "\n"))
	lines := strings.Split(changing.ReplaceAllString(answer, "$1..."), "\n")
	if blank := slices.Index(lines, ""); blank > 0 {
		slices.Sort(lines[1:blank])
	}
	return lines
}

func TestQuickstart(t *testing.T) {
	t.Parallel()
	api := newAPI()
	say := func(method, target, contentType, body string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
		r.Header.Set("Content-Type", contentType)
		w := httptest.NewRecorder()
		api.ServeHTTP(w, r)
		return w
	}
	tests := []struct {
		method, target, contentType, body string
		status                            int
		want                              string
	}{
		{"POST", "/notes", "application/json", `{"text":"buy oil"}`, 201, `{"id":1,"text":"buy oil","done":false}`},
		{"POST", "/notes", "application/json", `{"text":"air the hall"}`, 201, `{"id":2,"text":"air the hall","done":false}`},
		{"GET", "/notes?sort=text", "", "", 200,
			`{"items":[{"id":2,"text":"air the hall","done":false},{"id":1,"text":"buy oil","done":false}]}`},
		{"PATCH", "/notes/1", "application/merge-patch+json", `{"done":true}`, 200, `{"id":1,"text":"buy oil","done":true}`},
		{"GET", "/notes?done=true", "", "", 200, `{"items":[{"id":1,"text":"buy oil","done":true}]}`},
		{"DELETE", "/notes/1", "", "", 204, ""},
	}
	for _, tt := range tests {
		w := say(tt.method, tt.target, tt.contentType, tt.body)
		if w.Code != tt.status {
			t.Errorf("%s %s: status %d, want %d", tt.method, tt.target, w.Code, tt.status)
		}
		if diff := cmp.Diff(tt.want, w.Body.String()); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", tt.method, tt.target, diff)
		}
	}
	if w := say("DELETE", "/notes/1", "", ""); w.Code != 410 {
		t.Errorf("a second DELETE: status %d, want 410", w.Code)
	}
}

// TestEverythingServed checks the paths that README.md names, as a browser requests them.
func TestEverythingServed(t *testing.T) {
	t.Parallel()
	api := newAPI()
	for path, contentType := range map[string]string{
		"/":             "text/html; charset=utf-8",
		"/docs":         "text/html; charset=utf-8",
		"/graphql":      "text/html; charset=utf-8",
		"/openapi.json": "application/json",
		"/openapi.yaml": "application/yaml",
		"/notes":        "application/json",
		"/health":       "application/json",
		"/ready":        "application/json",
	} {
		r := httptest.NewRequestWithContext(t.Context(), "GET", path, http.NoBody)
		r.Header.Set("Accept", "text/html,*/*;q=0.8")
		w := httptest.NewRecorder()
		api.ServeHTTP(w, r)
		if got := w.Header().Get("Content-Type"); w.Code != 200 || got != contentType {
			t.Errorf("GET %s: %d %s, want 200 %s", path, w.Code, got, contentType)
		}
	}
}

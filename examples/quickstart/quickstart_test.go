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
)

// block returns what README.md has between a line ```kind and the next line ```, of the n-th such block.
func block(t *testing.T, kind string, n int) string {
	t.Helper()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split("\n"+string(readme), "\n```"+kind+"\n")
	if len(parts) <= n+1 {
		t.Fatalf("README.md has no block %d of kind %s", n, kind)
	}
	text, _, ok := strings.Cut(parts[n+1], "\n```\n")
	if !ok {
		t.Fatalf("block %d of kind %s does not end", n, kind)
	}
	return text + "\n"
}

func TestReadmeShowsThisFile(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(file), block(t, "go", 0)); diff != "" {
		t.Errorf("README.md and main.go (-file +README):\n%s", diff)
	}
	if n := strings.Count(string(file), "\n"); n > 40 {
		t.Errorf("main.go has %d lines, of which 40 are the most that a newcomer reads", n)
	}
}

// The first console block of README.md is a curl command and its answer.
func TestReadmeShowsTheRealAnswer(t *testing.T) {
	t.Parallel()
	command, answer, _ := strings.Cut(block(t, "console", 0), "\n")
	server := httptest.NewServer(newAPI())
	defer server.Close()
	req := parseCurl(t, command, server.URL)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var got strings.Builder
	if err := resp.Write(&got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(steady(answer), steady(got.String())); diff != "" {
		t.Errorf("the answer to %s (-README +got):\n%s", command, diff)
	}
}

var curl = regexp.MustCompile(`^\$ curl -i localhost:8080(\S*) -H '([^:']*): ([^']*)' -d '([^']*)'$`)

// parseCurl makes a request of the form of curl command that README.md has.
func parseCurl(t *testing.T, command, url string) *http.Request {
	t.Helper()
	m := curl.FindStringSubmatch(command)
	if m == nil {
		t.Fatalf("%s is no command that this test understands", command)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+m[1], strings.NewReader(m[4]))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set(m[2], m[3])
	return req
}

var changing = regexp.MustCompile(`(?m)^((?:Date|Last-Modified|Etag): ).*$`)

// steady returns the lines of an answer, without what differs from one time to the next and with the header in an
// order of its own, which has no meaning.
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

package playground_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/stoa-go/stoa/query/graphql/internal/playground"
	"github.com/stoa-go/stoa/resource/problem"
)

// ask sends a request with header lines, such as "Accept-Encoding: gzip".
func ask(t *testing.T, h http.Handler, method, target string, lines ...string) *http.Response {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, target, nil)
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Add(name, value)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func body(t *testing.T, resp *http.Response) string {
	t.Helper()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	h := playground.Handler(playground.Options{})
	plain := ask(t, h, "GET", "/graphql").Header.Get("ETag")
	zipped := ask(t, h, "GET", "/graphql", "Accept-Encoding: gzip").Header.Get("ETag")
	if plain == zipped || plain == "" {
		t.Fatalf("ETags %s and %s are equal for different codings", plain, zipped)
	}
	tests := []struct {
		name, method string
		lines        []string
		status       int
		coding, etag string
		empty        bool
	}{
		{"as it is", "GET", nil, 200, "", plain, false},
		{"compressed", "GET", []string{"Accept-Encoding: br, gzip"}, 200, "gzip", zipped, false},
		{"gzip refused", "GET", []string{"Accept-Encoding: gzip;q=0"}, 200, "", plain, false},
		{"head", "HEAD", nil, 200, "", plain, true},
		{"unchanged", "GET", []string{"If-None-Match: " + plain}, 304, "", plain, true},
		{"unchanged, weakly", "GET", []string{"If-None-Match: \"x\", W/" + plain}, 304, "", plain, true},
		{"unchanged, compressed", "GET", []string{"Accept-Encoding: gzip", "If-None-Match: " + zipped}, 304,
			"", zipped, true},
		{"the other coding", "GET", []string{"Accept-Encoding: gzip", "If-None-Match: " + plain}, 200, "gzip",
			zipped, false},
		{"any", "HEAD", []string{"If-None-Match: *"}, 304, "", plain, true},
		{"tags that are none", "GET", []string{"If-None-Match: x"}, 200, "", plain, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			resp := ask(t, h, tt.method, "/graphql", tt.lines...)
			if resp.StatusCode != tt.status {
				t.Errorf("status %d, want %d", resp.StatusCode, tt.status)
			}
			if got := resp.Header.Get("Content-Encoding"); got != tt.coding {
				t.Errorf("Content-Encoding %q, want %q", got, tt.coding)
			}
			if got := resp.Header.Get("ETag"); got != tt.etag {
				t.Errorf("ETag %s, want %s", got, tt.etag)
			}
			if got := resp.Header.Get("Vary"); got != "Accept-Encoding" {
				t.Errorf("Vary %q", got)
			}
			if got := body(t, resp); (got == "") != tt.empty {
				t.Errorf("a body of %d bytes", len(got))
			}
		})
	}
}

func TestMethods(t *testing.T) {
	t.Parallel()
	for name, h := range handlers() {
		resp := ask(t, h, "POST", "/graphql")
		if resp.StatusCode != http.StatusMethodNotAllowed || resp.Header.Get("Allow") != "GET, HEAD, OPTIONS" {
			t.Errorf("%s: POST is answered with %d, Allow %q", name, resp.StatusCode,
				resp.Header.Get("Allow"))
		}
		if got := resp.Header.Get("Content-Type"); got != problem.MediaType { // rule 1: errors are never text
			t.Errorf("%s: POST is answered with %q", name, got)
		}
	}
}

func TestCompressedIsTheSame(t *testing.T) {
	t.Parallel()
	h := playground.Handler(playground.Options{})
	r, err := gzip.NewReader(ask(t, h, "GET", "/", "Accept-Encoding: gzip").Body)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(body(t, ask(t, h, "GET", "/")), string(got)); diff != "" {
		t.Errorf("compressed page (-want +got):\n%s", diff)
	}
}

// handlers returns a handler for each kind of page.
func handlers() map[string]http.Handler {
	return map[string]http.Handler{
		"own": playground.Handler(playground.Options{}),
		"bundle": playground.Handler(playground.Options{FS: fstest.MapFS{"index.html": {Data: []byte(
			"<p>ours</p>")}}}),
	}
}

// TestSecurityHeaders checks the security headers of each page.
func TestSecurityHeaders(t *testing.T) {
	t.Parallel()
	for name, h := range handlers() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			header := ask(t, h, "GET", "/graphql/").Header
			for field, want := range map[string]string{
				"Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-cache",
				"Referrer-Policy":        "no-referrer",
				"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY",
				"Cross-Origin-Opener-Policy": "same-origin",
			} {
				if got := header.Get(field); got != want {
					t.Errorf("%s: %q, want %q", field, got, want)
				}
			}
			policy := header.Get("Content-Security-Policy")
			for _, want := range []string{"default-src 'none';", "base-uri 'none'", "form-action 'none'",
				"frame-ancestors 'none'", "connect-src 'self'"} {
				if !strings.Contains(policy, want) {
					t.Errorf("the policy lacks %s: %s", want, policy)
				}
			}
			if strings.Contains(policy, "unsafe-eval") ||
				regexp.MustCompile(`script-src[^;]*unsafe-inline`).MatchString(policy) {
				t.Errorf("the policy lets anything run: %s", policy)
			}
		})
	}
}

var elements = regexp.MustCompile(`(?s)<(script|style)[^>]*>(.*?)</(?:script|style)>`)

// TestPolicyHashes checks that the policy has the hash of each inline script and style,
// and no other hash.
func TestPolicyHashes(t *testing.T) {
	t.Parallel()
	resp := ask(t, playground.Handler(playground.Options{}), "GET", "/graphql")
	policy, hashes := resp.Header.Get("Content-Security-Policy"), 0
	for _, m := range elements.FindAllStringSubmatch(body(t, resp), -1) {
		sum := sha256.Sum256([]byte(m[2]))
		want := m[1] + "-src"
		hash := "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
		if !regexp.MustCompile(want + `[^;]*` + regexp.QuoteMeta(hash)).MatchString(policy) {
			t.Errorf("%s of %d bytes is not in the policy", m[1], len(m[2]))
		}
		hashes++
	}
	if got := strings.Count(policy, "'sha256-"); got != hashes || hashes == 0 {
		t.Errorf("the policy has %d hashes for %d elements", got, hashes)
	}
}

// TestSize checks that the page is small enough to be sent on each visit.
func TestSize(t *testing.T) {
	t.Parallel()
	h := playground.Handler(playground.Options{})
	whole, sent := len(body(t, ask(t, h, "GET", "/"))),
		len(body(t, ask(t, h, "GET", "/", "Accept-Encoding: gzip")))
	t.Logf("%d bytes, %d as sent", whole, sent)
	if sent > 34_300 {
		t.Errorf("the page is %d bytes as sent", sent)
	}
}

// TestNoOtherHost checks that the page refers to no other host, and uses no API that
// parses text as HTML or script.
func TestNoOtherHost(t *testing.T) {
	t.Parallel()
	got := body(t, ask(t, playground.Handler(playground.Options{}), "GET", "/"))
	got = strings.ReplaceAll(got, "http://www.w3.org/2000/svg", "") // a namespace, which browsers do not request
	for _, never := range []string{"http:", "https:", `"//`, "innerHTML", "outerHTML", "insertAdjacentHTML",
		"document.write", "eval(", "Function(", "style=", "onclick="} {
		if i := strings.Index(got, never); i >= 0 {
			t.Errorf("the page has %s: %q", never, got[max(0, i-40):min(len(got), i+40)])
		}
	}
}

func TestOptionsAreEscaped(t *testing.T) {
	t.Parallel()
	h := playground.Handler(playground.Options{Title: `</title><script>x</script> {{script}}`,
		Endpoint: `"><script>y`})
	got := body(t, ask(t, h, "GET", "/"))
	for _, want := range []string{
		`<title>&lt;/title&gt;&lt;script&gt;x&lt;/script&gt; {{script}}</title>`,
		`<meta name="endpoint" content="&#34;&gt;&lt;script&gt;y">`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if got := body(t, ask(t, playground.Handler(playground.Options{}), "GET", "/")); !strings.Contains(got,
		"<title>GraphQL</title>") {
		t.Error("without a title the page is not called GraphQL")
	}
}

// TestScriptComplete checks that the page contains each module of the folder and the style. A module
// that no other imports is missing.
func TestScriptComplete(t *testing.T) {
	t.Parallel()
	got := body(t, ask(t, playground.Handler(playground.Options{}), "GET", "/"))
	names, err := filepath.Glob("*.js")
	if err != nil || len(names) < 5 {
		t.Fatalf("scripts: %v, %v", names, err)
	}
	for _, name := range append(names, "page.css") {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if name != "page.css" {
			b, _, _ = bytes.Cut(b, []byte("\n")) // the comment at the beginning of a module
		}
		if !strings.Contains(got, string(bytes.TrimSpace(b))) {
			t.Errorf("%s is not in the page", name)
		}
	}
}

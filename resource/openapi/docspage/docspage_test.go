package docspage_test

import (
	"bytes"
	"compress/gzip"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/httpbody"
	"github.com/stoa-go/stoa/resource/openapi/docspage"
	"github.com/stoa-go/stoa/resource/schema"
)

// get requests the page with header lines, such as "Accept-Encoding: gzip".
func get(t *testing.T, h http.Handler, lines ...string) (*http.Response, string) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), "GET", "/docs", http.NoBody)
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Add(name, value)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	body, err := io.ReadAll(w.Result().Body)
	if err != nil {
		t.Fatal(err)
	}
	return w.Result(), string(body)
}

// page returns the page of one document.
func page() http.Handler {
	return docspage.New([]docspage.Document{{URL: "openapi.json"}}, nil)
}

var element = regexp.MustCompile(`(?s)<(script|style)[^>]*>(.*?)</(?:script|style)>`)

// TestPolicy checks that the policy allows the script and the style of the page, and nothing else.
func TestPolicy(t *testing.T) {
	t.Parallel()
	resp, body := get(t, page())
	hashes := map[string]string{}
	for _, m := range element.FindAllStringSubmatch(body, -1) {
		hashes[m[1]] = httpbody.InlineSource(m[2])
	}
	want := httpbody.PagePolicy("connect-src 'self'; img-src data:; require-trusted-types-for 'script'; " +
		"trusted-types 'none'; script-src " + hashes["script"] + "; style-src " + hashes["style"])
	if diff := cmp.Diff(want, resp.Header.Get("Content-Security-Policy")); diff != "" {
		t.Errorf("policy (-want +got):\n%s", diff)
	}
}

// TestNoOtherHost checks that the page refers to no other host, and uses no API that parses text as
// HTML or script.
func TestNoOtherHost(t *testing.T) {
	t.Parallel()
	_, body := get(t, page())
	for _, fine := range []string{"http://www.w3.org/2000/svg", // a namespace, which browsers do not request
		"https://example.com/", "(https?:", "<?(https?:\\/\\/", "^(https?:", `"net/http"`, "'net/http'"} {
		body = strings.ReplaceAll(body, fine, "")
	}
	for _, never := range []string{"http:", "https:", `"//`, "innerHTML", "outerHTML", "insertAdjacentHTML",
		"document.write", "eval(", "Function(", "style=", "onclick=\""} {
		if i := strings.Index(body, never); i >= 0 {
			t.Errorf("the page has %s: %q", never, body[max(0, i-40):min(len(body), i+40)])
		}
	}
}

// TestComplete checks that the page contains each module of the folder and the style, and that it is
// small. A module that no other imports is missing.
func TestComplete(t *testing.T) {
	t.Parallel()
	_, body := get(t, page())
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
		if !strings.Contains(body, string(bytes.TrimSpace(b))) {
			t.Errorf("%s is not in the page", name)
		}
	}
	_, zipped := get(t, page(), "Accept-Encoding: gzip")
	zr, err := gzip.NewReader(strings.NewReader(zipped))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(zr)
	if err != nil {
		t.Fatal(err)
	}
	if string(plain) != body {
		t.Error("the compressed page differs")
	}
	t.Logf("%d bytes, %d as sent", len(body), len(zipped))
	if len(zipped) > 30_000 {
		t.Errorf("the page is %d bytes as sent", len(zipped))
	}
}

// TestFormats checks that the library accepts the values that a first body has for the formats it checks.
func TestFormats(t *testing.T) {
	t.Parallel()
	_, body := get(t, page())
	_, rest, _ := strings.Cut(body, "const FORMATS = ")
	list, _, _ := strings.Cut(rest, "}))")
	values := map[string][]string{}
	for _, m := range regexp.MustCompile(`'?([a-z][a-z0-9-]*)'?: \[([^\]]*)\]`).FindAllStringSubmatch(list, -1) {
		for text := range strings.SplitSeq(m[2], ", ") {
			values[m[1]] = append(values[m[1]], strings.Trim(text, "'"))
		}
	}
	checked := []string{"date-time", "date", "time", "time-local", "decimal", "duration", "email", "uuid",
		"uri", "hostname", "ipv4", "ipv6"}
	for _, format := range checked {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			if len(values[format]) == 0 {
				t.Fatal("the page has no value")
			}
			typ, err := schema.Of(reflect.StructOf([]reflect.StructField{{Name: "Value",
				Type: reflect.TypeFor[string](), Tag: reflect.StructTag(`json:"value" format:"` + format + `"`)}}))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := typ.Decode([]byte(`{"value":"text"}`), nil); err == nil && format != "hostname" {
				t.Error("the format is not checked")
			}
			for _, value := range values[format] {
				if _, err := typ.Decode([]byte(`{"value":"`+value+`"}`), nil); err != nil {
					t.Errorf("%s: %v", value, err)
				}
			}
		})
	}
}

func TestDocuments(t *testing.T) {
	t.Parallel()
	h := docspage.New([]docspage.Document{
		{Name: "2.0.0", URL: "openapi/2.0.0.json", Full: "openapi/2.0.0.json?profile=full"},
		{Name: `"><b>`, URL: "/old.json"}},
		&docspage.Options{Title: "</title>{{script}}"})
	_, body := get(t, h)
	m := regexp.MustCompile(`<meta name="documents" content="([^"]*)">`).FindStringSubmatch(body)
	if m == nil {
		t.Fatal("the page has no list of documents")
	}
	const want = `[{"name":"2.0.0","url":"openapi/2.0.0.json","full":"openapi/2.0.0.json?profile=full"},` +
		`{"name":"\"\u003e\u003cb\u003e","url":"/old.json"}]`
	if diff := cmp.Diff(want, html.UnescapeString(m[1])); diff != "" {
		t.Errorf("documents (-want +got):\n%s", diff)
	}
	if !strings.Contains(body, "<title>&lt;/title&gt;{{script}}</title>") {
		t.Error("the title is not escaped")
	}
}

func TestMistakes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name      string
		documents []docspage.Document
		want      string
	}{
		{"none", nil, "docspage: no documents; pass at least one"},
		{"no URL", []docspage.Document{{Name: "1.0.0"}},
			`docspage: URL "" of document "1.0.0" must be relative to the page`},
		{"another host", []docspage.Document{{Name: "1.0.0", URL: "https://example.com/openapi.json"}},
			`docspage: URL "https://example.com/openapi.json" of document "1.0.0" must be relative to the page`},
		{"another host without a scheme", []docspage.Document{{URL: "//example.com/openapi.json"}},
			`docspage: URL "//example.com/openapi.json" of document "" must be relative to the page`},
		{"a name twice", []docspage.Document{{Name: "1", URL: "a.json"}, {Name: "1", URL: "b.json"}},
			`docspage: two documents have the name "1"; each name must be unique`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			defer func() {
				if diff := cmp.Diff(any(tt.want), recover()); diff != "" {
					t.Errorf("panic (-want +got):\n%s", diff)
				}
			}()
			docspage.New(tt.documents, nil)
		})
	}
}

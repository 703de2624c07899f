package playground_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stoa-go/stoa/query/graphql/internal/playground"
)

func files() fstest.MapFS {
	return fstest.MapFS{
		"index.html":            {Data: []byte("<p>ours</p>")},
		"assets/app.js":         {Data: []byte("ours()")},
		"graphql/assets/app.js": {Data: []byte("deeper()")},
		"icon.svg":              {Data: []byte("<svg/>")},
	}
}

func TestBundle(t *testing.T) {
	t.Parallel()
	h := playground.Handler(playground.Options{FS: files(), Policy: "default-src 'self'"})
	tests := []struct {
		name, target     string
		status           int
		location, body   string
		contentTypeBegin string
	}{
		{"the page", "/v1/graphql/", 200, "", "<p>ours</p>", "text/html"},
		{"without its slash", "/v1/graphql?query=x", 307, "./graphql/", "", ""},
		{"a file", "/v1/assets/app.js", 200, "", "ours()", "text/javascript"},
		{"the longest that is there", "/v1/graphql/assets/app.js", 200, "", "deeper()", "text/javascript"},
		{"a picture", "/graphql/icon.svg", 200, "", "<svg/>", "image/svg+xml"},
		{"what is not there", "/graphql/x/", 200, "", "<p>ours</p>", "text/html"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			resp := ask(t, h, "GET", tt.target)
			if got := body(t, resp); resp.StatusCode != tt.status || got != tt.body {
				t.Errorf("answered with %d %q, want %d %q", resp.StatusCode, got, tt.status, tt.body)
			}
			if got := resp.Header.Get("Location"); got != tt.location {
				t.Errorf("Location %q, want %q", got, tt.location)
			}
			if got := resp.Header.Get("Content-Type"); !strings.HasPrefix(got, tt.contentTypeBegin) {
				t.Errorf("Content-Type %q, want %q", got, tt.contentTypeBegin)
			}
			if got := resp.Header.Get("Content-Security-Policy"); got != "default-src 'self'" {
				t.Errorf("Content-Security-Policy %q", got)
			}
		})
	}
}

func TestBundleUnchanged(t *testing.T) {
	t.Parallel()
	h := playground.Handler(playground.Options{FS: files()})
	tag := ask(t, h, "GET", "/graphql/").Header.Get("ETag")
	if got := ask(t, h, "GET", "/graphql/", "If-None-Match: "+tag).StatusCode; got != 304 {
		t.Errorf("answered with %d to If-None-Match: %s", got, tag)
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	tests := []struct {
		path, name string
		ok         bool
	}{
		{"/assets/app.js", "assets/app.js", true},
		{"/a/b/icon.svg", "icon.svg", true},
		{"icon.svg", "icon.svg", true},
		{"/graphql/assets", "", false},
		{"/graphql/index.html", "", false},
		{"/graphql/../icon.svg/..", "", false},
		{"/", "", false},
		{"", "", false},
	}
	for _, tt := range tests {
		if name, ok := playground.Find(files(), tt.path); name != tt.name || ok != tt.ok {
			t.Errorf("Find(%q) = %q, %t, want %q, %t", tt.path, name, ok, tt.name, tt.ok)
		}
	}
}

func TestBundleWithoutIndex(t *testing.T) {
	t.Parallel()
	defer func() {
		if said, _ := recover().(string); !strings.Contains(said, "index.html") {
			t.Errorf("the panic is %q", said)
		}
	}()
	playground.Handler(playground.Options{FS: fstest.MapFS{"page.html": {}}})
	t.Error("a bundle without index.html is taken")
}

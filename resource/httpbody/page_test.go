package httpbody_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/httpbody"
	"github.com/stoa-go/stoa/resource/problem"
)

func TestPage(t *testing.T) {
	t.Parallel()
	const style = "body { margin: 0 }"
	page := httpbody.NewPage("<!doctype html><style>"+style+"</style>", "style-src "+httpbody.InlineSource(style))
	w := httptest.NewRecorder()
	page.ServeHTTP(w, request("GET", ""))
	for name, want := range map[string]string{
		"Content-Type":  "text/html; charset=utf-8",
		"Cache-Control": "no-cache",
		"Vary":          "Accept-Encoding",
		"Content-Security-Policy": "default-src 'none'; style-src " +
			"'sha256-mX+s7KJgWpgxJola85xdpAFPBQaV091gzM2oPjgTW2w='; base-uri 'none'; form-action 'none'; " +
			"frame-ancestors 'none'",
		"Cross-Origin-Opener-Policy": "same-origin",
		"Referrer-Policy":            "no-referrer",
		"X-Content-Type-Options":     "nosniff",
		"X-Frame-Options":            "DENY",
	} {
		if diff := cmp.Diff(want, w.Header().Get(name)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	again := httptest.NewRecorder()
	again.Header().Set("Cache-Control", "private, no-cache")
	page.ServeHTTP(again, request("GET", "", "If-None-Match: "+w.Header().Get("ETag")))
	if again.Code != 304 || again.Header().Get("Cache-Control") != "private, no-cache" {
		t.Errorf("conditional request: %d, %v", again.Code, again.Header())
	}
}

func TestReadOnly(t *testing.T) {
	t.Parallel()
	tests := []struct {
		method      string
		read        bool
		status      int
		allow, kind string
	}{
		{"GET", true, 200, "", ""},
		{"HEAD", true, 200, "", ""},
		{"OPTIONS", false, 204, "GET, HEAD, OPTIONS", ""},
		{"POST", false, 405, "GET, HEAD, OPTIONS", problem.MediaType},
		{"QUERY", false, 405, "GET, HEAD, OPTIONS", problem.MediaType},
		{"BREW", false, 501, "", problem.MediaType},
		{"get", false, 501, "", problem.MediaType},
	}
	for _, tt := range tests {
		w := httptest.NewRecorder()
		read := httpbody.ReadOnly(w, httptest.NewRequestWithContext(t.Context(), tt.method, "/", http.NoBody))
		if h := w.Header(); read != tt.read || w.Code != tt.status || h.Get("Allow") != tt.allow ||
			h.Get("Content-Type") != tt.kind {
			t.Errorf("%s: %t, %d, Allow %q, Content-Type %q; want %+v", tt.method, read, w.Code, h.Get("Allow"),
				h.Get("Content-Type"), tt)
		}
	}
}

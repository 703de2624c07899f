package httpbody_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/resource/httpbody"
)

const textType = "text/plain; charset=utf-8"

func TestDocument(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("a line of a document\n", 100)
	doc := httpbody.NewDocument([]byte(text))
	tag := func(contentType string, lines ...string) string {
		w := httptest.NewRecorder()
		doc.Serve(w, request("GET", "", lines...), contentType)
		return w.Header().Get("ETag")
	}
	const gz = "Accept-Encoding: gzip"
	plain, zipped := tag(textType), tag(textType, gz)
	tests := []struct {
		name, method string
		lines        []string
		status       int
		coding, etag string
		empty        bool
	}{
		{"as it is", "GET", nil, 200, "", plain, false},
		{"compressed", "GET", []string{gz}, 200, "gzip", zipped, false},
		{"neither coding", "GET", []string{"Accept-Encoding: identity;q=0"}, 200, "", plain, false},
		{"head", "HEAD", nil, 200, "", plain, true},
		{"head, compressed", "HEAD", []string{gz}, 200, "gzip", zipped, true},
		{"unchanged", "GET", []string{"If-None-Match: " + plain}, 304, "", plain, true},
		{"unchanged, weak", "GET", []string{`If-None-Match: "x", W/` + plain}, 304, "", plain, true},
		{"unchanged, compressed", "GET", []string{gz, "If-None-Match: " + zipped}, 304, "", zipped, true},
		{"tag of the other coding", "GET", []string{gz, "If-None-Match: " + plain}, 200, "gzip", zipped,
			false},
		{"tag of another type", "GET", []string{"If-None-Match: " + tag("text/html")}, 200, "", plain, false},
		{"any", "HEAD", []string{"If-None-Match: *"}, 304, "", plain, true},
		{"not a tag", "GET", []string{"If-None-Match: x"}, 200, "", plain, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := httptest.NewRecorder()
			w.Header().Set("Vary", "Accept")
			doc.Serve(w, request(tt.method, "", tt.lines...), textType)
			res := w.Result()
			if res.StatusCode != tt.status {
				t.Errorf("status %d, want %d", res.StatusCode, tt.status)
			}
			want := map[string]string{"Etag": tt.etag, "Content-Encoding": tt.coding,
				"Vary": "Accept, Accept-Encoding"}
			if tt.status == 200 {
				want["Content-Type"], want["X-Content-Type-Options"] = textType, "nosniff"
			}
			for name, value := range want {
				if got := res.Header.Get(name); got != value {
					t.Errorf("%s: %q, want %q", name, got, value)
				}
			}
			got := w.Body.String()
			if res.Header.Get("Content-Encoding") == "gzip" && !tt.empty {
				got = unzip(t, w.Body.Bytes())
			}
			if tt.empty && got != "" || !tt.empty && got != text {
				t.Errorf("the body has %d bytes", len(got))
			}
			if length := res.Header.Get("Content-Length"); (length != "") != (tt.status == 200) {
				t.Errorf("Content-Length %q", length)
			}
		})
	}
}

// TestDocumentTags checks that content, coding, media type and the other fields determine the
// entity tag.
func TestDocumentTags(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, doc := range []*httpbody.Document{httpbody.NewDocument([]byte("a")),
		httpbody.NewDocument([]byte("b")),
		httpbody.NewDocument([]byte("a"), "default-src 'none'")} {
		for _, contentType := range []string{"text/plain", "text/html"} {
			for _, coding := range []string{"identity", "gzip, identity;q=0"} {
				w := httptest.NewRecorder()
				doc.Serve(w, request("GET", "", "Accept-Encoding: "+coding), contentType)
				tag := w.Header().Get("ETag")
				if seen[tag] || strings.HasPrefix(tag, "W/") {
					t.Errorf("the entity tag %s is weak or that of another representation", tag)
				}
				seen[tag] = true
			}
		}
	}
}

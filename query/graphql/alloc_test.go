package graphql_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// silent is a ResponseWriter that keeps nothing.
type silent struct{ header http.Header }

func (s *silent) Header() http.Header         { return s.header }
func (s *silent) WriteHeader(int)             {}
func (s *silent) Write(b []byte) (int, error) { return len(b), nil }

// posting returns a function that makes the same POST again and again.
func posting(h http.Handler, content string) func() {
	body := strings.NewReader(content)
	r := httptest.NewRequest("POST", "/graphql", nil)
	r.Header["Content-Type"], r.Header["Accept"] = []string{"application/json"},
		[]string{"application/graphql-response+json"}
	r.ContentLength = int64(len(content))
	w := &silent{http.Header{}}
	return func() {
		body.Reset(content)
		r.Body = io.NopCloser(body)
		clear(w.header)
		h.ServeHTTP(w, r)
	}
}

// TestAllocations holds the handler to what it may allocate beside execution, of which {__typename} has next to none.
func TestAllocations(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector allocates, and keeps pools from working")
	}
	tests := []struct {
		name, content string
		most          float64
	}{
		{"a document", typenameBody, 12},
		{"variables", `{"query":"query Q{__typename}","operationName":"Q","variables":{"a":1,"b":"x"}}`, 14},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			n := testing.AllocsPerRun(500, posting(newTestHandler(t), tt.content))
			t.Logf("%v allocations", n)
			if n > tt.most {
				t.Errorf("%v allocations, want at most %v", n, tt.most)
			}
		})
	}
}

// BenchmarkPost is the handler alone: the document is known, and asks for nothing.
func BenchmarkPost(b *testing.B) {
	do := posting(newTestHandler(b), typenameBody)
	b.ReportAllocs()
	for b.Loop() {
		do()
	}
}

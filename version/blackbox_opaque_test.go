package version_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/version"
)

// depot receives requests below /files unchanged, and returns what it has received.
type depot struct{ contract string }

func (depot) Opaque(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/files/") }

func (d depot) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	content, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	io.WriteString(w, d.contract+" "+string(content))
}

func TestRule027BytesAreLeftAlone(t *testing.T) {
	t.Parallel()
	n := version.New([]version.Contract{{Name: "2.0.0", Handler: depot{"2.0.0"}},
		{Name: "1.0.0", Handler: depot{"1.0.0"}}},
		[]version.Strategy{version.Path{}, version.Query{}, version.Body{Limit: 100}},
		&version.Options{Default: "2.0.0"})
	long := `{"version":"1.0.0","x":"` + strings.Repeat("x", 200) + `"}`
	tests := []struct {
		name, target, content, want string
		status                      int
	}{
		{"document", "/orders/1", `{"version":"1.0.0","a":1}`, `1.0.0 {"a":1}`, 200},
		{"file", "/files/a", `{"version":"1.0.0","a":1}`, `2.0.0 {"version":"1.0.0","a":1}`, 200},
		{"file with a version of its own", "/files/a", `{"version":"17.4.2-beta"}`,
			`2.0.0 {"version":"17.4.2-beta"}`, 200},
		{"file below a marker", "/v1/files/a", `{"version":"2"}`, `1.0.0 {"version":"2"}`, 200},
		{"file and query", "/files/a?version=1", `{"version":"2"}`, `1.0.0 {"version":"2"}`, 200},
		{"long file", "/files/a", long, "2.0.0 " + long, 200},
		{"long document", "/orders/1", long, "", 413},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequest("PUT", tt.target, strings.NewReader(tt.content))
			r.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			n.ServeHTTP(w, r)
			if w.Code != tt.status {
				t.Fatalf("status %d, want %d: %s", w.Code, tt.status, w.Body)
			}
			if diff := cmp.Diff(tt.want, w.Body.String()); tt.want != "" && diff != "" {
				t.Errorf("the handler saw (-want +got):\n%s", diff)
			}
		})
	}
}

package version_test

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/contract"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/version"
)

// field returns a member of a JSON object; nil if there is none.
func field(object []byte, name string) any {
	var members map[string]any
	_ = json.Unmarshal(object, &members) // no object has no members
	return members[name]
}

// closing is content that notes when it is closed.
type closing struct {
	io.Reader
	closed bool
}

func (c *closing) Close() error {
	c.closed = true
	return nil
}

// TestRule028LazyContent: content that is read late must name the contract of the handler.
// Another one is an error.
func TestRule028LazyContent(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, content, coding string
		want                  string
		kind                  problem.Kind
		member                bool
	}{
		{"without the member", `{"a": 1}`, "", `{"a": 1}`, "", false},
		{"no JSON", `{"version":}`, "", `{"version":}`, "", false},
		{"cut in the middle", `{"version":"1", "a`, "", `{"version":"1", "a`, "", false},
		{"with the member", `{"version":"1", "a": 1}`, "", `{"a": 1}`, "", true},
		{"compressed", `{"a": 1, "version": 1}`, "gzip", `{"a": 1}`, "", true},
		{"compressed, by the old name", `{"version": 1.0}`, "x-gzip", `{}`, "", true},
		{"another contract", `{"version":"2"}`, "", "", problem.AmbiguousVersion, false},
		{"malformed", `{"version":null}`, "", "", problem.MalformedVersion, false},
		{"unsupported", `{"version":"7"}`, "", "", problem.UnsupportedVersion, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			read := false
			var got string
			var failed error
			look := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				s := contract.From(r.Context())
				if _, _, ok := s.Member(); ok || read {
					t.Error("the content was read before the handler wanted it")
				}
				var in io.Reader = r.Body
				if tt.coding != "" {
					if in, failed = gzip.NewReader(r.Body); failed != nil {
						return
					}
				}
				var all []byte
				all, failed = io.ReadAll(in)
				got = string(all)
				if name, contract, ok := s.Member(); ok != tt.member || ok &&
					(name != "version" || contract != "1.0") {
					t.Errorf("Member returns %q, %q and %v", name, contract, ok)
				}
				if err := r.Body.Close(); err != nil {
					t.Error(err)
				}
			})
			api := version.New([]version.Contract{{Name: "1.0.0", Handler: look},
				{Name: "2.0.0", Handler: look}},
				[]version.Strategy{version.Path{}, version.Body{}}, nil)
			content := tt.content
			if tt.coding != "" {
				content = gzipped(t, content)
			}
			body := &closing{Reader: io.TeeReader(strings.NewReader(content),
				writerFunc(func() { read = true }))}
			r := httptest.NewRequest(http.MethodPost, "/v1/x", body)
			r.ContentLength = int64(len(content))
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Expect", "100-continue")
			if tt.coding != "" {
				r.Header.Set("Content-Encoding", tt.coding)
			}
			api.ServeHTTP(httptest.NewRecorder(), r)
			if got != tt.want || !body.closed {
				t.Errorf("the handler read %q, want %q; closed: %v", got, tt.want, body.closed)
			}
			var d *problem.Details
			if errors.As(failed, &d); d == nil && tt.kind != "" || d != nil && d.Kind != tt.kind {
				t.Errorf("the error of Read is %v, want one of kind %q", failed, tt.kind)
			}
			if served := []string{"2.0.0", "1.0.0"}; d != nil &&
				!cmp.Equal(d.Extensions["supported-versions"], any(served)) {
				t.Errorf("the error of Read says %v, want %v among it", d.Extensions, served)
			}
		})
	}
}

// writerFunc is called when something is written.
type writerFunc func()

func (f writerFunc) Write(b []byte) (int, error) {
	if len(b) > 0 {
		f()
	}
	return len(b), nil
}

func TestRule028CodingsThatAreNotRead(t *testing.T) {
	t.Parallel()
	for _, lines := range [][]string{{"br"}, {"gzip, gzip"}, {"gzip", "gzip"}, {""}, {"identity", "gzip"}} {
		var got string
		look := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			all, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			got = string(all) + contract.From(r.Context()).Name()
		})
		api := version.New([]version.Contract{{Name: "1.0.0", Handler: look}, {Name: "2.0.0", Handler: look}},
			[]version.Strategy{version.Body{}}, &version.Options{Default: "2.0.0"})
		r := httptest.NewRequest(http.MethodPut, "/x", strings.NewReader(`{"version":"1"}`))
		r.Header.Set("Content-Type", "application/json")
		r.Header["Content-Encoding"] = lines
		api.ServeHTTP(httptest.NewRecorder(), r)
		want := `{"version":"1"}2.0.0`
		if len(lines) == 1 && lines[0] == "" { // names nothing
			want = `{}1.0.0`
		}
		if got != want {
			t.Errorf("Content-Encoding %q: %s, want %s", lines, got, want)
		}
	}
}

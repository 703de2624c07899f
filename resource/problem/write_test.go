package problem_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/problem"
)

// write sets the fields before in the header, writes d as a response, and returns the response.
func write(t *testing.T, r *http.Request, before http.Header, d *problem.Details) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	for name, lines := range before {
		w.Header()[name] = lines
	}
	problem.Write(w, r, d)
	return w
}

func TestRule001ProblemMediaType(t *testing.T) {
	t.Parallel()
	for kind := range problem.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			d := problem.New(kind, "why")
			before := http.Header{"Content-Type": {"text/plain; charset=utf-8"}}
			w := write(t, httptest.NewRequest(http.MethodGet, "/x", nil), before, d)
			if got := w.Header()["Content-Type"]; !cmp.Equal(got, []string{"application/problem+json"}) {
				t.Errorf("Content-Type %q", got)
			}
			if w.Code != kind.Status() {
				t.Errorf("status %d, want %d", w.Code, kind.Status())
			}
			if diff := cmp.Diff(string(d.Append(nil)), w.Body.String()); diff != "" {
				t.Errorf("body mismatch (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRule053ProblemWhateverAccept(t *testing.T) {
	t.Parallel()
	for _, accept := range []string{"text/html", "application/json", "application/problem+json;q=0",
		"*/*;q=0", "garbage"} {
		t.Run(accept, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequest(http.MethodGet, "/x", nil)
			r.Header.Set("Accept", accept)
			w := write(t, r, nil, problem.New(problem.NotFound, ""))
			if got := w.Header().Get("Content-Type"); got != problem.MediaType ||
				w.Code != http.StatusNotFound {
				t.Errorf("got %d %s, want 404 %s", w.Code, got, problem.MediaType)
			}
		})
	}
}

func TestRule075HeadHasTheHeaderOfGet(t *testing.T) {
	t.Parallel()
	// The content is larger than the buffer of net/http, so net/http does not set Content-Length.
	d := problem.New(problem.Gone, string(make([]byte, 4000)))
	get := write(t, httptest.NewRequest(http.MethodGet, "/x", nil), nil, d)
	head := write(t, httptest.NewRequest(http.MethodHead, "/x", nil), nil, d)
	if diff := cmp.Diff(get.Header(), head.Header()); diff != "" {
		t.Errorf("header mismatch (-GET +HEAD):\n%s", diff)
	}
	if get.Code != head.Code {
		t.Errorf("HEAD has status %d, GET %d", head.Code, get.Code)
	}
	if got := get.Header().Get("Content-Length"); got != strconv.Itoa(get.Body.Len()) {
		t.Errorf("Content-Length %s, but the body has %d bytes", got, get.Body.Len())
	}
	if head.Body.Len() != 0 {
		t.Errorf("HEAD has content: %s", head.Body)
	}
}

func TestRule128Nosniff(t *testing.T) {
	t.Parallel()
	d := problem.New(problem.NotFound, "<script>")
	d.Header = http.Header{"X-Content-Type-Options": {"other"}}
	w := write(t, httptest.NewRequest(http.MethodGet, "/x", nil), nil, d)
	if diff := cmp.Diff([]string{"nosniff"}, w.Header()["X-Content-Type-Options"]); diff != "" {
		t.Errorf("X-Content-Type-Options mismatch (-want +got):\n%s", diff)
	}
}

func TestRule133NoStore(t *testing.T) {
	t.Parallel()
	for kind := range problem.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			before := http.Header{"Cache-Control": {"public, max-age=60"}}
			w := write(t, httptest.NewRequest(http.MethodGet, "/x", nil), before, problem.New(kind, ""))
			if diff := cmp.Diff([]string{"no-store"}, w.Header()["Cache-Control"]); diff != "" {
				t.Errorf("Cache-Control mismatch (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("unless the problem has an age", func(t *testing.T) {
		t.Parallel()
		d := &problem.Details{Kind: problem.Gone, Header: http.Header{"Cache-Control": {"max-age=5"}}}
		w := write(t, httptest.NewRequest(http.MethodGet, "/x", nil), nil, d)
		if diff := cmp.Diff([]string{"max-age=5"}, w.Header()["Cache-Control"]); diff != "" {
			t.Errorf("Cache-Control mismatch (-want +got):\n%s", diff)
		}
	})
}

// TestRule138CallerNamesTheScheme checks that Write sends the WWW-Authenticate field of the problem
// and adds none if the problem has none.
func TestRule138CallerNamesTheScheme(t *testing.T) {
	t.Parallel()
	r := httptest.NewRequest(http.MethodGet, "/x", nil)
	d := problem.New(problem.Unauthenticated, "")
	if got := write(t, r, nil, d).Header()["Www-Authenticate"]; got != nil {
		t.Errorf("WWW-Authenticate %q out of nowhere", got)
	}
	d.Header = http.Header{"WWW-Authenticate": {`Bearer realm="a"`, "Basic"}, "Retry-After": {"5"}}
	got := write(t, r, nil, d).Header()
	if diff := cmp.Diff([]string{`Bearer realm="a"`, "Basic"}, got["Www-Authenticate"]); diff != "" {
		t.Errorf("WWW-Authenticate mismatch (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff("5", got.Get("Retry-After")); diff != "" {
		t.Errorf("Retry-After mismatch (-want +got):\n%s", diff)
	}
}

func TestWriteMergesHeader(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		before http.Header
		more   http.Header
		want   http.Header // the differences from a problem without Header
	}{
		{"others stay", http.Header{"Api-Version": {"1.2.0"}}, nil, http.Header{"Api-Version": {"1.2.0"}}},
		{
			"the representation's go",
			http.Header{
				"Etag": {`"1"`}, "Last-Modified": {"x"}, "Content-Encoding": {"gzip"},
				"Content-Language": {"de"},
				"Content-Location": {"/x"}, "Content-Disposition": {"attachment"},
				"Content-Range": {"bytes 0-1/2"}, "Accept-Ranges": {"bytes"},
				"Content-Digest": {"sha-256=:x:"}, "Repr-Digest": {"sha-256=:x:"}, "Content-Md5": {"x"},
				"Digest": {"sha-256=x"},
			},
			nil, http.Header{},
		},
		{
			"unless the problem brings them", http.Header{"Etag": {`"1"`}},
			http.Header{"Etag": {`"2"`}, "Content-Range": {"bytes */2"}},
			http.Header{"Etag": {`"2"`}, "Content-Range": {"bytes */2"}},
		},
		{
			"but what describes the body is ours", nil,
			http.Header{"Content-Type": {"text/html"}, "Content-Length": {"1"}, "Content-Encoding": {"gzip"}},
			http.Header{},
		},
		{
			"others are set", http.Header{"Allow": {"PUT"}},
			http.Header{"Allow": {"GET, HEAD"}, "Accept": {""}},
			http.Header{"Allow": {"GET, HEAD"}, "Accept": {""}},
		},
		{"names need not be canonical", nil, http.Header{"retry-after": {"1"}},
			http.Header{"Retry-After": {"1"}}},
		{
			"Link is added to", http.Header{"Link": {"</a>; rel=a"}},
			http.Header{"Link": {"</b>; rel=b", "</c>; rel=c"}},
			http.Header{"Link": {"</a>; rel=a", "</b>; rel=b", "</c>; rel=c"}},
		},
		{
			"Vary is added to, once", http.Header{"Vary": {"Accept, Origin", "prefer"}},
			http.Header{"vary": {"origin,Accept-Encoding,", "Prefer"}},
			http.Header{"Vary": {"Accept, Origin, prefer, Accept-Encoding"}},
		},
		{"everything varies", http.Header{"Vary": {"*"}}, http.Header{"Vary": {"Accept"}},
			http.Header{"Vary": {"*"}}},
		{"an empty Vary is none", nil, http.Header{"Vary": {"", ","}}, http.Header{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequest(http.MethodGet, "/x", nil)
			want := write(t, r, nil, problem.New(problem.NotFound, "x")).Header()
			for name, lines := range tt.want {
				want[name] = lines
			}
			d := &problem.Details{Kind: problem.NotFound, Detail: "x", Header: tt.more}
			more := tt.more.Clone()
			got := write(t, r, tt.before, d).Header()
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("header mismatch (-want +got):\n%s", diff)
			}
			for _, lines := range got {
				lines[0] = "changed by a wrapper of the response"
			}
			if diff := cmp.Diff(more, d.Header); diff != "" {
				t.Errorf("Write changed d.Header (-before +after):\n%s", diff)
			}
		})
	}
}

func Example() {
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d := problem.New(problem.Conflict, "the address is taken")
		d.Errors = []problem.Violation{{Pointer: "/email", Code: "taken"}}
		problem.Write(w, r, d)
	})
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/people", nil))
	fmt.Println(w.Code, w.Header().Get("Content-Type"))
	fmt.Println(w.Body)
	// Output:
	// 409 application/problem+json
	// {"type":"https://stoa-go.github.io/problems/conflict","title":"Conflict","status":409,"detail":"the address is taken","errors":[{"pointer":"/email","code":"taken"}]}
}

func ExampleWrite() {
	d := problem.New(problem.MethodNotAllowed, "")
	d.Header = http.Header{"Allow": {"GET, HEAD, OPTIONS"}}
	w := httptest.NewRecorder()
	problem.Write(w, httptest.NewRequest(http.MethodDelete, "/reports/7", nil), d)
	fmt.Println(w.Code, w.Header().Get("Allow"), w.Header().Get("Cache-Control"))
	// Output: 405 GET, HEAD, OPTIONS no-store
}

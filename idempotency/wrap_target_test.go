package idempotency_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/version"
)

// answering returns a handler that counts its calls and responds with its name and the path.
func answering(name string, runs map[string]int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		runs[name]++
		fmt.Fprint(w, name, " ", r.URL.Path)
	}
}

// guarded returns a Guard with keys of one principal.
func guarded(store idempotency.Store, service string) *idempotency.Guard {
	return idempotency.New(store, &idempotency.Options{Service: service, Logger: quiet(),
		Principal: func(context.Context) string { return "ann" }})
}

// TestRule141KeyOfOneTarget: one key at several handlers runs each of them once, and a repetition gets the
// response of its own handler.
func TestRule141KeyOfOneTarget(t *testing.T) {
	t.Parallel()
	negotiated := func(wrap func(http.Handler) http.Handler, runs map[string]int, s ...version.Strategy) http.Handler {
		return version.New([]version.Contract{{Name: "1.0.0", Handler: wrap(answering("1.0.0", runs))},
			{Name: "2.0.0", Handler: wrap(answering("2.0.0", runs))}}, s, nil)
	}
	tests := []struct {
		name     string
		serve    func(wrap func(http.Handler) http.Handler, runs map[string]int) http.Handler
		requests [2]string
		fields   [2]string
		want     []string
	}{
		{
			name: "two mounts",
			serve: func(wrap func(http.Handler) http.Handler, runs map[string]int) http.Handler {
				mux := http.NewServeMux()
				mux.Handle("/pay/", http.StripPrefix("/pay", wrap(answering("pay", runs))))
				mux.Handle("/refund/", http.StripPrefix("/refund", wrap(answering("refund", runs))))
				return mux
			},
			requests: [2]string{"POST /pay/x", "POST /refund/x"},
			want:     []string{"200 pay /x", "200 refund /x", "200 pay /x again", "200 refund /x again"},
		},
		{
			name: "a path that a handler has changed", // as a batch of requests does
			serve: func(wrap func(http.Handler) http.Handler, runs map[string]int) http.Handler {
				inner := wrap(answering("one", runs))
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					part := r.Clone(r.Context())
					part.URL.Path = r.Header.Get("X-Path")
					inner.ServeHTTP(w, part)
				})
			},
			requests: [2]string{"POST /all", "POST /all"},
			fields:   [2]string{"X-Path: /pay", "X-Path: /refund"},
			want:     []string{"200 one /pay", "200 one /refund", "200 one /pay again", "200 one /refund again"},
		},
		{
			name: "two contracts, named by the path",
			serve: func(wrap func(http.Handler) http.Handler, runs map[string]int) http.Handler {
				return negotiated(wrap, runs, version.Path{})
			},
			requests: [2]string{"POST /v1/x", "POST /v2/x"},
			want:     []string{"200 1.0.0 /x", "200 2.0.0 /x", "200 1.0.0 /x again", "200 2.0.0 /x again"},
		},
		{
			name: "two contracts, named by a field",
			serve: func(wrap func(http.Handler) http.Handler, runs map[string]int) http.Handler {
				return negotiated(wrap, runs, version.Header{Name: "Api-Version"})
			},
			requests: [2]string{"POST /x", "POST /x"},
			fields:   [2]string{"Api-Version: 1.0.0", "Api-Version: 2.0.0"},
			want:     []string{"200 1.0.0 /x", "200 2.0.0 /x", "200 1.0.0 /x again", "200 2.0.0 /x again"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			runs := map[string]int{}
			h := tt.serve(guarded(idempotency.NewMemory(nil), "").Wrap, runs)
			var got []string
			for i := range 4 {
				field := tt.fields[i%2]
				if field == "" {
					field = "X-None: none"
				}
				got = append(got, summary(send(h, tt.requests[i%2], "{}", field)))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("responses (-want +got):\n%s", diff)
			}
			for name, n := range runs {
				if want := 2 / len(runs); n != want {
					t.Errorf("%s ran %d times, want %d", name, n, want)
				}
			}
		})
	}
}

// TestRule141KeyOfOneService: services that share a store have keys of their own, and processes of one
// service share them.
func TestRule141KeyOfOneService(t *testing.T) {
	t.Parallel()
	store, runs := idempotency.NewMemory(nil), map[string]int{}
	var got []string
	for _, service := range []string{"", "billing", "shop", "billing"} {
		h := guarded(store, service).Wrap(answering(service, runs))
		got = append(got, summary(send(h, "POST /x", "{}")), summary(send(h, "POST /x", "{}")))
	}
	want := []string{"200  /x", "200  /x again", "200 billing /x", "200 billing /x again", "200 shop /x",
		"200 shop /x again", "200 billing /x again", "200 billing /x again"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("responses (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int{"": 1, "billing": 1, "shop": 1}, runs); diff != "" {
		t.Errorf("runs (-want +got):\n%s", diff)
	}
	few := func(service string) http.Handler {
		return idempotency.New(store, &idempotency.Options{Service: service, Quota: 1,
			Principal: func(context.Context) string { return "ann" }}).Wrap(answering(service, runs))
	}
	if res := send(few("new"), "POST /x", "{}"); res.StatusCode != http.StatusOK {
		t.Errorf("the quota of another service applies: %s", res.Status)
	}
}

// TestRule141Forms: a browser sends a form again with another boundary.
func TestRule141Forms(t *testing.T) {
	t.Parallel()
	form := func(boundary string, parts ...string) (body, field string) {
		var b strings.Builder
		for _, part := range parts {
			b.WriteString("--" + boundary + "\r\n" + part + "\r\n")
		}
		return b.String() + "--" + boundary + "--\r\n", "Content-Type: multipart/form-data; boundary=" + boundary
	}
	file := func(name, content string) string {
		return `Content-Disposition: form-data; name="` + name + `"; filename="x"` + "\r\nContent-Type: text/plain\r\n\r\n" + content
	}
	tests := []struct {
		name, boundary string
		parts          []string
		cut            int // bytes at the end of both forms
		want           string
	}{
		{"the same", "first", []string{file("a", "1"), file("b", "2")}, 0, "201 1 again"},
		{"another boundary", "second", []string{file("a", "1"), file("b", "2")}, 0, "201 1 again"},
		{"another content", "second", []string{file("a", "1"), file("b", "3")}, 0, "422 idempotency-key-reused"},
		{"another name", "second", []string{file("a", "1"), file("c", "2")}, 0, "422 idempotency-key-reused"},
		{"another order", "second", []string{file("b", "2"), file("a", "1")}, 0, "422 idempotency-key-reused"},
		{"fewer parts", "second", []string{file("a", "1")}, 0, "422 idempotency-key-reused"},
		{"more parts", "second", []string{file("a", "1"), file("b", "2"), file("b", "2")}, 0, "422 idempotency-key-reused"},
		{"incomplete", "first", []string{file("a", "1"), file("b", "2")}, 9, "201 1 again"},
		{"incomplete with another boundary", "second", []string{file("a", "1"), file("b", "2")}, 9,
			"422 idempotency-key-reused"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			handler, _ := counting()
			h := wrap(handler, idempotency.Options{})
			body, field := form("first", file("a", "1"), file("b", "2"))
			again, fieldAgain := form(tt.boundary, tt.parts...)
			got := []string{summary(send(h, "POST /files", body[:len(body)-tt.cut], field)),
				summary(send(h, "POST /files", again[:len(again)-tt.cut], fieldAgain))}
			if diff := cmp.Diff([]string{"201 1", tt.want}, got); diff != "" {
				t.Errorf("responses (-want +got):\n%s", diff)
			}
		})
	}
}

// stopped is a body that ends with an error.
type stopped struct{ err error }

func (b stopped) Read([]byte) (int, error) { return 0, b.err }

// TestRule141BodyThatStops: the problem of a reader, such as that of middleware.Timeout, is the response.
func TestRule141BodyThatStops(t *testing.T) {
	t.Parallel()
	late := problem.New(problem.BadRequest, "too late")
	late.Status = http.StatusRequestTimeout
	for _, tt := range []struct {
		name string
		err  error
		want string
	}{
		{"after the read deadline", errors.Join(late, os.ErrDeadlineExceeded), "408 bad-request"},
		{"without a reason", io.ErrUnexpectedEOF, "400 bad-request"},
	} {
		handler, runs := counting()
		h := guarded(idempotency.NewMemory(nil), "").Wrap(handler)
		r := httptest.NewRequest("POST", "/x", stopped{tt.err})
		r.Header.Set("Idempotency-Key", `"k"`)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if got := summary(w.Result()); got != tt.want || runs.Load() != 0 {
			t.Errorf("%s: %s after %d runs, want %s", tt.name, got, runs.Load(), tt.want)
		}
	}
}

// TestRule142ResultsNotKept: a replay without the content of the first response is a problem, with fields
// that are not those of a file.
func TestRule142ResultsNotKept(t *testing.T) {
	t.Parallel()
	h := wrap(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", "/files/7")
		w.Header().Set("Content-Disposition", "attachment")
		w.Header().Set("Content-Type", "application/zip")
		w.Header().Set("ETag", `"t"`)
		w.WriteHeader(http.StatusCreated)
		io.WriteString(w, "0123456789x")
	}, idempotency.Options{MaxResult: 10})
	send(h, "POST /files", "")
	res := send(h, "POST /files", "", "Accept: application/zip")
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"type":"https://stoa-go.github.io/problems/conflict","title":"Conflict","status":409,` +
		`"detail":"The first request with this key was answered with status 201, and its content was not kept. ` +
		`Do not send it again with another key.","firstLocation":"/files/7","firstStatus":201}`
	if diff := cmp.Diff(want, strings.TrimSpace(string(body))); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
	for name, want := range map[string]string{"Content-Type": "application/problem+json", "Content-Disposition": "",
		"Etag": "", "Idempotency-Replayed": "true", "Idempotency-Result": "reference"} {
		if got := res.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

package idempotency_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/idempotency"
)

type whoKey struct{}

// wrap wraps a handler; the request names the principal in a header field.
func wrap(h http.HandlerFunc, opts idempotency.Options) http.Handler {
	opts.Logger = quiet()
	opts.Principal = func(ctx context.Context) string {
		who, _ := ctx.Value(whoKey{}).(string)
		return who
	}
	keyed := idempotency.New(idempotency.NewMemory(nil), &opts).Wrap(h)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		keyed.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), whoKey{}, r.Header.Get("X-Who"))))
	})
}

// send sends a request of ann with the key k, unless fields ("Name: value") override that.
func send(h http.Handler, request, body string, fields ...string) *http.Response {
	method, target, _ := strings.Cut(request, " ")
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Who", "ann")
	r.Header.Set("Idempotency-Key", `"k"`)
	for _, field := range fields {
		name, value, _ := strings.Cut(field, ": ")
		if r.Header.Set(name, value); value == "" {
			r.Header.Del(name)
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

// summary summarizes a response.
func summary(res *http.Response) string {
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return err.Error()
	}
	if strings.HasPrefix(res.Header.Get("Content-Type"), "application/problem+json") {
		_, kind, _ := strings.Cut(string(body), "/problems/")
		kind, _, _ = strings.Cut(kind, `"`)
		return fmt.Sprintf("%d %s", res.StatusCode, kind)
	}
	again := ""
	if res.Header.Get("Idempotency-Replayed") == "true" {
		again = " again"
	}
	return fmt.Sprintf("%d %s%s", res.StatusCode, body, again)
}

// counting returns a handler that responds 201 and counts its calls.
func counting() (http.HandlerFunc, *atomic.Int64) {
	var n atomic.Int64
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", "/orders/7")
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, "%d", n.Add(1))
	}, &n
}

// TestRule141KeyOfWhom: keys are scoped to principal, method and target, and the meaning of the
// request must be the same.
func TestRule141KeyOfWhom(t *testing.T) {
	t.Parallel()
	const first = "POST http://shop/orders?x=1"
	const body = `{"a":1,"b":"é"}`
	tests := []struct {
		name, request, body string
		fields              []string
		want                string
	}{
		{"the same", first, body, nil, "201 1 again"},
		{"bare key", first, body, []string{"Idempotency-Key: k"}, "201 1 again"},
		{"other spelling", first, "{ \"b\" :\n\"\\u00e9\", \"a\":1 }", nil, "201 1 again"},
		{
			"other parameters of the type",
			first,
			body,
			[]string{"Content-Type: application/json; charset=utf-8"},
			"201 1 again",
		},
		{"other tracing", first, body, []string{"Traceparent: 00-1-1-00"}, "201 1 again"},
		{"accepting JSON only", first, body, []string{"Accept: application/json"}, "406 not-acceptable"},
		{"other principal", first, body, []string{"X-Who: ben"}, "201 2"},
		{"nobody", first, body, []string{"X-Who: "}, "400 invalid-header"},
		{"other method", "PUT http://shop/orders?x=1", body, nil, "201 2"},
		{"other path", "POST http://shop/orders/7?x=1", body, nil, "201 2"},
		{"other key", first, body, []string{"Idempotency-Key: l"}, "201 2"},
		{"no key", first, body, []string{"Idempotency-Key: "}, "201 2"},
		{"other query", "POST http://shop/orders?x=2", body, nil, "422 idempotency-key-reused"},
		{"other host", "POST http://else/orders?x=1", body, nil, "422 idempotency-key-reused"},
		{"other value", first, `{"a":2,"b":"é"}`, nil, "422 idempotency-key-reused"},
		{"other number", first, `{"a":1.0,"b":"é"}`, nil, "422 idempotency-key-reused"},
		{"other type", first, body, []string{"Content-Type: text/plain"}, "422 idempotency-key-reused"},
		{"coded", first, body, []string{"Content-Encoding: gzip"}, "422 idempotency-key-reused"},
		{"no JSON", first, `{"a":1,`, nil, "422 idempotency-key-reused"},
		{"stream", first, body, []string{"Accept: text/event-stream"}, "400 invalid-header"},
		{"upgrade", first, body, []string{"Upgrade: websocket"}, "400 invalid-header"},
		{"no such key", first, body, []string{`Idempotency-Key: "k`}, "400 invalid-header"},
		{"get", "GET http://shop/orders?x=1", body, nil, "201 2"},
		{"too large", first, strings.Repeat(" ", 101), nil, "413 content-too-large"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			handler, _ := counting()
			h := wrap(handler, idempotency.Options{MaxBody: 100})
			got := []string{summary(send(h, first, body)), summary(send(h, tt.request, tt.body, tt.fields...))}
			if diff := cmp.Diff([]string{"201 1", tt.want}, got); diff != "" {
				t.Errorf("answers (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWrapRequired(t *testing.T) {
	t.Parallel()
	handler, n := counting()
	h := wrap(handler, idempotency.Options{Required: true})
	got := []string{
		summary(send(h, "POST /", "", "Idempotency-Key: ")),
		summary(send(h, "GET /", "", "Idempotency-Key: ")),
	}
	if diff := cmp.Diff([]string{"400 idempotency-key-missing", "201 1"}, got); diff != "" || n.Load() != 1 {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
}

// TestWrapAnswers: which responses are recorded, and how they are replayed.
func TestWrapAnswers(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name          string
		do            http.HandlerFunc
		first, second string
	}{
		{"empty", func(w http.ResponseWriter, r *http.Request) {}, "200 ", "200  again"},
		{"no content", status(204), "204 ", "204  again"},
		{"found", status(303), "303 ", "303  again"},
		{"refused", status(409), "409 ", "409 "},
		{"failed", status(500), "500 ", "409 outcome-unknown"},
		{"kept refusal", func(w http.ResponseWriter, r *http.Request) {
			idempotency.RecordRefusal(r.Context())
			w.WriteHeader(402)
			io.WriteString(w, "declined")
		}, "402 declined", "402 declined again"},
		{"kept failure", func(w http.ResponseWriter, r *http.Request) {
			idempotency.RecordRefusal(r.Context())
			w.WriteHeader(500)
		}, "500 ", "409 outcome-unknown"},
		{"at the size limit", writing("0123", "456789"), "200 0123456789", "200 0123456789 again"},
		{"too large", writing("0123", "4567890"), "200 01234567890", "409 conflict"},
		{"too large at once", writing("01234567890"), "200 01234567890", "409 conflict"},
		{"flushed", func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, "a")
			http.NewResponseController(w).Flush()
			io.WriteString(w, "b")
		}, "200 ab", "409 conflict"},
		{
			"flushed by its old name",
			func(w http.ResponseWriter, r *http.Request) { w.(http.Flusher).Flush() },
			"200 ",
			"200  again",
		},
		{"early hints", func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusEarlyHints)
			w.WriteHeader(201)
			w.WriteHeader(500)
		}, "103 ", "201  again"}, // httptest keeps the first status
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := wrap(tt.do, idempotency.Options{MaxResult: 10})
			first, second := send(h, "POST /", ""), send(h, "POST /", "")
			got := []string{summary(first), summary(second)}
			if diff := cmp.Diff([]string{tt.first, tt.second}, got); diff != "" {
				t.Errorf("answers (-want +got):\n%s", diff)
			}
			reference := strings.Contains(tt.name, "too large") || tt.name == "flushed"
			if got := second.Header.Get("Idempotency-Result") == "reference"; got != reference {
				t.Errorf("Idempotency-Result: %q", second.Header["Idempotency-Result"])
			}
		})
	}
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(code) }
}

func writing(parts ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for _, part := range parts {
			io.WriteString(w, part)
		}
	}
}

// TestRule141Fields: which header fields are replayed.
func TestRule141Fields(t *testing.T) {
	t.Parallel()
	h := wrap(func(w http.ResponseWriter, r *http.Request) {
		fields := w.Header()
		for name, value := range map[string]string{"Location": "/orders/7", "ETag": `"t"`, "Link": "</a>; rel=a", "Set-Cookie": "s=1",
			"Date": "Sat, 21 Nov 2026 12:00:00 GMT", "Access-Control-Allow-Origin": "*", "X-Request-Id": "1", "Traceparent": "x",
			"Connection": "close", "Content-Language": "de"} {
			fields.Set(name, value)
		}
		fields.Add("Link", "</b>; rel=b")
		w.WriteHeader(201)
		fields.Set("Location", "/too/late")
		io.WriteString(w, "hello")
	}, idempotency.Options{})
	first := send(h, "POST /", "")
	if got := first.Header.Get("Location"); got != "/orders/7" {
		t.Errorf("the first Location is %s: fields were changed after the status", got)
	}
	want := http.Header{
		"Location":         {"/orders/7"},
		"Etag":             {`"t"`},
		"Link":             {"</a>; rel=a", "</b>; rel=b"},
		"Content-Language": {"de"},
		"Content-Type": {
			"text/plain; charset=utf-8",
		},
		"Content-Length":       {"5"},
		"Idempotency-Replayed": {"true"},
	}
	for range 2 {
		if diff := cmp.Diff(want, send(h, "POST /", "").Header); diff != "" {
			t.Errorf("fields of a repetition (-want +got):\n%s", diff)
		}
	}
}

// TestWrapGivesTheContent: the handler reads the body, and its response has no content coding.
func TestWrapGivesTheContent(t *testing.T) {
	t.Parallel()
	h := wrap(func(w http.ResponseWriter, r *http.Request) {
		content, err := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %d %v %q", content, r.ContentLength, err, r.Header["Accept-Encoding"])
	}, idempotency.Options{})
	r := httptest.NewRequest("POST", "/", io.MultiReader(strings.NewReader("he"), strings.NewReader("llo")))
	r.Header = http.Header{"X-Who": {"ann"}, "Idempotency-Key": {"k"}, "Accept-Encoding": {"gzip"}}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if got, want := w.Body.String(), "hello 5 <nil> []"; got != want {
		t.Errorf("the handler saw %s, want %s", got, want)
	}
	if r.Header.Get("Accept-Encoding") != "gzip" {
		t.Error("the request of the server was changed")
	}
}

func TestWrapBrokenContent(t *testing.T) {
	t.Parallel()
	handler, n := counting()
	h := wrap(handler, idempotency.Options{})
	r := httptest.NewRequest("POST", "/", io.MultiReader(strings.NewReader("he"), errReader{}))
	r.Header = http.Header{"X-Who": {"ann"}, "Idempotency-Key": {"k"}}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if got := summary(w.Result()); got != "400 bad-request" || n.Load() != 0 {
		t.Errorf("%s, and it ran %d times", got, n.Load())
	}
}

type errReader struct{}

func (errReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// TestWrapOverTheWire tests the cases that need a real server.
func TestWrapOverTheWire(t *testing.T) {
	t.Parallel()
	h := wrap(func(w http.ResponseWriter, r *http.Request) {
		ctl := http.NewResponseController(w)
		switch r.URL.Path {
		case "/hijack":
			conn, buffered, err := ctl.Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			if _, err := w.Write([]byte("x")); err != http.ErrHijacked || ctl.Flush() == nil {
				t.Errorf("writing what was taken: %v", err)
			}
			w.WriteHeader(500)
			io.WriteString(buffered, "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
			buffered.Flush()
		case "/deadline":
			if err := ctl.SetWriteDeadline(time.Now().Add(time.Minute)); err != nil {
				t.Error(err)
			}
		case "/trailer":
			w.Header().Set("Trailer", "X-Sum")
			io.WriteString(w, "abc")
			w.Header().Set("X-Sum", "3")
			w.Header().Set(http.TrailerPrefix+"X-Other", "4")
			w.Header().Set("X-Late", "5")
		case "/abort":
			panic(http.ErrAbortHandler)
		}
		// a hijacked connection responds before the handler ends
	}, idempotency.Options{WaitTimeout: time.Hour})
	server := httptest.NewServer(h)
	defer server.Close()
	// On a reused connection net/http retries requests with an Idempotency-Key itself.
	server.Client().Transport.(*http.Transport).DisableKeepAlives = true
	ask := func(path string) string {
		r, err := http.NewRequestWithContext(t.Context(), "POST", server.URL+path, bytes.NewReader(nil))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = http.Header{"X-Who": {"ann"}, "Idempotency-Key": {"k"}}
		res, err := server.Client().Do(r)
		if err != nil {
			return "broken off"
		}
		defer res.Body.Close()
		answer := summary(res)
		if sum := res.Trailer.Get("X-Sum") + res.Trailer.Get(
			"X-Other",
		) + res.Header.Get("X-Late"); sum != "" {
			answer += " trailers " + sum
		}
		return answer
	}
	var got []string
	for _, path := range []string{"/hijack", "/deadline", "/trailer", "/abort"} {
		got = append(got, ask(path), ask(path))
	}
	want := []string{
		"204 ",
		"409 outcome-unknown",
		"200 ",
		"200  again",
		"200 abc trailers 34",
		"200 abc again",
		"broken off",
		"409 outcome-unknown",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
}

// TestWrapClientGone: if a handler stops because its client has disconnected, the outcome is
// unknown.
func TestWrapClientGone(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	h := wrap(func(w http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	}, idempotency.Options{})
	r := httptest.NewRequestWithContext(ctx, "POST", "/", nil)
	r.Header = http.Header{"X-Who": {"ann"}, "Idempotency-Key": {"k"}}
	h.ServeHTTP(httptest.NewRecorder(), r)
	if got := summary(send(h, "POST /", "", "Content-Type: ")); got != "409 outcome-unknown" {
		t.Errorf("%s, want 409 outcome-unknown", got)
	}
}

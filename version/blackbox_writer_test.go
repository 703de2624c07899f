package version_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/textproto"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/contract"
)

// usualHeader has the header fields of each response in contract 1.1.0.
var usualHeader = []string{"API-Version: 1.1.0", "Vary: *", "Deprecation: @1780272000",
	"Sunset: Wed, 30 Jun 2027 23:59:59 GMT",
	"Link: *"}

// everyKind is what handlers do, and what is to come back.
var everyKind = []struct {
	name   string
	line   string
	fields []string
	handle http.HandlerFunc
	status int
	body   string
}{
	{"nothing", "GET /v1/x", nil, func(http.ResponseWriter, *http.Request) {}, 200, ""},
	{"nothing, HEAD", "HEAD /v1/x", nil, func(http.ResponseWriter, *http.Request) {}, 200, ""},
	{"only a status", "GET /v1/x", nil, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(201)
	}, 201, ""},
	{"204", "DELETE /v1/x", nil, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(204)
	}, 204, ""},
	{"304", "GET /v1/x", nil, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(304)
	}, 304, ""},
	{"only content", "GET /v1/x", nil, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("x"))
	}, 200, "x"},
	{"no octets", "GET /v1/x", nil, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(nil)
	}, 200, ""},
	{"a string", "GET /v1/x", nil, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "x")
	}, 200, "x"},
	{"a copy", "GET /v1/x", nil, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.Copy(w, io.LimitReader(strings.NewReader("abc"), 2))
	}, 200, "ab"},
	{"HEAD with content", "HEAD /v1/x", nil, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("x"))
	}, 200, ""},
	{"flushed first", "GET /v1/x", nil, func(w http.ResponseWriter, _ *http.Request) {
		if err := http.NewResponseController(w).Flush(); err != nil {
			panic(err)
		}
		_, _ = io.WriteString(w, "x")
	}, 200, "x"},
	{"flushed by assertion", "GET /v1/x", nil, func(w http.ResponseWriter, _ *http.Request) {
		w.(http.Flusher).Flush()
		_, _ = io.WriteString(w, "x")
	}, 200, "x"},
	{"early hints", "GET /v1/x", nil, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Hint", "1")
		w.WriteHeader(http.StatusEarlyHints)
		w.WriteHeader(http.StatusAccepted)
	}, 202, ""},
	{"a status twice", "GET /v1/x", nil, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(202)
		w.WriteHeader(404)
	}, 202, ""},
	{"an error", "GET /v1/x", nil, func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "no", 500)
	}, 500, "no\n"},
	{"a redirect", "GET /v1/x", nil, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/y", http.StatusSeeOther)
	}, 303, "<a href=\"/y\">See Other</a>.\n\n"},
	{"a file", "GET /v1/x", nil, func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "x.txt", time.Time{}, strings.NewReader("0123456789"))
	}, 200, "0123456789"},
	{"part of a file", "GET /v1/x", []string{"Range: bytes=2-3"},
		func(w http.ResponseWriter, r *http.Request) {
			http.ServeContent(w, r, "x.txt", time.Time{}, strings.NewReader("0123456789"))
		}, 206, "23"},
	{"a file that is known", "GET /v1/x", []string{`If-None-Match: "a"`},
		func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("ETag", `"a"`)
			http.ServeContent(w, r, "x.txt", time.Time{}, strings.NewReader("0123456789"))
		}, 304, ""},
	{"deadlines", "GET /v1/x", nil, func(w http.ResponseWriter, _ *http.Request) {
		rc := http.NewResponseController(w)
		if err := errors.Join(rc.SetWriteDeadline(time.Time{}), rc.SetReadDeadline(time.Time{})); err != nil {
			http.Error(w, err.Error(), 500)
		}
	}, 200, ""},
	{"a handler with a timeout", "GET /v1/x", nil, http.TimeoutHandler(http.HandlerFunc(
		func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "x")
		}), time.Minute, "").ServeHTTP, 200, "x"},
}

// However a handler answers, the header is complete.
func TestHandlersOfEveryKind(t *testing.T) {
	t.Parallel()
	for _, tt := range everyKind {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			api, _ := openMarket(t, answering(tt.handle))
			srv := listenTo(t, api)
			for _, two := range []bool{false, true} {
				res := askOver(t, srv, two, tt.line, append(tt.fields, "Host: 127.0.0.1")...)
				res.has(t, tt.status, usualHeader...)
				res.varies(t, "Accept", "API-Version")
				if res.body != tt.body {
					t.Errorf("%s: %q, want %q", res.line, res.body, tt.body)
				}
			}
		})
	}
}

// Announced trailers are sent.
func TestTrailers(t *testing.T) {
	t.Parallel()
	api, _ := openMarket(t, answering(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Trailer", "X-Sum")
		_, _ = io.WriteString(w, "x")
		w.Header().Set("X-Sum", "1")
		w.Header().Set(http.TrailerPrefix+"X-More", "2")
	}))
	srv := listenTo(t, api)
	got, err := srv.Client().Get(srv.URL + "/v1/x")
	if err != nil {
		t.Fatal(err)
	}
	answered("GET /v1/x", got).has(t, http.StatusOK, usualHeader...)
	if diff := cmp.Diff(http.Header{"X-Sum": {"1"}, "X-More": {"2"}}, got.Trailer); diff != "" {
		t.Errorf("trailers (-want +got):\n%s", diff)
	}
}

// Flushed bytes arrive while the handler is running.
func TestFlushReachesTheClient(t *testing.T) {
	t.Parallel()
	goOn := make(chan struct{})
	api, _ := openMarket(t, answering(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "first ")
		w.(http.Flusher).Flush()
		<-goOn
		_, _ = io.WriteString(w, "second")
	}))
	c := dialTo(t, listenTo(t, api))
	c.send("GET /v1/x HTTP/1.1", "Host: 127.0.0.1", "", "")
	res, err := http.ReadResponse(c.r, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	first := make([]byte, len("first "))
	_, err = io.ReadFull(res.Body, first)
	close(goOn)
	if err != nil || string(first) != "first " {
		t.Fatalf("%q, %v", first, err)
	}
	(&answer{line: "GET", status: res.StatusCode, header: res.Header}).has(t, http.StatusOK, usualHeader...)
	if rest, err := io.ReadAll(res.Body); err != nil || string(rest) != "second" {
		t.Errorf("%q, %v", rest, err)
	}
}

func TestHijack(t *testing.T) {
	t.Parallel()
	api, _ := openMarket(t, answering(func(w http.ResponseWriter, _ *http.Request) {
		hijack := http.NewResponseController(w).Hijack
		if h, ok := w.(http.Hijacker); ok {
			hijack = h.Hijack
		}
		var conn net.Conn
		var rw *bufio.ReadWriter
		conn, rw, err := hijack()
		if err != nil {
			http.Error(w, err.Error(), 500)
			return
		}
		defer conn.Close()
		_, _ = rw.WriteString("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\nhello")
		_ = rw.Flush()
	}))
	c := dialTo(t, listenTo(t, api))
	c.send("GET /v1/x HTTP/1.1", "Host: 127.0.0.1", "Connection: Upgrade", "Upgrade: x", "", "")
	line, err := c.r.ReadString('\n')
	if err != nil || line != "HTTP/1.1 101 Switching Protocols\r\n" {
		t.Fatalf("%q, %v", line, err)
	}
	rest, err := io.ReadAll(c.r)
	if err != nil || !strings.HasSuffix(string(rest), "\r\n\r\nhello") {
		t.Errorf("%q, %v", rest, err)
	}
}

// Early hints are on the wire as the handler meant them, and are not the answer.
func TestEarlyHints(t *testing.T) {
	t.Parallel()
	api, _ := openMarket(t, answering(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Link", `</style.css>; rel="preload"`)
		w.WriteHeader(http.StatusEarlyHints)
		w.Header().Set("Link", `</own>; rel="own"`)
		w.Header().Set("Vary", "Origin")
		_, _ = io.WriteString(w, "x")
	}))
	srv := listenTo(t, api)
	var hints []int
	trace := &httptrace.ClientTrace{Got1xxResponse: func(code int, header textproto.MIMEHeader) error {
		hints = append(hints, code)
		if got := strings.Join(header["Link"], ", "); !strings.HasPrefix(got, `</style.css>`) {
			t.Errorf("the hint is %q", got)
		}
		return nil
	}}
	r, err := http.NewRequestWithContext(httptrace.WithClientTrace(t.Context(), trace), "GET",
		srv.URL+"/v1/x", nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := srv.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	res := answered("GET /v1/x", got)
	res.has(t, http.StatusOK, usualHeader...)
	res.varies(t, "Origin", "Accept", "API-Version")
	if len(hints) != 1 || hints[0] != http.StatusEarlyHints {
		t.Errorf("hints %v", hints)
	}
}

func TestPanics(t *testing.T) {
	t.Parallel()
	recovering := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			defer func() {
				if p := recover(); p != nil {
					w.Header().Set("X-Panic", p.(string))
					w.WriteHeader(http.StatusInternalServerError)
				}
			}()
			next.ServeHTTP(w, r)
		})
	}
	api, _ := openMarket(t, answering(func(http.ResponseWriter, *http.Request) { panic("oh no") }))
	for _, line := range []string{"GET /v1/x", "HEAD /v1/x"} {
		res := ask(t, recovering(api), line)
		res.has(t, http.StatusInternalServerError, append(usualHeader, "X-Panic: oh no")...)
		res.varies(t, "Accept", "API-Version")
	}
	// A panic after the header leaves the answer as it was begun, and reaches the server.
	late, _ := openMarket(t, answering(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusAccepted)
		panic("late")
	}))
	ask(t, recovering(late), "GET /v1/x").has(t, http.StatusAccepted, usualHeader...)
	aborted, _ := openMarket(t, answering(func(http.ResponseWriter, *http.Request) {
		panic(http.ErrAbortHandler)
	}))
	func() {
		defer func() {
			if p := recover(); p != http.ErrAbortHandler {
				t.Errorf("recovered %v, want what was thrown", p)
			}
		}()
		aborted.ServeHTTP(httptest.NewRecorder(), asked(t, "GET /v1/x"))
	}()
}

// A writer that can do nothing but write is not made to look as if it could do more.
func TestPlainWriters(t *testing.T) {
	t.Parallel()
	api, _ := openMarket(t, answering(func(w http.ResponseWriter, _ *http.Request) {
		rc := http.NewResponseController(w)
		if err := rc.Flush(); !errors.Is(err, http.ErrNotSupported) {
			t.Errorf("Flush: %v, want ErrNotSupported", err)
		}
		if _, _, err := rc.Hijack(); !errors.Is(err, http.ErrNotSupported) {
			t.Errorf("Hijack: %v, want ErrNotSupported", err)
		}
		if _, err := io.WriteString(w, "a"); err != nil {
			t.Error(err)
		}
		if n, err := io.Copy(w, struct{ io.Reader }{strings.NewReader("bc")}); n != 2 || err != nil {
			t.Errorf("Copy: %d, %v", n, err)
		}
	}))
	rec := httptest.NewRecorder()
	api.ServeHTTP(struct{ http.ResponseWriter }{rec}, asked(t, "GET /v1/x"))
	res := answered("GET /v1/x", rec.Result())
	res.has(t, http.StatusOK, usualHeader...)
	if res.body != "abc" {
		t.Errorf("%q", res.body)
	}
}

// The writer of a request is not the writer of the next one.
func TestNothingIsLeftForTheNextRequest(t *testing.T) {
	t.Parallel()
	api, _ := openMarket(t, func(m *market) {
		m.stall = func(string) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if contract.From(r.Context()).Name() == "1.1.0" {
					w.Header().Set("Vary", "Origin")
					w.WriteHeader(http.StatusTeapot)
				}
			})
		}
	})
	for range 3 {
		ask(t, api, "GET /v1/x").varies(t, "Origin", "Accept", "API-Version")
		res := ask(t, api, "GET /v2/x")
		res.varies(t, "Accept", "API-Version")
		res.has(t, http.StatusOK, "API-Version: 2.0.0", "Deprecation:", "Sunset:")
	}
}

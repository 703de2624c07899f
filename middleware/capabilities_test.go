package middleware_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stoa-go/stoa/middleware"
)

// everyMiddleware, as they are without options, or with what makes them do something.
func everyMiddleware() map[string]func(http.Handler) http.Handler {
	return map[string]func(http.Handler) http.Handler{
		"nothing":      middleware.Chain(),
		"Authenticate": middleware.Authenticate(verify, nil),
		"Log":          middleware.Log(quiet()),
		"RateLimit": middleware.RateLimit(middleware.Rate{Quota: 1000,
			Window: time.Minute}, nil),
		"Recover":                           middleware.Recover(nil),
		"RequestID":                         middleware.RequestID(nil),
		"Timeout":                           middleware.Timeout(nil),
		"Limit":                             middleware.Limit(&middleware.LimitOptions{InFlight: 100}),
		"Secure":                            middleware.SecureHeaders(nil),
		"CrossOrigin":                       middleware.CrossOrigin(nil),
		"Address":                           middleware.ClientAddress([]netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}, nil),
		"all":                               wholeChain(quiet(), 1000, nil),
		"behind a writer that only unwraps": middleware.Chain(onlyUnwraps, middleware.Log(quiet())),
		"behind one that reads nothing":     middleware.Chain(flushesAndHijacks, middleware.Log(quiet())),
	}
}

// abilities are what a handler finds out about its writer.
func abilities(w http.ResponseWriter, _ *http.Request) {
	_, flusher := w.(http.Flusher)
	_, hijacker := w.(http.Hijacker)
	_, readerFrom := w.(io.ReaderFrom)
	_, stringWriter := w.(io.StringWriter)
	c := http.NewResponseController(w)
	supported := func(err error) bool { return !errors.Is(err, http.ErrNotSupported) }
	fmt.Fprintln(w, "Flusher", flusher, "Hijacker", hijacker, "ReaderFrom", readerFrom, "StringWriter",
		stringWriter,
		"SetReadDeadline", supported(c.SetReadDeadline(time.Time{})),
		"SetWriteDeadline", supported(c.SetWriteDeadline(time.Time{})),
		"EnableFullDuplex", supported(c.EnableFullDuplex()), "Flush", supported(c.Flush()))
	if _, ok := w.(interface{ Flush() }); ok {
		w.(interface{ Flush() }).Flush()
	}
}

// onBothProtocols runs the test with a server of HTTP/1 and with one of HTTP/2.
func onBothProtocols(t *testing.T, h http.Handler, test func(t *testing.T, s *httptest.Server)) {
	t.Helper()
	for _, two := range []bool{false, true} {
		t.Run(fmt.Sprintf("HTTP2=%t", two), func(t *testing.T) {
			s := httptest.NewUnstartedServer(h)
			s.EnableHTTP2 = two
			if two {
				s.StartTLS()
			} else {
				s.Start()
			}
			defer s.Close()
			test(t, s)
		})
	}
}

func get(t *testing.T, s *httptest.Server, path string) (*http.Response, string) {
	t.Helper()
	res, err := s.Client().Get(s.URL + path)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(body)
}

// TestNothingIsHidden: a writer that each middleware wraps has the capabilities of that of
// net/http, over both protocols.
func TestNothingIsHidden(t *testing.T) {
	t.Parallel()
	bare := map[string]string{}
	onBothProtocols(t, http.HandlerFunc(abilities), func(t *testing.T, s *httptest.Server) {
		res, body := get(t, s, "/")
		bare[res.Proto] = body
	})
	if len(bare) != 2 || bare["HTTP/1.1"] == bare["HTTP/2.0"] {
		t.Fatalf("net/http: %v", bare)
	}
	for name, mw := range everyMiddleware() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onBothProtocols(t, mw(http.HandlerFunc(abilities)), func(t *testing.T, s *httptest.Server) {
				res, body := get(t, s, "/")
				want := bare[res.Proto]
				switch name {
				case "behind one that reads nothing":
					// it claims so on HTTP/2, too
					want = strings.Replace(want, "Hijacker false", "Hijacker true", 1)
					fallthrough
				case "behind a writer that only unwraps":
					want = strings.Replace(want, "ReaderFrom true", "ReaderFrom false", 1)
				}
				if diff := cmp.Diff(want, body); diff != "" {
					t.Errorf("%s (-want +got):\n%s", res.Proto, diff)
				}
			})
		})
	}
}

// unwrapper does nothing of its own, as many middleware of others.
type unwrapper struct{ http.ResponseWriter }

func (u unwrapper) Unwrap() http.ResponseWriter { return u.ResponseWriter }

func onlyUnwraps(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { next.ServeHTTP(unwrapper{w}, r) })
}

// TestHijack hijacks the connection through all wrappers of the writer, and checks the log line.
func TestHijack(t *testing.T) {
	t.Parallel()
	var lines lines
	h := middleware.Chain(middleware.Log(lines.options()), middleware.Recover(nil))(http.HandlerFunc(
		func(w http.ResponseWriter, _ *http.Request) {
			conn, rw, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			defer conn.Close()
			rw.WriteString("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nhello")
			rw.Flush()
			panic(http.ErrAbortHandler)
		}))
	done := make(chan struct{}) // the server does not wait for a connection that was taken over
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(done)
		h.ServeHTTP(w, r)
	}))
	defer s.Close()
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || res.StatusCode != http.StatusSwitchingProtocols {
		t.Fatal(res, err)
	}
	<-done
	lines.has(t, 1, `"status":101`, `"aborted":true`)
}

// TestReadFrom copies a file, so that the kernel may do it, and the bytes are counted.
func TestReadFrom(t *testing.T) {
	t.Parallel()
	var lines lines
	h := middleware.Log(lines.options())(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.ServeFile(w, r, "doc.go")
	}))
	s := httptest.NewServer(h)
	_, body := get(t, s, "/doc.go")
	s.Close()
	lines.has(t, 1, fmt.Sprintf(`"bytes":%d`, len(body)))
}

// TestInformational: an informational response is not the final one.
func TestInformational(t *testing.T) {
	t.Parallel()
	var lines lines
	h := middleware.Chain(middleware.Log(lines.options()),
		middleware.Recover(recoverQuietly()))(http.HandlerFunc(
		func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusEarlyHints)
			panic("after a hint")
		}))
	s := httptest.NewServer(h)
	res, _ := get(t, s, "/")
	s.Close()
	if res.StatusCode != http.StatusInternalServerError {
		t.Errorf("%d, want 500: a hint is no answer", res.StatusCode)
	}
	lines.has(t, 1, `"status":500`)
}

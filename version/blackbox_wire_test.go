package version_test

import (
	"bufio"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// For tests of connections: a real server, and a client that writes raw requests.

// listenTo serves h in HTTP/1 and in HTTP/2 without encryption.
func listenTo(t testing.TB, h http.Handler) *httptest.Server {
	t.Helper()
	srv := httptest.NewUnstartedServer(h)
	srv.Config.Protocols = new(http.Protocols)
	srv.Config.Protocols.SetHTTP1(true)
	srv.Config.Protocols.SetUnencryptedHTTP2(true)
	srv.Config.ErrorLog = log.New(io.Discard, "", 0) // it reports panics, which are on purpose here
	srv.Start()
	t.Cleanup(srv.Close)
	return srv
}

// askOver is ask over a connection, in HTTP/1.1 or in HTTP/2.
func askOver(t testing.TB, srv *httptest.Server, two bool, line string, rest ...string) *answer {
	t.Helper()
	transport := &http.Transport{DisableCompression: true, Protocols: new(http.Protocols)}
	transport.Protocols.SetHTTP1(!two)
	transport.Protocols.SetUnencryptedHTTP2(two)
	t.Cleanup(transport.CloseIdleConnections)
	r := asked(t, line, rest...)
	r.URL.Scheme, r.URL.Host, r.RequestURI = "http", srv.Listener.Addr().String(), ""
	if r.ContentLength == 0 {
		r.Body = nil
	}
	res, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	if (res.ProtoMajor == 2) != two {
		t.Errorf("%s: answered in %s", line, res.Proto)
	}
	return answered(line, res)
}

// wire is one connection.
type wire struct {
	net.Conn
	t testing.TB
	r *bufio.Reader
}

func dialTo(t testing.TB, srv *httptest.Server) *wire {
	t.Helper()
	c, err := net.Dial("tcp", srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.SetDeadline(time.Now().Add(10 * time.Minute)); err != nil { // instead of hanging for ever
		t.Fatal(err)
	}
	return &wire{Conn: c, t: t, r: bufio.NewReader(c)}
}

// send sends lines as they are; the last one is not followed by a line end.
func (w *wire) send(lines ...string) {
	w.t.Helper()
	if _, err := io.WriteString(w, strings.Join(lines, "\r\n")); err != nil {
		w.t.Fatal(err)
	}
}

// receive reads one response, a 100 as well as any other.
func (w *wire) receive(line string) *answer {
	w.t.Helper()
	method, _, _ := strings.Cut(line, " ")
	res, err := http.ReadResponse(w.r, &http.Request{Method: method})
	if err != nil {
		w.t.Fatalf("%s: %v", line, err)
	}
	return answered(line, res)
}

package rest_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stoa-go/stoa/resource/internal/pipe"
)

// Connections: a real server and its clients. A peer is send over a connection.

type peer func(line string, rest ...string) *response

// listen serves h on its own port, in HTTP/1 and in HTTP/2 without encryption.
func listen(t testing.TB, h http.Handler) *httptest.Server {
	t.Helper()
	return started(t, httptest.NewUnstartedServer(h))
}

// listenInBubble is listen without a network, for bubbles of synctest, in which a slow machine
// causes no timeouts.
func listenInBubble(t testing.TB, h http.Handler) *httptest.Server {
	t.Helper()
	return started(t, &httptest.Server{Listener: pipe.Listen(), Config: &http.Server{Handler: h}})
}

func started(t testing.TB, srv *httptest.Server) *httptest.Server {
	srv.Config.Protocols = new(http.Protocols)
	srv.Config.Protocols.SetHTTP1(true)
	srv.Config.Protocols.SetUnencryptedHTTP2(true)
	srv.Config.ErrorLog = log.New(io.Discard, "", 0) // it logs aborted connections, which are intended here
	srv.Start()
	t.Cleanup(srv.Close)
	return srv
}

// connect opens a connection to a server.
func connect(srv *httptest.Server) (net.Conn, error) {
	if p, ok := srv.Listener.(*pipe.Listener); ok {
		return p.Dial()
	}
	return net.Dial("tcp", srv.Listener.Addr().String())
}

// dialHTTP returns a client for HTTP/1.1 or HTTP/2. It neither decompresses nor follows redirects.
func dialHTTP(t testing.TB, srv *httptest.Server, two bool) peer {
	try := tryHTTP(t, srv, two)
	return func(line string, rest ...string) *response {
		t.Helper()
		res, err := try(line, rest...)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		return res
	}
}

// tryHTTP is dialHTTP for requests that may fail.
func tryHTTP(t testing.TB, srv *httptest.Server, two bool) func(line string, rest ...string) (*response, error) {
	transport := transportTo(t, srv, two)
	return func(line string, rest ...string) (*response, error) {
		t.Helper()
		r := request(t, line, rest...)
		target, err := r.URL.Parse(srv.URL + r.RequestURI)
		if err != nil {
			t.Fatal(err)
		}
		r.URL, r.Host, r.RequestURI = target, "", ""
		if r.ContentLength == 0 {
			r.Body = nil
		}
		res, err := transport.RoundTrip(r)
		if err != nil {
			return nil, err
		}
		if (res.ProtoMajor == 2) != two {
			t.Errorf("%s: answered in %s", line, res.Proto)
		}
		return received(line, res), nil
	}
}

// transportTo returns a transport for one server.
func transportTo(t testing.TB, srv *httptest.Server, two bool) *http.Transport {
	transport := &http.Transport{DisableCompression: true, Protocols: new(http.Protocols),
		DialContext: func(context.Context, string, string) (net.Conn, error) { return connect(srv) }}
	transport.Protocols.SetHTTP1(!two)
	transport.Protocols.SetUnencryptedHTTP2(two)
	t.Cleanup(transport.CloseIdleConnections)
	return transport
}

// dialHTTP10 returns a client for HTTP/1.0, which has neither Host nor chunks and uses one
// connection for each request.
func dialHTTP10(t testing.TB, srv *httptest.Server) peer {
	return func(line string, rest ...string) *response {
		t.Helper()
		c := dial(t, srv)
		var content string
		for i, s := range rest {
			if s == "" {
				content, rest = strings.Join(rest[i+1:], ""), rest[:i:i]
				rest = append(rest, "Content-Length: "+strconv.Itoa(len(content)))
				break
			}
		}
		c.write(line+" HTTP/1.0", append(rest, "", content)...)
		return c.read(line)
	}
}

// conn is a connection with full control over the bytes sent and received.
type conn struct {
	net.Conn
	t testing.TB
	r *bufio.Reader
}

func dial(t testing.TB, srv *httptest.Server) *conn {
	t.Helper()
	c, err := connect(srv)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.SetDeadline(time.Now().Add(10 * time.Minute)); err != nil { // a timeout instead of a hang
		t.Fatal(err)
	}
	return &conn{Conn: c, t: t, r: bufio.NewReader(c)}
}

// write sends lines. An empty line ends the header, and the following lines are the body.
func (c *conn) write(line string, rest ...string) {
	c.t.Helper()
	var b strings.Builder
	b.WriteString(line + "\r\n")
	for i, s := range rest {
		b.WriteString(s + "\r\n")
		if s == "" {
			b.WriteString(strings.Join(rest[i+1:], ""))
			break
		}
	}
	c.send(b.String())
}

// read reads one response, including 100. If the server aborts it, the body ends with the error.
func (c *conn) read(line string) *response {
	c.t.Helper()
	method, _, _ := strings.Cut(line, " ")
	res, err := http.ReadResponse(c.r, &http.Request{Method: method})
	if err != nil {
		c.t.Fatalf("%s: %v", line, err)
	}
	if res.Close { // net/http removes the field
		res.Header.Set("Connection", "close")
	}
	return received(line, res)
}

// ended waits until the server has closed the connection, and reports whether it sent nothing more.
func (c *conn) ended() bool {
	_, err := c.r.ReadByte()
	return err != nil && !errors.Is(err, os.ErrDeadlineExceeded)
}

// send sends bytes unchanged.
func (c *conn) send(octets string) {
	c.t.Helper()
	if _, err := io.WriteString(c, octets); err != nil {
		c.t.Fatal(err)
	}
}

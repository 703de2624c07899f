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

// For the rules that are about connections: a real server, and clients of it. A peer is send with a wire between.

type peer func(line string, rest ...string) *response

// listen serves h on a port of its own, in HTTP/1 and in HTTP/2 without encryption.
func listen(t testing.TB, h http.Handler) *httptest.Server {
	t.Helper()
	return started(t, httptest.NewUnstartedServer(h))
}

// listenInBubble is listen without a network, for tests in a bubble of their own time: what a slow machine takes is none.
func listenInBubble(t testing.TB, h http.Handler) *httptest.Server {
	t.Helper()
	return started(t, &httptest.Server{Listener: pipe.Listen(), Config: &http.Server{Handler: h}})
}

func started(t testing.TB, srv *httptest.Server) *httptest.Server {
	srv.Config.Protocols = new(http.Protocols)
	srv.Config.Protocols.SetHTTP1(true)
	srv.Config.Protocols.SetUnencryptedHTTP2(true)
	srv.Config.ErrorLog = log.New(io.Discard, "", 0) // it reports connections that are aborted, on purpose here
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

// dialHTTP returns a client that speaks HTTP/1.1, or HTTP/2 if that is wanted. It decompresses nothing and follows
// nothing.
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

// tryHTTP is dialHTTP for answers that may not come.
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

// transportTo returns a transport that speaks to one server.
func transportTo(t testing.TB, srv *httptest.Server, two bool) *http.Transport {
	transport := &http.Transport{DisableCompression: true, Protocols: new(http.Protocols),
		DialContext: func(context.Context, string, string) (net.Conn, error) { return connect(srv) }}
	transport.Protocols.SetHTTP1(!two)
	transport.Protocols.SetUnencryptedHTTP2(two)
	t.Cleanup(transport.CloseIdleConnections)
	return transport
}

// dialHTTP10 returns a client that speaks HTTP/1.0, which knows neither Host nor chunks, one connection for a request.
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
	if err := c.SetDeadline(time.Now().Add(10 * time.Minute)); err != nil { // instead of hanging for ever
		t.Fatal(err)
	}
	return &conn{Conn: c, t: t, r: bufio.NewReader(c)}
}

// write sends lines; what follows an empty one is content and sent as it is.
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

// read reads one response, a 100 as well as any other. If the server cuts it off its body ends with the error.
func (c *conn) read(line string) *response {
	c.t.Helper()
	method, _, _ := strings.Cut(line, " ")
	res, err := http.ReadResponse(c.r, &http.Request{Method: method})
	if err != nil {
		c.t.Fatalf("%s: %v", line, err)
	}
	if res.Close { // net/http takes the field out
		res.Header.Set("Connection", "close")
	}
	return received(line, res)
}

// ended waits until the server has closed the connection, and reports whether nothing more came.
func (c *conn) ended() bool {
	_, err := c.r.ReadByte()
	return err != nil && !errors.Is(err, os.ErrDeadlineExceeded)
}

// send sends octets as they are.
func (c *conn) send(octets string) {
	c.t.Helper()
	if _, err := io.WriteString(c, octets); err != nil {
		c.t.Fatal(err)
	}
}

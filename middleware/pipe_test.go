package middleware_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
)

// pipes is a listener without a network, so that a test of time may run in a bubble of its own time.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), closed: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return pipeAddr{} }

type pipeAddr struct{}

func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return "192.0.2.1:1" }

// dial connects a client.
func (p *pipes) dial() net.Conn {
	client, server := net.Pipe()
	p.conns <- server
	return client
}

// serving serves h on pipes until the test ends.
func serving(t *testing.T, server *http.Server) *pipes {
	t.Helper()
	p := newPipes()
	go server.Serve(p)
	t.Cleanup(func() { server.Close() })
	return p
}

// send writes in the background, because the peer may not read, so it never blocks the test.
func send(conn net.Conn, text string) { go io.WriteString(conn, text) }

// receive reads a response.
func receive(t *testing.T, conn net.Conn) (*http.Response, string, error) {
	t.Helper()
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return nil, "", err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return res, string(body), err
}

package eventstream_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// pipes is a listener without a network, so that a test of time may run in a bubble of its own time: a second that a slow machine
// takes is none.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	close  func()
}

func newPipes() *pipes {
	p := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
	p.close = sync.OnceFunc(func() { close(p.closed) })
	return p
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.close(); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 80} }

func (p *pipes) dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case p.conns <- server:
		return client, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// piped serves a handler over pipes until the test ends, and returns a client of one version of HTTP. change may be nil.
func piped(t *testing.T, version int, h http.Handler, change func(*http.Server)) (url string, client *http.Client) {
	t.Helper()
	p := newPipes()
	server := &httptest.Server{Listener: p, Config: &http.Server{Handler: h, Protocols: new(http.Protocols)}}
	server.Config.Protocols.SetHTTP1(true)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	if change != nil {
		change(server.Config)
	}
	server.Start()
	t.Cleanup(server.Close)
	transport := &http.Transport{DialContext: p.dial, Protocols: new(http.Protocols)}
	transport.Protocols.SetHTTP1(version == 1)
	transport.Protocols.SetUnencryptedHTTP2(version == 2)
	t.Cleanup(transport.CloseIdleConnections)
	return server.URL, &http.Client{Transport: transport}
}

// Package pipe has connections without a network, for tests of time: in a bubble of package synctest nobody may wait for a
// network, and there a second that a slow machine takes is none.
package pipe

import (
	"net"
	"sync"
)

// Listener is a [net.Listener] whose connections are pipes: what is written is there when it is read, and nothing is kept in
// between. Several goroutines may use it at the same time. Make one with [Listen].
type Listener struct {
	conns  chan net.Conn
	closed chan struct{}
	close  func()
}

// Listen returns a Listener.
func Listen() *Listener {
	l := &Listener{conns: make(chan net.Conn), closed: make(chan struct{})}
	l.close = sync.OnceFunc(func() { close(l.closed) })
	return l
}

// Dial connects, as soon as somebody accepts. The error is [net.ErrClosed].
func (l *Listener) Dial() (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case l.conns <- server:
		return client, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Accept waits for somebody who dials. The error is [net.ErrClosed].
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close ends Dial and Accept, and no connection. It returns nil, also when it is called again.
func (l *Listener) Close() error {
	l.close()
	return nil
}

// Addr is an address for documentation (RFC 5737), where nobody is.
func (l *Listener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 80} }

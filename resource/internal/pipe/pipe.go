// Package pipe has in-memory network connections for tests in a bubble of package synctest, in
// which goroutines must not block on a real network.
package pipe

import (
	"net"
	"sync"
)

// Listener is a [net.Listener] of [net.Pipe] connections, which do not buffer. It is safe for
// concurrent use. Create it with [Listen]. Channels and pipes made in a bubble belong to it, so
// time advances while goroutines wait for them.
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

// Dial connects when a call of Accept is ready. The error is [net.ErrClosed].
func (l *Listener) Dial() (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case l.conns <- server:
		return client, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Accept waits for a call of Dial. The error is [net.ErrClosed].
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close ends Dial and Accept, and leaves connections open. It returns nil and may be called again.
func (l *Listener) Close() error {
	l.close()
	return nil
}

// Addr returns an address of the documentation range (RFC 5737).
func (l *Listener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 80} }

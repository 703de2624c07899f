package client

import (
	"context"
	"errors"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"time"
)

// Link is the connection of one subscriber. Nil waits forever. It is safe for concurrent use.
type Link struct {
	// Patience is the time without a byte, not even a heartbeat, after which the client closes the connection.
	Patience time.Duration
	// Buffer limits the bytes that the system holds of what is not read. 0 is the default of the system.
	Buffer int

	Bytes    atomic.Int64 // received
	Timeouts atomic.Int64 // connections closed after Patience
}

// Dial is a net.Dialer.DialContext.
func (l *Link) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: 5 * time.Minute}
	if l != nil && l.Patience > 0 {
		dialer.Timeout = 30 * time.Second
	}
	if l != nil && l.Buffer > 0 {
		dialer.Control = receiveBuffer(l.Buffer)
	}
	conn, err := dialer.DialContext(ctx, network, address)
	if err != nil || l == nil {
		return conn, err
	}
	return &linkConn{conn, l}, nil
}

func receiveBuffer(bytes int) func(network, address string, c syscall.RawConn) error {
	return func(_, _ string, c syscall.RawConn) error {
		var failed error
		err := c.Control(func(fd uintptr) {
			failed = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, bytes)
		})
		return errors.Join(err, failed)
	}
}

type linkConn struct {
	net.Conn
	link *Link
}

func (c *linkConn) Read(b []byte) (int, error) {
	if c.link.Patience > 0 {
		c.SetReadDeadline(time.Now().Add(c.link.Patience))
	}
	n, err := c.Conn.Read(b)
	c.link.Bytes.Add(int64(n))
	if errors.Is(err, os.ErrDeadlineExceeded) {
		c.link.Timeouts.Add(1)
	}
	return n, err
}

// SetLinger is that of a net.TCPConn.
func (c *linkConn) SetLinger(seconds int) error {
	if tcp, ok := c.Conn.(*net.TCPConn); ok {
		return tcp.SetLinger(seconds)
	}
	return nil
}

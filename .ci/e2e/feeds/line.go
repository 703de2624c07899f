package main

import (
	"context"
	"errors"
	"net"
	"os"
	"sync/atomic"
	"time"
)

// line is how one client is connected. It is safe for concurrent use. Nil is as others are: it waits for ever.
type line struct {
	// patience is how long nothing may come, not even a heartbeat, until the client takes the connection for lost.
	patience time.Duration

	bytes  atomic.Int64 // that have come
	lapses atomic.Int64 // how often it took a connection for lost
}

// dial is that of a net.Dialer.
func (l *line) dial(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: 30 * time.Second}
	conn, err := dialer.DialContext(ctx, network, address)
	if err != nil || l == nil {
		return conn, err
	}
	return &lineConn{conn, l}, nil
}

type lineConn struct {
	net.Conn
	line *line
}

func (c *lineConn) Read(b []byte) (int, error) {
	if c.line.patience > 0 {
		c.SetReadDeadline(time.Now().Add(c.line.patience))
	}
	n, err := c.Conn.Read(b)
	c.line.bytes.Add(int64(n))
	if errors.Is(err, os.ErrDeadlineExceeded) {
		c.line.lapses.Add(1)
	}
	return n, err
}

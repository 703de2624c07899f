package network

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

// connection is an accepted connection and the forwarded one.
type connection struct {
	proxy *Proxy
	near  net.Conn
	far   net.Conn
	life  context.Context // as long as the connections
	end   context.CancelFunc

	lost, cut bool // guarded by proxy.mu
}

// run forwards both directions until both have ended or one of them fails.
func (c *connection) run() {
	defer c.proxy.remove(c)
	defer c.end()
	defer c.near.Close()
	if _, ok := c.unblocked(); !ok {
		return
	}
	var err error
	if c.far, err = c.proxy.dial(c.life); err != nil {
		return
	}
	defer c.far.Close()
	defer context.AfterFunc(c.life, func() { c.near.Close(); c.far.Close() })()
	var wg sync.WaitGroup
	for _, way := range []struct{ from, to net.Conn }{{c.near, c.far}, {c.far, c.near}} {
		queue := make(chan segment, queueLength)
		wg.Go(func() { c.receive(way.from, queue) })
		wg.Go(func() { c.deliver(queue, way.to) })
	}
	wg.Wait()
}

// unblocked waits until traffic can pass, and returns the faults at that time. It returns false if the connection ends first.
func (c *connection) unblocked() (Faults, bool) {
	for {
		c.proxy.mu.Lock()
		faults, lost, changed := c.proxy.faults, c.lost, c.proxy.changed
		c.proxy.mu.Unlock()
		if !faults.Blocked && !lost {
			return faults, c.life.Err() == nil
		}
		select {
		case <-changed:
		case <-c.life.Done():
			return faults, false
		}
	}
}

// segment is the result of one read.
type segment struct {
	data []byte
	err  error
	due  time.Time
}

// A queue of queueLength segments is full, as a TCP window is. segmentSize is the largest segment.
const (
	queueLength = 64
	segmentSize = 4 << 10
)

// receive reads from one end.
func (c *connection) receive(from net.Conn, queue chan<- segment) {
	buffer := make([]byte, segmentSize)
	for {
		n, err := from.Read(buffer)
		next := segment{append([]byte(nil), buffer[:n]...), err, time.Now().Add(c.proxy.latency())}
		select {
		case queue <- next:
		case <-c.life.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

// deliver writes to the other end. At the end of one direction it leaves the other one open.
func (c *connection) deliver(queue <-chan segment, to net.Conn) {
	budget := -1
	for {
		var next segment
		select {
		case next = <-queue:
		case <-c.life.Done():
			return
		}
		faults, ok := c.await(next)
		if !ok {
			return
		}
		if faults.Cut > 0 && budget < 0 {
			budget = c.proxy.draw(faults.Cut)
		}
		if cut := faults.Cut > 0 && len(next.data) > budget; cut {
			to.Write(next.data[:budget])
			c.reset()
			return
		}
		budget -= len(next.data)
		_, err := to.Write(next.data)
		switch {
		case err != nil, next.err != nil && !errors.Is(next.err, io.EOF):
			c.end()
			return
		case next.err != nil:
			if half, ok := to.(interface{ CloseWrite() error }); ok {
				half.CloseWrite()
			}
			return
		}
	}
}

// await waits until a segment is due and may pass.
func (c *connection) await(next segment) (Faults, bool) {
	if !sleep(c.life, time.Until(next.due)) {
		return Faults{}, false
	}
	faults, ok := c.unblocked()
	if ok && faults.Rate > 0 {
		ok = sleep(c.life, time.Duration(len(next.data))*time.Second/time.Duration(faults.Rate))
	}
	return faults, ok
}

// reset ends both connections with RST.
func (c *connection) reset() {
	for _, conn := range []net.Conn{c.near, c.far} {
		if tcp, ok := conn.(*net.TCPConn); ok {
			tcp.SetLinger(0)
		}
	}
	c.proxy.mu.Lock()
	if !c.cut { // both directions may reach their number of bytes
		c.cut = true
		c.proxy.resets++
	}
	c.proxy.mu.Unlock()
	c.end()
}

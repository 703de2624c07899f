package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// crowd is many sockets that listen to the same. Each keeps when it heard what, and nothing else: with ten thousand of them
// on the machine that is tested, whatever they do is time that the server does not have.
type crowd struct {
	members []*member
	heard   atomic.Int64 // by all
	readers sync.WaitGroup
}

// member is one of them.
type member struct {
	conn  *wsConn
	mu    sync.Mutex
	times []time.Time
	err   error // why it has stopped
}

// atOnce is how many are opened at a time.
const atOnce = 64

// gather opens n sockets, each with a subscription. ask is what they ask for; nobody reads until listen.
func gather(ctx context.Context, base string, n, buffer int, ask func(c *wsConn) error) (*crowd, error) {
	c := &crowd{members: make([]*member, n)}
	errs := make(chan error, atOnce)
	var next atomic.Int64
	for range atOnce {
		go func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					errs <- nil
					return
				}
				conn, err := enter(ctx, base, buffer, ask)
				if err != nil {
					errs <- fmt.Errorf("socket %d: %w", i, err)
					return
				}
				c.members[i] = &member{conn: conn}
			}
		}()
	}
	var all []error
	for range atOnce {
		all = append(all, <-errs)
	}
	return c, errors.Join(all...)
}

// enter opens a socket, and asks. A buffer above zero is how much the system may hold of what is not read.
func enter(ctx context.Context, base string, buffer int, ask func(c *wsConn) error) (*wsConn, error) {
	dialer := net.Dialer{Timeout: 5 * time.Minute}
	if buffer > 0 {
		dialer.Control = smallBuffer(buffer)
	}
	conn, err := dial(ctx, base, dialer.DialContext)
	if err != nil {
		return nil, err
	}
	if err = conn.init(); err == nil {
		err = ask(conn)
	}
	if err != nil {
		conn.close()
		return nil, err
	}
	return conn, nil
}

// listen has all of them read.
func (c *crowd) listen() {
	for _, m := range c.members {
		c.readers.Go(func() { m.listen(&c.heard) })
	}
}

var (
	typeNext = []byte(`"type":"next"`)
	typePing = []byte(`"type":"ping"`)
)

func (m *member) listen(heard *atomic.Int64) {
	for {
		if err := m.conn.read(); err != nil {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.err = err
			return
		}
		begin := m.conn.data[:min(len(m.conn.data), 64)]
		switch {
		case bytes.Contains(begin, typeNext):
			now := time.Now()
			m.mu.Lock()
			m.times = append(m.times, now)
			m.mu.Unlock()
			heard.Add(1)
		case bytes.Contains(begin, typePing):
			m.conn.send(opText, []byte(`{"type":"pong"}`))
		}
	}
}

// await waits until all have heard n things since they listen.
func (c *crowd) await(ctx context.Context, n int) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	for want := int64(n) * int64(len(c.members)); c.heard.Load() < want; {
		if pauseFor(ctx, 200*time.Microsecond); ctx.Err() != nil {
			return fmt.Errorf("%d of %d heard: %w", c.heard.Load(), want, errors.Join(ctx.Err(), c.failure()))
		}
	}
	return nil
}

// awaitEach waits until each of them has heard n things or more.
func (c *crowd) awaitEach(ctx context.Context, n int) error {
	for _, m := range c.members {
		for m.count() < n {
			if pauseFor(ctx, time.Millisecond); ctx.Err() != nil {
				return errors.Join(ctx.Err(), c.failure())
			}
		}
	}
	return nil
}

func (m *member) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.times)
}

// failure is why one of them has stopped.
func (c *crowd) failure() error {
	for _, m := range c.members {
		m.mu.Lock()
		err := m.err
		m.mu.Unlock()
		if err != nil {
			return err
		}
	}
	return nil
}

// since returns how long after it was inserted each of them heard each thing, from the one with this index on.
func (c *crowd) since(inserted []time.Time, from int) (all []time.Duration) {
	for _, m := range c.members {
		m.mu.Lock()
		for i := from; i < len(m.times) && i < len(inserted); i++ {
			all = append(all, m.times[i].Sub(inserted[i]))
		}
		m.mu.Unlock()
	}
	return all
}

// leave closes all. Abruptly is without a goodbye.
func (c *crowd) leave(abruptly bool) {
	for _, m := range c.members {
		if m == nil {
			continue
		}
		if conn, ok := m.conn.net.(*net.TCPConn); ok && abruptly {
			conn.SetLinger(0)
		} else {
			m.conn.send(opClose, []byte{0x03, 0xe8})
		}
		m.conn.close()
	}
	c.readers.Wait()
}

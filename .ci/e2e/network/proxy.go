// Package network has TCP proxies that do to traffic what networks do: delay it, throttle it, reset connections in the middle
// of a message, or pass nothing at all. Scenarios place one before each node, and one between each node and its database.
package network

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"sync"
	"time"
)

// Faults is what a Proxy does to the traffic. The zero value passes everything at once.
type Faults struct {
	// Delay is the latency of each direction, and Jitter the random time added to it. The order of the bytes is kept.
	Delay, Jitter time.Duration
	// Rate limits the bytes per second of each connection in each direction. 0 is no limit.
	Rate int
	// Cut resets each connection after a random number of bytes below Cut in one direction, usually in the middle of a message. 0
	// resets none. The number is drawn at the first write.
	Cut int
	// Blocked passes nothing. Connections are still accepted, and what was sent arrives when Blocked ends, as TCP retransmits it.
	Blocked bool
}

// Proxy is a listener on this machine that forwards each connection. It is safe for concurrent use.
type Proxy struct {
	listener net.Listener
	dial     func(ctx context.Context) (net.Conn, error)
	life     context.Context // until Close
	end      context.CancelFunc
	running  sync.WaitGroup

	mu          sync.Mutex
	rng         *rand.Rand
	faults      Faults
	changed     chan struct{} // closed when faults or a connection's lost changes
	connections map[*connection]struct{}
	resets      int
}

// New returns a Proxy without faults. It calls dial for each connection, and closes the connection if dial fails. Random values
// follow from seed.
func New(seed uint64, dial func(ctx context.Context) (net.Conn, error)) (*Proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{listener: listener, dial: dial, rng: rand.New(rand.NewPCG(seed, 1<<40)), changed: make(chan struct{}),
		connections: map[*connection]struct{}{}}
	p.life, p.end = context.WithCancel(context.Background())
	p.running.Go(p.accept)
	return p, nil
}

// Addr is the address of the listener, such as 127.0.0.1:8080.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Set changes the faults, also for bytes that are on their way.
func (p *Proxy) Set(faults Faults) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults = faults
	close(p.changed)
	p.changed = make(chan struct{})
}

// Lose makes the present connections pass nothing from now on, without closing them, as when a NAT entry or the remote machine
// disappears. New connections are not affected.
func (p *Proxy) Lose() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.connections {
		c.lost = true
	}
	close(p.changed)
	p.changed = make(chan struct{})
}

// Resets returns the number of connections that Faults.Cut has reset.
func (p *Proxy) Resets() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.resets
}

// Close ends all connections and waits for the goroutines of the Proxy.
func (p *Proxy) Close() error {
	p.end()
	err := p.listener.Close()
	p.running.Wait()
	return err
}

func (p *Proxy) accept() {
	for {
		conn, err := p.listener.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil: // too many open files
			sleep(p.life, 10*time.Millisecond)
			continue
		}
		c := &connection{proxy: p, near: conn}
		c.life, c.end = context.WithCancel(p.life)
		p.mu.Lock()
		p.connections[c] = struct{}{}
		p.mu.Unlock()
		p.running.Go(c.run)
	}
}

// sleep waits for d. It returns false if ctx is done.
func sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// latency draws the delay of what is sent now.
func (p *Proxy) latency() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.faults.Jitter <= 0 {
		return p.faults.Delay
	}
	return p.faults.Delay + time.Duration(p.rng.Int64N(int64(p.faults.Jitter)))
}

// draw returns the number of bytes that pass before a reset.
func (p *Proxy) draw(most int) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.rng.IntN(most)
}

func (p *Proxy) remove(c *connection) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.connections, c)
}

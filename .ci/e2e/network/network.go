// Package network stands between those who ask and one who answers, and does to what passes what networks do: it is late, it
// is slow, it ends in the midst of something, or it does not come at all.
//
// A [Wire] is a listener on this machine. Whatever is sent to it comes out at the other end, through the [Weather] that is
// set at the time: package main has one before each server, and one between each server and its database.
package network

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"sync"
	"time"
)

// Weather is what a Wire does to what passes. The zero value is fair: everything passes at once.
type Weather struct {
	// Delay is how late everything is, in each direction, and Jitter how much later it may be. The order stays.
	Delay, Jitter time.Duration
	// Rate is how many bytes pass in a second, of each connection in each direction; 0 is any number.
	Rate int
	// Cut resets each connection once so many bytes have passed in one direction, at most, in the midst of whatever that
	// is; 0 is never. It is drawn when something is sent over the connection first.
	Cut int
	// Hole has nothing pass. Connections are taken, and nobody is told: what was sent comes out when there is no hole any
	// more, as TCP repeats it.
	Hole bool
}

// Wire passes on what it is sent. It is safe for concurrent use.
type Wire struct {
	listener net.Listener
	dial     func(ctx context.Context) (net.Conn, error)
	life     context.Context // until Close
	end      context.CancelFunc
	works    sync.WaitGroup

	mu      sync.Mutex
	rng     *rand.Rand
	weather Weather
	changed chan struct{} // closed when the weather is another
	pairs   map[*pair]struct{}
	cuts    int
}

// New returns a Wire in fair weather. dial leads to the other end, once for each connection; where it fails the connection
// is closed. What is drawn by lot is drawn from seed.
func New(seed uint64, dial func(ctx context.Context) (net.Conn, error)) (*Wire, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	w := &Wire{listener: listener, dial: dial, rng: rand.New(rand.NewPCG(seed, 1<<40)), changed: make(chan struct{}),
		pairs: map[*pair]struct{}{}}
	w.life, w.end = context.WithCancel(context.Background())
	w.works.Go(w.accept)
	return w, nil
}

// Addr is where the Wire begins, as 127.0.0.1:8080.
func (w *Wire) Addr() string { return w.listener.Addr().String() }

// Set changes the weather, also for what is on its way.
func (w *Wire) Set(to Weather) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.weather = to
	close(w.changed)
	w.changed = make(chan struct{})
}

// Forget has nothing more pass over the connections that there are, for ever, without telling anybody: as when the machine
// at the other end, or a table of addresses on the way, is gone. Those that are made from now on are others.
func (w *Wire) Forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for p := range w.pairs {
		p.forgotten = true
	}
	close(w.changed)
	w.changed = make(chan struct{})
}

// Cuts is how many connections were reset by [Weather].Cut.
func (w *Wire) Cuts() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.cuts
}

// Close ends all connections, and returns when nothing of the Wire runs any more.
func (w *Wire) Close() error {
	w.end()
	err := w.listener.Close()
	w.works.Wait()
	return err
}

func (w *Wire) accept() {
	for {
		conn, err := w.listener.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil: // there are too many files open, as with any server
			w.sleep(w.life, 10*time.Millisecond)
			continue
		}
		p := &pair{wire: w, near: conn}
		p.life, p.end = context.WithCancel(w.life)
		w.mu.Lock()
		w.pairs[p] = struct{}{}
		w.mu.Unlock()
		w.works.Go(p.run)
	}
}

// sleep waits for some time, and reports whether there is anything to go on for.
func (w *Wire) sleep(ctx context.Context, d time.Duration) bool {
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

// late draws how late something is that is sent now.
func (w *Wire) late() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.weather.Jitter <= 0 {
		return w.weather.Delay
	}
	return w.weather.Delay + time.Duration(w.rng.Int64N(int64(w.weather.Jitter)))
}

// draw draws how many bytes pass before a cut.
func (w *Wire) draw(most int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.rng.IntN(most)
}

func (w *Wire) remove(p *pair) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.pairs, p)
}

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stoa-go/stoa/ci/e2e/client"
	"github.com/stoa-go/stoa/ci/e2e/server"
)

// The scenario sockets opens many WebSockets, each with a subscription. It measures the memory of the node for each, whether
// anything is left after as many were opened and closed, and whether clients that never read disturb the others.

// manySockets is a trial with sockets.
type manySockets struct {
	trial
	count, events, pairs int
	maxKiB               float64 // for each socket
	idle                 time.Duration

	admin  *client.Client // requests the state of the node
	others int            // sockets of the node that are not of subscribers
	thing  *changingThing
	total  int // events since the start of the node
	r      socketMeasures
}

// socketMeasures is what was measured.
type socketMeasures struct {
	empty, full, settled    server.Process // before, with all sockets, and after unused memory was returned
	opened                  time.Duration
	before, after           server.Process // before and after many were opened and closed
	rate                    float64        // events per second
	one                     time.Duration  // until all have received one event
	latency                 [2]time.Duration
	readers, nonReaders     []pairMeasure // with some more that read, and with as many that never read
	closedLeast, closedMost []time.Duration
}

// pairMeasure is one of two runs that are compared.
type pairMeasure struct {
	p99   time.Duration // of the other sockets
	grown int64         // bytes of the node
}

func sockets(ctx context.Context, e *env) error {
	s := &manySockets{count: size(e, 1000, 10_000), events: 30, pairs: size(e, 1, 5), maxKiB: 40,
		idle: size(e, time.Second, 3*time.Second)}
	s.trial = trial{title: fmt.Sprintf("SQLite, %d sockets with a subscription each", s.count), engine: sqlite,
		command: []string{"things"}, do: s.run}
	return e.try(ctx, &s.trial)
}

func (s *manySockets) run(ctx context.Context) (err error) {
	s.admin = client.New(1)
	s.thing, err = newChangingThing(ctx, s.Client, s.URL(0), server.Thing{Name: "thing", Lane: 1, N: 1, Open: true})
	if err != nil {
		return err
	}
	s.total = 1
	first, err := s.process(ctx, http.MethodGet, "/process/")
	if err != nil {
		return err
	}
	s.others = first.Sockets
	if err := s.openAndClose(ctx); err != nil {
		return err
	}
	crowd, err := s.fill(ctx)
	if err != nil {
		return err
	}
	defer crowd.leave(true)
	if err := s.fanOut(ctx, crowd); err != nil {
		return err
	}
	for i := range 2 * s.pairs {
		// The order in a pair alternates, so that growth over time affects both sides.
		if err := s.withMore(ctx, crowd, i%2 == i/2%2); err != nil {
			return err
		}
	}
	s.judge()
	return crowd.err()
}

// process returns the state of the node. With POST unused memory is returned first.
func (s *manySockets) process(ctx context.Context, method, path string) (p server.Process, err error) {
	a := s.admin.Send(ctx, method, s.URL(0)+path, "")
	return p, a.Decode(path, &p)
}

// change makes one event, and returns after its write is acknowledged.
func (s *manySockets) change(ctx context.Context) error {
	s.total++
	return s.thing.change(ctx)
}

// awaitClosed waits until the node has at most n sockets of subscribers.
func (s *manySockets) awaitClosed(ctx context.Context, n int) (err error) {
	awaited := client.Await(ctx, fmt.Sprint(n, " sockets"), 50*time.Millisecond, func() bool {
		var p server.Process
		p, err = s.process(ctx, http.MethodGet, "/process/")
		return err != nil || p.Sockets <= s.others+n
	})
	return errors.Join(awaited, err)
}

// openAndClose opens and closes as many sockets as there will be, 200 at a time, half of them without a close frame. The state
// before is measured after the first group, because those leave pools that the next ones reuse.
func (s *manySockets) openAndClose(ctx context.Context) (err error) {
	const group = 200
	for i := 0; i < s.count+group; i += group {
		if i == group {
			if err := s.awaitClosed(ctx, 0); err != nil {
				return err
			}
			if s.r.before, err = s.process(ctx, http.MethodPost, "/process/"); err != nil {
				return err
			}
		}
		c, err := openCrowd(ctx, s.URL(0), group, 0, subscribeToAll)
		if err != nil {
			return err
		}
		if i/group%4 == 0 { // some receive an event first
			c.receive()
			if err := s.changeUntil(ctx, c, 1); err != nil {
				return err
			}
		}
		c.leave(i/group%2 == 0)
	}
	// What is left after five minutes is found by check.
	client.Await(ctx, "no sockets", 100*time.Millisecond, func() bool {
		s.r.after, err = s.process(ctx, http.MethodPost, "/process/")
		return err != nil || s.r.after.Goroutines <= s.r.before.Goroutines && s.r.after.Sockets <= s.r.before.Sockets
	})
	return err
}

// changeUntil makes events until all sockets have received n: a subscription is not acknowledged, so the first event may be too
// early for some.
func (s *manySockets) changeUntil(ctx context.Context, c *crowd, n int) error {
	var err error
	awaited := client.Await(ctx, "a first event", 0, func() bool {
		if err = s.change(ctx); err != nil {
			return true
		}
		short, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
		defer cancel()
		return c.awaitEach(short, n) == nil
	})
	return errors.Join(awaited, err, c.err())
}

// fill opens all sockets, and measures their memory after each has received an event and nothing more happens.
func (s *manySockets) fill(ctx context.Context) (c *crowd, err error) {
	if s.r.empty, err = s.process(ctx, http.MethodPost, "/process/"); err != nil {
		return nil, err
	}
	began := time.Now()
	if c, err = openCrowd(ctx, s.URL(0), s.count, 0, subscribeToAll); err != nil {
		return c, err
	}
	s.r.opened = time.Since(began)
	c.receive()
	if err := s.changeUntil(ctx, c, 1); err != nil {
		return c, err
	}
	client.Pause(ctx, s.idle)
	if s.r.full, err = s.process(ctx, http.MethodGet, "/process/"); err != nil {
		return c, err
	}
	s.r.settled, err = s.process(ctx, http.MethodPost, "/process/")
	return c, err
}

// fanOut makes one event after the other, each after all sockets have received the one before.
func (s *manySockets) fanOut(ctx context.Context, c *crowd) error {
	c.reset()
	first, began := s.total, time.Now()
	for i := range s.events {
		if err := s.change(ctx); err != nil {
			return err
		}
		if err := c.await(ctx, i+1); err != nil {
			return err
		}
	}
	took := time.Since(began)
	s.r.rate = float64(s.events*s.count) / took.Seconds()
	s.r.one = took / time.Duration(s.events)
	times, err := s.latencies(ctx, c, first)
	s.r.latency = [2]time.Duration{percentile(times, 0.5), percentile(times, 0.99)}
	return err
}

// latencies returns the times from the insert of each event after the first ones to its receipt by each socket.
func (s *manySockets) latencies(ctx context.Context, c *crowd, first int) ([]time.Duration, error) {
	all, err := insertTimes(ctx, s.source)
	if err != nil {
		return nil, err
	}
	var inserted []time.Time
	for seq := uint64(first) + 1; seq <= uint64(s.total); seq++ {
		inserted = append(inserted, all[seq])
	}
	return c.since(inserted), nil
}

// largeSubscription asks for items that are large enough to fill all buffers between the node and a client that never reads.
const largeSubscription = `subscription { thingChanged(filter: {lane: {eq: 2}}) { cursor thing { note } } }`

const (
	largeEvents = 8
	largeSize   = 512 << 10
)

// withMore measures with one in a hundred more sockets, which also subscribe to large items, and which read or never read.
func (s *manySockets) withMore(ctx context.Context, c *crowd, read bool) error {
	if err := s.awaitClosed(ctx, s.count); err != nil {
		return err
	}
	without, err := s.process(ctx, http.MethodPost, "/process/")
	if err != nil {
		return err
	}
	more, err := openCrowd(ctx, s.URL(0), max(s.count/100, 1), 4096, func(c *client.Socket) error {
		return errors.Join(subscribeToAll(c), c.Operate("2", largeSubscription, nil))
	})
	if err != nil {
		return err
	}
	defer more.leave(true)
	c.reset()
	var closed chan any // a time.Time or an error
	began := time.Now()
	if read {
		more.receive()
	} else {
		closed = s.watchClosed(ctx)
	}
	for range largeEvents {
		v := server.Thing{Name: "large", Lane: 2, N: 1, Note: strings.Repeat("x", largeSize)}
		if _, a, err := createThing(ctx, s.Client, s.URL(0), v); err != nil || !a.OK() {
			return errors.Join(a.Unexpected("create a large item"), err)
		}
		s.total++
	}
	if err := c.await(ctx, largeEvents); err != nil {
		return err
	}
	filled := time.Now()
	p99, err := s.paced(ctx, c)
	if err != nil {
		return err
	}
	with, err := s.process(ctx, http.MethodPost, "/process/")
	if err != nil {
		return err
	}
	m := pairMeasure{p99, int64(with.Resident) - int64(without.Resident)}
	if read {
		s.r.readers = append(s.r.readers, m)
		return nil
	}
	s.r.nonReaders = append(s.r.nonReaders, m)
	switch end := (<-closed).(type) {
	case error:
		return end
	case time.Time:
		s.r.closedLeast = append(s.r.closedLeast, end.Sub(filled))
		s.r.closedMost = append(s.r.closedMost, end.Sub(began))
	}
	return nil
}

// watchClosed waits until the node has closed the sockets that never read, and sends the time.
func (s *manySockets) watchClosed(ctx context.Context) chan any {
	closed := make(chan any, 1)
	go func() {
		if err := s.awaitClosed(ctx, s.count); err != nil {
			closed <- err
			return
		}
		closed <- time.Now()
	}()
	return closed
}

// paced makes events with time between them, and returns the 99th percentile of the latency.
func (s *manySockets) paced(ctx context.Context, c *crowd) (time.Duration, error) {
	c.reset()
	first := s.total
	pace := time.NewTicker(max(2*s.r.one, 50*time.Millisecond))
	defer pace.Stop()
	for range s.events {
		if err := s.change(ctx); err != nil {
			return 0, err
		}
		<-pace.C
	}
	if err := c.await(ctx, s.events); err != nil {
		return 0, err
	}
	times, err := s.latencies(ctx, c, first)
	return percentile(times, 0.99), err
}

// judge has wide limits on memory and none on time, which depends on the machine. That sockets that never read are closed at all
// is what the run waits for.
func (s *manySockets) judge() {
	m := &s.r
	kib := func(before, after uint64) float64 {
		return (float64(after) - float64(before)) / float64(s.count) / 1024
	}
	mib := func(bytes int64) float64 { return float64(bytes) / (1 << 20) }
	s.line("as many were opened and closed: goroutines %d, then %d; descriptors %d, then %d, of which sockets %d, then %d",
		m.before.Goroutines, m.after.Goroutines, m.before.Descriptors, m.after.Descriptors, m.before.Sockets, m.after.Sockets)
	each := kib(m.empty.Resident, m.settled.Resident)
	s.line("idle, opened in %.1f s: %.1f KiB each (before memory is returned, %.1f), of which heap %.1f and stacks %.1f; %.2f goroutines",
		m.opened.Seconds(), each, kib(m.empty.Resident, m.full.Resident), kib(m.empty.Heap, m.settled.Heap),
		kib(m.empty.Stacks, m.settled.Stacks), float64(m.settled.Goroutines-m.empty.Goroutines)/float64(s.count))
	s.line("one event to all in %v, %.0f events/s; from its insert to its receipt p50 %v, p99 %v", m.one.Round(time.Millisecond), m.rate,
		rounded(m.latency[0]), rounded(m.latency[1]))
	var ratios []float64
	for i, bad := range m.nonReaders {
		good := m.readers[i]
		ratios = append(ratios, float64(bad.p99)/float64(good.p99))
		s.line("1 in 100 never reads: p99 of the others %v, else %v: %.2fx; the node grew by %.1f MiB, else %.1f; closed after %.1f to %.1f s",
			rounded(bad.p99), rounded(good.p99), ratios[i], mib(bad.grown), mib(good.grown), m.closedLeast[i].Seconds(), m.closedMost[i].Seconds())
		more := mib(bad.grown - good.grown)
		s.failIf(more > 128, "sockets that never read take %.0f MiB of the node", more)
	}
	if len(ratios) > 0 {
		slices.Sort(ratios)
		s.line("median of %d pairs: %.2fx", len(ratios), ratios[len(ratios)/2])
	}
	s.failIf(m.after.Goroutines > m.before.Goroutines || m.after.Sockets > m.before.Sockets,
		"%d goroutines and %d sockets of closed connections are left", m.after.Goroutines-m.before.Goroutines,
		m.after.Sockets-m.before.Sockets)
	s.failIf(each > s.maxKiB, "%.1f KiB for a socket, and the limit is %.0f", each, s.maxKiB)
}

// crowd is many sockets with the same subscription. Each keeps the times of its events and nothing else: the sockets run on the
// machine of the node, and take its time.
type crowd struct {
	members  []*member
	received atomic.Int64 // by all
	readers  sync.WaitGroup
}

type member struct {
	conn    *client.Socket
	mu      sync.Mutex
	times   []time.Time
	stopped error // why it does not read any more
}

// atOnce is the number of sockets that are opened at a time.
const atOnce = 64

func subscribeToAll(c *client.Socket) error { return c.Subscribe("", client.View{}) }

// openCrowd opens n sockets. A buffer above zero limits what the system holds of what is not read.
func openCrowd(ctx context.Context, base string, n, buffer int, subscribe func(c *client.Socket) error) (*crowd, error) {
	c := &crowd{members: make([]*member, n)}
	for i := range c.members {
		c.members[i] = &member{}
	}
	return c, share(ctx, atOnce, slices.Values(c.members), func(_ int, m *member) (err error) {
		if m.conn, err = client.DialSocket(ctx, base, &client.Link{Buffer: buffer}); err != nil {
			return err
		}
		return subscribe(m.conn)
	})
}

// receive starts to read from all sockets.
func (c *crowd) receive() {
	for _, m := range c.members {
		c.readers.Go(func() { m.read(&c.received) })
	}
}

var (
	typeNext = []byte(`"type":"next"`)
	typePing = []byte(`"type":"ping"`)
)

func (m *member) read(received *atomic.Int64) {
	for {
		data, err := m.conn.Read()
		if err != nil {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.stopped = err
			return
		}
		begin := data[:min(len(data), 64)]
		switch {
		case bytes.Contains(begin, typeNext):
			now := time.Now()
			m.mu.Lock()
			m.times = append(m.times, now)
			m.mu.Unlock()
			received.Add(1)
		case bytes.Contains(begin, typePing):
			m.conn.Pong()
		}
	}
}

// reset drops the received events, so that the next event has index 0 for all.
func (c *crowd) reset() {
	c.received.Store(0)
	for _, m := range c.members {
		m.mu.Lock()
		m.times = m.times[:0]
		m.mu.Unlock()
	}
}

// await waits until all have received n events, on average.
func (c *crowd) await(ctx context.Context, n int) error {
	want := int64(n) * int64(len(c.members))
	all := func() bool { return c.received.Load() >= want }
	err := client.Await(ctx, fmt.Sprint(want, " events"), 200*time.Microsecond, all)
	if err != nil {
		return fmt.Errorf("%d of %d events received: %w", c.received.Load(), want, errors.Join(err, c.err()))
	}
	return nil
}

// awaitEach waits until each has received n events.
func (c *crowd) awaitEach(ctx context.Context, n int) error {
	return client.Await(ctx, fmt.Sprint(n, " events at each socket"), time.Millisecond, func() bool {
		return !slices.ContainsFunc(c.members, func(m *member) bool { return m.count() < n })
	})
}

func (m *member) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.times)
}

// err returns why a socket has stopped.
func (c *crowd) err() error {
	for _, m := range c.members {
		m.mu.Lock()
		err := m.stopped
		m.mu.Unlock()
		if err != nil {
			return err
		}
	}
	return nil
}

// since returns the time from the insert of each event to its receipt by each socket.
func (c *crowd) since(inserted []time.Time) (all []time.Duration) {
	for _, m := range c.members {
		m.mu.Lock()
		for i := range min(len(m.times), len(inserted)) {
			all = append(all, m.times[i].Sub(inserted[i]))
		}
		m.mu.Unlock()
	}
	return all
}

// leave closes all sockets, with a close frame or abruptly.
func (c *crowd) leave(abruptly bool) {
	for _, m := range c.members {
		if m.conn != nil {
			m.conn.Leave(abruptly)
		}
	}
	c.readers.Wait()
}

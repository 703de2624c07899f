package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
)

// sockets asks what many WebSockets cost a server, and what those who never read cost the others.
type sockets struct {
	settings
	many, events, pairs int
	most                float64 // KiB for each
	idle                time.Duration

	client *client
	base   string
	thing  string // its id; it changes whenever there is something to hear
	tag    string
	n      int
	total  int // events since the server was started
	r      socketsReport
}

// socketsReport is what came of it.
type socketsReport struct {
	empty, full, settled process // before, with all sockets, and after what is not in use was given back
	opened               time.Duration
	gone, back           process // before and after many came and went
	rate                 float64 // frames a second
	one                  time.Duration
	latency              [2]time.Duration
	calm, troubled       []pairRun // with some who read, and with as many who never read
	closed               []span    // how long after they had stalled the last of those was closed
}

// span is between what is at least and at most: they stall while what fills them is sent.
type span struct{ least, most time.Duration }

// pairRun is one of two runs that are compared.
type pairRun struct {
	p99   time.Duration // of the others
	grown int64         // bytes that the server had more in the end
}

func socketsOf(ctx context.Context, args []string, out io.Writer) error {
	s := &sockets{}
	flags := s.flags("sockets")
	flags.IntVar(&s.many, "sockets", 1000, "at once")
	flags.IntVar(&s.events, "events", 30, "that all of them hear, of each measurement")
	flags.IntVar(&s.pairs, "pairs", 3, "of runs with and without those who never read; 0 is none")
	flags.Float64Var(&s.most, "most", 40, "`KiB` of the server for each socket")
	flags.DurationVar(&s.idle, "idle", 3*time.Second, "before memory is measured")
	if err := flags.Parse(args); err != nil {
		return err
	}
	s.processes = 1
	s.client = newClient(2)
	err := s.run(ctx)
	if err == nil {
		s.print(out)
		err = s.verdict()
	}
	if err != nil {
		return fmt.Errorf("%s: %w; again: feeds sockets -sockets %d -events %d -pairs %d", s.name, err, s.many, s.events, s.pairs)
	}
	return nil
}

func (s *sockets) run(ctx context.Context) error {
	f, stop, err := s.start(ctx, s.db)
	if err != nil {
		return err
	}
	defer stop()
	s.base = f.URL(0)
	v, a, err := s.client.create(ctx, s.base, thing{Name: "thing", Lane: 1, N: 1, Open: true})
	if err != nil || !a.ok() {
		return fmt.Errorf("create: status %d: %w", a.status, err)
	}
	s.thing, s.tag, s.n, s.total = v.ID, a.tag, 1, 1
	if err := s.comeAndGo(ctx); err != nil {
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
		// The order within a pair alternates, so that whatever grows over time is on both sides.
		if err := s.withSome(ctx, crowd, i%2 == i/2%2); err != nil {
			return err
		}
	}
	return crowd.failure()
}

// ask asks for everything that happens.
func ask(c *wsConn) error { return c.subscribe("", view{}) }

// process asks the server for what it says of itself, after it has given back what it does not use if so wanted.
func (s *sockets) process(ctx context.Context, tidy bool) (process, error) {
	if tidy {
		return s.processOf(ctx, http.MethodPost, "/process/")
	}
	return s.processOf(ctx, http.MethodGet, "/process/")
}

func (s *sockets) processOf(ctx context.Context, method, path string) (p process, err error) {
	a := s.client.send(ctx, method, s.base+path, "")
	if !a.ok() {
		return p, fmt.Errorf("the process: status %d", a.status)
	}
	return p, json.Unmarshal(a.body, &p)
}

// change has something happen, and returns once it is acknowledged.
func (s *sockets) change(ctx context.Context) error {
	body := fmt.Sprintf(`{"n":%d}`, s.n+1)
	a := s.client.send(ctx, http.MethodPatch, s.base+path+"/"+s.thing, body, "Content-Type: "+mergePatch,
		"If-Match: "+s.tag)
	if !a.ok() {
		return fmt.Errorf("a change: status %d, %.200s", a.status, a.body)
	}
	s.n, s.tag, s.total = s.n+1, a.tag, s.total+1
	return nil
}

// comeAndGo has as many come and go as there will be, some hundred at a time, half of them without a goodbye. What there was
// before is measured once the first have come and gone, since those leave what is kept for the next.
func (s *sockets) comeAndGo(ctx context.Context) (err error) {
	const group = 200
	for i := 0; i < s.many+group; i += group {
		if i == group {
			if s.r.gone, err = s.settle(ctx, process{}); err != nil {
				return err
			}
		}
		c, err := gather(ctx, s.base, group, 0, ask)
		if err != nil {
			return err
		}
		if i/group%4 == 0 { // some are told something before they go
			c.listen()
			if err := s.changeUntil(ctx, c, 1); err != nil {
				return err
			}
		}
		c.leave(i/group%2 == 0)
	}
	s.r.back, err = s.settle(ctx, s.r.gone)
	return err
}

// changeUntil has things happen until all have heard so many: a subscription is not acknowledged, so that the first may come
// too early for some.
func (s *sockets) changeUntil(ctx context.Context, c *crowd, n int) error {
	for limit := time.Now().Add(5 * time.Minute); ; {
		if err := s.change(ctx); err != nil {
			return err
		}
		short, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
		err := c.awaitEach(short, n)
		cancel()
		if err == nil || ctx.Err() != nil || time.Now().After(limit) {
			return err
		}
	}
}

// settle waits until the process has no more than it had, and is patient: what ends, ends in its own time.
func (s *sockets) settle(ctx context.Context, before process) (p process, err error) {
	if before == (process{}) {
		pauseFor(ctx, 2*time.Second)
		return s.process(ctx, true)
	}
	for limit := time.Now().Add(5 * time.Minute); time.Now().Before(limit); pauseFor(ctx, 100*time.Millisecond) {
		p, err = s.process(ctx, true)
		if err != nil || p.Goroutines <= before.Goroutines && p.Sockets <= before.Sockets {
			break
		}
	}
	return p, err
}

// fill opens all sockets, and measures what they take once each has heard something and nothing more happens.
func (s *sockets) fill(ctx context.Context) (c *crowd, err error) {
	if s.r.empty, err = s.process(ctx, true); err != nil {
		return nil, err
	}
	began := time.Now()
	if c, err = gather(ctx, s.base, s.many, 0, ask); err != nil {
		return c, err
	}
	s.r.opened = time.Since(began)
	c.listen()
	if err := s.changeUntil(ctx, c, 1); err != nil {
		return c, err
	}
	pauseFor(ctx, s.idle)
	if s.r.full, err = s.process(ctx, false); err != nil {
		return c, err
	}
	s.r.settled, err = s.process(ctx, true)
	return c, err
}

// mark notes what each has heard so far, so that what comes next has the same index for all.
func (c *crowd) mark() {
	c.heard.Store(0)
	for _, m := range c.members {
		m.mu.Lock()
		m.times = m.times[:0]
		m.mu.Unlock()
	}
}

// fanOut has one thing happen after the other, each when all have heard the one before.
func (s *sockets) fanOut(ctx context.Context, c *crowd) error {
	c.mark()
	first := s.total
	began := time.Now()
	for i := range s.events {
		if err := s.change(ctx); err != nil {
			return err
		}
		if err := c.await(ctx, i+1); err != nil {
			return err
		}
	}
	took := time.Since(began)
	s.r.rate = float64(s.events*s.many) / took.Seconds()
	s.r.one = took / time.Duration(s.events)
	inserted, err := s.inserted(ctx, first)
	if err != nil {
		return err
	}
	all := c.since(inserted, 0)
	s.r.latency = [2]time.Duration{percentile(all, 0.5), percentile(all, 0.99)}
	return nil
}

// inserted returns when the events behind the first ones were inserted.
func (s *sockets) inserted(ctx context.Context, first int) ([]time.Time, error) {
	all, err := insertions(ctx, s.db)
	if err != nil {
		return nil, err
	}
	var times []time.Time
	for seq := uint64(first) + 1; seq <= uint64(s.total); seq++ {
		times = append(times, all[seq])
	}
	return times, nil
}

// heavy is what those ask for besides who may never read: what is so large that it fills whatever is between them and the
// server.
const heavy = `subscription { thingChanged(filter: {lane: {eq: 2}}) { cursor thing { note } } }`

// load is how many heavy things happen, and how large they are.
const (
	load   = 8
	weight = 512 << 10
)

// withSome measures with one in a hundred more, who ask for more, and who read or do not.
func (s *sockets) withSome(ctx context.Context, c *crowd, read bool) error {
	without, err := s.process(ctx, true)
	if err != nil {
		return err
	}
	more, err := gather(ctx, s.base, max(s.many/100, 1), 4096, func(c *wsConn) error {
		return errors.Join(ask(c), c.operate("2", heavy, nil))
	})
	if err != nil {
		return err
	}
	defer more.leave(true)
	c.mark()
	var closed chan any // a time.Time or an error
	began := time.Now()
	if read {
		more.listen()
	} else {
		closed = s.watchClosed(ctx, without)
	}
	for range load {
		v := thing{Name: "heavy", Lane: 2, N: 1, Note: strings.Repeat("x", weight)}
		if _, a, err := s.client.create(ctx, s.base, v); err != nil || !a.ok() {
			return fmt.Errorf("a heavy one: status %d: %w", a.status, err)
		}
		s.total++
	}
	if err := c.await(ctx, load); err != nil {
		return err
	}
	filled := time.Now()
	p99, err := s.paced(ctx, c)
	if err != nil {
		return err
	}
	with, err := s.process(ctx, true)
	if err != nil {
		return err
	}
	measured := pairRun{p99, int64(with.Resident) - int64(without.Resident)}
	if read {
		s.r.calm = append(s.r.calm, measured)
		return nil
	}
	s.r.troubled = append(s.r.troubled, measured)
	switch end := (<-closed).(type) {
	case error:
		return end
	case time.Time:
		s.r.closed = append(s.r.closed, span{end.Sub(filled), end.Sub(began)})
	}
	return nil
}

// watchClosed waits until the server has closed those who never read, and says when that was.
func (s *sockets) watchClosed(ctx context.Context, without process) chan any {
	const others = 4 // goroutines that come and go
	began, closed := time.Now(), make(chan any, 1)
	go func() {
		for {
			pauseFor(ctx, 250*time.Millisecond)
			p, err := s.processOf(ctx, http.MethodGet, "/process/goroutines")
			took := time.Since(began)
			switch {
			case err != nil:
				closed <- err
			case took > time.Second && p.Goroutines <= without.Goroutines+others:
				closed <- time.Now()
			case took > 5*time.Minute:
				closed <- fmt.Errorf("of those who never read %d goroutines are there after five minutes", p.Goroutines-without.Goroutines)
			default:
				continue
			}
			return
		}
	}()
	return closed
}

// paced has things happen at a pace that leaves time between them, and returns how soon they were heard.
func (s *sockets) paced(ctx context.Context, c *crowd) (time.Duration, error) {
	c.mark()
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
	inserted, err := s.inserted(ctx, first)
	return percentile(c.since(inserted, 0), 0.99), err
}

// each is what one socket takes of something.
func (s *sockets) each(before, after uint64) float64 {
	return (float64(after) - float64(before)) / float64(s.many) / 1024
}

func (s *sockets) print(out io.Writer) {
	r := &s.r
	fmt.Fprintf(out, "%s, %d sockets with a subscription each\n", s.name, s.many)
	fmt.Fprintf(out, "  as many came and went: goroutines %d, then %d; descriptors %d, then %d, of which sockets %d, then %d\n",
		r.gone.Goroutines, r.back.Goroutines, r.gone.Descriptors, r.back.Descriptors, r.gone.Sockets, r.back.Sockets)
	fmt.Fprintf(out, "  idle, opened in %.1f s: %.1f KiB each (as it is, %.1f), of which heap %.1f and stacks %.1f; ",
		r.opened.Seconds(), s.each(r.empty.Resident, r.settled.Resident), s.each(r.empty.Resident, r.full.Resident),
		s.each(r.empty.Heap, r.settled.Heap), s.each(r.empty.Stacks, r.settled.Stacks))
	fmt.Fprintf(out, "%.2f goroutines\n", float64(r.settled.Goroutines-r.empty.Goroutines)/float64(s.many))
	fmt.Fprintf(out, "  one event to all in %v, %.0f frames/s; from its insert to a frame p50 %v, p99 %v\n",
		r.one.Round(time.Millisecond), r.rate, r.latency[0].Round(100*time.Microsecond), r.latency[1].Round(100*time.Microsecond))
	var ratios []float64
	for i, bad := range r.troubled {
		good := r.calm[i]
		ratios = append(ratios, float64(bad.p99)/float64(good.p99))
		fmt.Fprintf(out, "  1 in 100 never reads: p99 of the others %v, else %v: %.2fx; ", bad.p99.Round(100*time.Microsecond),
			good.p99.Round(100*time.Microsecond), ratios[i])
		fmt.Fprintf(out, "the server grew by %.1f MiB, else %.1f; closed %.1f to %.1f s after they stalled\n",
			mib(bad.grown), mib(good.grown), r.closed[i].least.Seconds(), r.closed[i].most.Seconds())
	}
	if len(ratios) > 0 {
		fmt.Fprintf(out, "  median of %d pairs: %.2fx\n", len(ratios), median(ratios))
	}
	fmt.Fprintln(out)
}

func mib(bytes int64) float64 { return float64(bytes) / (1 << 20) }

func median(all []float64) float64 {
	all = slices.Clone(all)
	slices.Sort(all)
	return all[len(all)/2]
}

// verdict is about what is left and about memory, with wide bounds: how long things take is a matter of the machine. That who
// never reads is closed at all is what the run has waited for.
func (s *sockets) verdict() error {
	r := &s.r
	var errs []error
	if r.back.Goroutines > r.gone.Goroutines || r.back.Sockets > r.gone.Sockets {
		errs = append(errs, fmt.Errorf("of those who came and went, %d goroutines and %d sockets are left",
			r.back.Goroutines-r.gone.Goroutines, r.back.Sockets-r.gone.Sockets))
	}
	if each := s.each(r.empty.Resident, r.settled.Resident); each > s.most {
		errs = append(errs, fmt.Errorf("%.1f KiB for a socket, and not %.0f", each, s.most))
	}
	for i := range r.closed {
		if more := mib(r.troubled[i].grown - r.calm[i].grown); more > 128 {
			errs = append(errs, fmt.Errorf("who never reads takes %.0f MiB of the server", more))
		}
	}
	return errors.Join(errs...)
}

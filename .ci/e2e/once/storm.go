package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stoa-go/stoa/ci/e2e/fleet"
)

// storm is many copies of each write at once, each sent once.
type storm struct {
	settings
	keys, copies int
	every        time.Duration
	client       *client
	writes       []*write
	done, busy   atomic.Int64 // answers of 2xx, and those that say when to come again
	wrong        atomic.Int64 // of anything else
	example      atomic.Pointer[string]
}

func stormOf(ctx context.Context, args []string, out io.Writer) error {
	s := &storm{}
	flags := s.flags("storm")
	flags.IntVar(&s.keys, "keys", 1000, "to write under")
	flags.IntVar(&s.copies, "copies", 64, "of each write")
	flags.DurationVar(&s.every, "every", 0, "at least between two keys; 0 is as fast as it goes")
	if err := flags.Parse(args); err != nil {
		return err
	}
	s.client = newClient(4 * s.copies)
	f, stop, err := s.start(ctx)
	if err != nil {
		return err
	}
	defer stop()
	if err := prepare(s.client, f.URL(0), nil); err != nil {
		return err
	}
	quiet := unrelated(ctx, f, func() { time.Sleep(3 * time.Second) })
	distinct := unrelated(ctx, f, func() { s.send(ctx, f, "distinct", s.keys*8, 1, s.every/time.Duration(s.copies)) })
	s.writes, s.done, s.busy = nil, atomic.Int64{}, atomic.Int64{}
	began := time.Now()
	stormy := unrelated(ctx, f, func() { s.send(ctx, f, "storm", s.keys, s.copies, s.every) })
	took := time.Since(began)
	left, err := look(s.client, f.URL(0))
	if err != nil {
		return err
	}
	n := judge(s.writes, left)
	s.print(out, n, took)
	for _, l := range []struct {
		when string
		latency
	}{{"in quiet", quiet}, {"beside writes with a key each", distinct}, {"in the storm", stormy}} {
		fmt.Fprintf(out, "  requests without keys, %s: %v\n", l.when, l.latency)
	}
	fmt.Fprintln(out)
	return errors.Join(s.verdict(n), ctx.Err())
}

func (s *storm) print(out io.Writer, n counts, took time.Duration) {
	fmt.Fprintf(out, "%s: %d keys, %d copies each at once, %d processes, %.1f s\n", s.name, s.keys, s.copies, s.processes,
		took.Seconds())
	fmt.Fprintf(out, "  effects %d, answers 2xx %d, 409 or 503 %d, others %d; duplicates %d, missing %d, wrong replays %d\n",
		n.effects, s.done.Load(), s.busy.Load(), s.wrong.Load(), n.duplicates, n.missing, n.wrong)
}

// send sends n writes, four at a time with all their copies at once. As many requests are on their way if there are no
// copies. A write of which all copies are told to come again does so.
func (s *storm) send(ctx context.Context, f *fleet.Fleet, prefix string, n, copies int, every time.Duration) {
	work := make(chan *write)
	var wg sync.WaitGroup
	for range 4 * s.copies / copies {
		wg.Go(func() {
			for w := range work {
				s.all(ctx, f, w, copies)
			}
		})
	}
	for i := range n {
		w := newWrite(kind(i%int(remove)), fmt.Sprintf("%s-%d", prefix, i), i, "")
		s.writes = append(s.writes, w)
		next := time.Now().Add(every)
		work <- w
		time.Sleep(time.Until(next))
	}
	close(work)
	wg.Wait()
}

func (s *storm) all(ctx context.Context, f *fleet.Fleet, w *write, copies int) {
	var wg sync.WaitGroup
	for i := range copies {
		wg.Go(func() {
			a := s.client.send(ctx, f.URL(i%f.Len()), w, "")
			w.note(a)
			switch {
			case a.done():
				s.done.Add(1)
			case a.again() && a.later:
				s.busy.Add(1)
			default:
				s.wrong.Add(1)
				text := fmt.Sprintf("%s %s: %d %.300s %v", w.method, w.path, a.status, a.body, a.err)
				s.example.CompareAndSwap(nil, &text)
			}
		})
	}
	wg.Wait()
	if p := (&writer{s.client, f}); !w.acknowledged() && w.refused == "" {
		p.persist(ctx, s.random(0), w, 1, "")
	}
}

func (s *storm) verdict(n counts) error {
	if err := n.verdict(s.mode); err != nil {
		return err
	}
	if s.wrong.Load() > 0 {
		return fmt.Errorf("%d answers that are neither 2xx, nor 409 or 503 with Retry-After, such as %s", s.wrong.Load(), *s.example.Load())
	}
	if err := s.client.verdict(); err != nil {
		return err
	}
	if s.busy.Load()+s.done.Load() != int64(s.keys*s.copies) {
		return errors.New("there is not an answer for every request")
	}
	return nil
}

// latency is how long requests took that have nothing to do with keys.
type latency struct {
	n, failed     int
	p50, p99, max time.Duration
}

func (l latency) String() string {
	return fmt.Sprintf("p99 %.1f ms (p50 %.1f, max %.1f, %d requests, %d failed)", ms(l.p99), ms(l.p50), ms(l.max), l.n,
		l.failed)
}

func ms(d time.Duration) float64 { return d.Seconds() * 1000 }

// unrelated reads and writes without keys, while something is done.
func unrelated(ctx context.Context, f *fleet.Fleet, do func()) latency {
	ctx, stop := context.WithCancel(ctx)
	c := newClient(2)
	var l latency
	var took []time.Duration
	var wg sync.WaitGroup
	wg.Go(func() {
		for n := 0; ctx.Err() == nil; n++ {
			began := time.Now()
			if !plain(c, f.URL(n%f.Len()), n) {
				l.failed++
			}
			took = append(took, time.Since(began))
			time.Sleep(5 * time.Millisecond)
		}
	})
	do()
	stop()
	wg.Wait()
	slices.Sort(took)
	if l.n = len(took); l.n > 0 {
		l.p50, l.p99, l.max = took[l.n/2], took[l.n*99/100], took[l.n-1]
	}
	return l
}

func plain(c *client, base string, n int) bool {
	method, path, body := http.MethodGet, "/accounts/1", ""
	if n%2 == 0 {
		method, path, body = http.MethodPost, "/effects", `{"key":"none","amount":1}`
	}
	req, err := http.NewRequest(method, base+path, strings.NewReader(body))
	if err != nil {
		return false
	}
	req.Header.Set("Content-Type", "application/json")
	return c.do(req).done()
}

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stoa-go/stoa/ci/e2e/client"
	"github.com/stoa-go/stoa/ci/e2e/history"
	"github.com/stoa-go/stoa/ci/e2e/server"
)

// stormRun sends many copies of each write at once, each copy one time.
type stormRun struct {
	keyNodes
	keys, copies int
	writes       []*keyedWrite
	done, busy   atomic.Int64 // responses of 2xx, and those that ask for a retry with Retry-After
	others       history.Violations
}

func keyStorm(engine string) func(ctx context.Context, e *env) error {
	return func(ctx context.Context, e *env) error {
		s := &stormRun{keys: size(e, 400, 1000), copies: 64}
		r, err := s.run(ctx, e, engine)
		if err != nil {
			return err
		}
		return e.finish(r)
	}
}

func (s *stormRun) run(ctx context.Context, e *env, engine string) (r *result, err error) {
	if s.keyNodes, err = e.startKeyed(ctx, engine, nodes(engine), server.Together, 4*s.copies); err != nil {
		return nil, err
	}
	defer s.KillAll()
	idle := s.latency(ctx, func() { client.Pause(ctx, size[time.Duration](e, 1, 3)*time.Second) })
	distinct := s.latency(ctx, func() { s.sendAll(ctx, e, "distinct", s.keys*8, 1) })
	s.writes, s.done, s.busy = nil, atomic.Int64{}, atomic.Int64{}
	began := time.Now()
	storm := s.latency(ctx, func() { s.sendAll(ctx, e, "storm", s.keys, s.copies) })
	took := time.Since(began)
	effects, err := s.checkEffects(ctx, s.writes)
	if err != nil {
		return nil, err
	}
	r = &result{Violations: &effects.Violations}
	r.title = fmt.Sprintf("%s: %d keys, %d copies at once of each, %d nodes, %.1f s", engine, s.keys, s.copies, s.Len(), took.Seconds())
	r.line("%v", effects)
	r.line("responses: 2xx %d, 409 or 503 %d, others %d", s.done.Load(), s.busy.Load(), s.others.Count())
	r.line("requests without keys, idle: %v", idle)
	r.line("requests without keys, during writes with a key each: %v", distinct)
	r.line("requests without keys, during the storm: %v", storm)
	r.fail(effects.Check(history.ExactlyOnce))
	r.Merge(&s.others)
	r.fail(s.Check())
	if s.busy.Load()+s.done.Load() != int64(s.keys*s.copies) {
		r.fail(errors.New("not every request has a response"))
	}
	r.fail(ctx.Err())
	return r, nil
}

// sendAll sends n writes, four at a time with all copies of each. With one copy, as many requests are in flight. A write of which
// all responses ask for a retry is repeated.
func (s *stormRun) sendAll(ctx context.Context, e *env, prefix string, n, copies int) {
	work := make(chan *keyedWrite)
	var wg sync.WaitGroup
	for range 4 * s.copies / copies {
		wg.Go(func() {
			for w := range work {
				s.sendCopies(ctx, e, w, copies)
			}
		})
	}
	for i := range n {
		w := newKeyedWrite(history.WriteKind(i%int(history.Remove)), fmt.Sprintf("%s-%d", prefix, i), i)
		s.writes = append(s.writes, w)
		work <- w
	}
	close(work)
	wg.Wait()
}

func (s *stormRun) sendCopies(ctx context.Context, e *env, w *keyedWrite, copies int) {
	var wg sync.WaitGroup
	for i := range copies {
		wg.Go(func() {
			a := s.sendKeyed(ctx, s.URL(i%s.Len()), w, "")
			switch {
			case a.OK():
				s.done.Add(1)
			case a.Retry() && a.RetryAfter():
				s.busy.Add(1)
			default:
				s.others.Add(history.Unexpected, 1, "%v", a.Unexpected(w.method+" "+w.path))
			}
		})
	}
	wg.Wait()
	if !w.Settled() {
		s.persist(ctx, e.random(0), w, 1, "")
	}
}

// latencies are the times of requests without keys.
type latencies struct {
	n, failed     int
	p50, p99, max time.Duration
}

func (l latencies) String() string {
	return fmt.Sprintf("p99 %v (p50 %v, max %v, %d requests, %d failed)", rounded(l.p99), rounded(l.p50), rounded(l.max), l.n, l.failed)
}

// latency reads and writes without keys while do runs.
func (s *stormRun) latency(ctx context.Context, do func()) (l latencies) {
	ctx, stop := context.WithCancel(ctx)
	c := client.New(2)
	var took []time.Duration
	var wg sync.WaitGroup
	wg.Go(func() {
		for n := 0; ctx.Err() == nil; n++ {
			method, path, body := http.MethodGet, "/accounts/1", ""
			if n%2 == 0 {
				method, path, body = http.MethodPost, "/effects", `{"key":"none","amount":1}`
			}
			a := c.Send(context.WithoutCancel(ctx), method, s.URL(n%s.Len())+path, body, client.JSON)
			if !a.OK() {
				l.failed++
			}
			took = append(took, a.Ended.Sub(a.Began))
			time.Sleep(5 * time.Millisecond)
		}
	})
	do()
	stop()
	wg.Wait()
	if l.n = len(took); l.n > 0 {
		l.max = slices.Max(took)
		l.p50, l.p99 = percentile(took, 0.5), percentile(took, 0.99)
	}
	return l
}

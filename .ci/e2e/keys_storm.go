package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/stoa-go/stoa/ci/e2e/client"
	"github.com/stoa-go/stoa/ci/e2e/history"
	"github.com/stoa-go/stoa/ci/e2e/server"
)

// storm sends many copies of each write at once, each copy one time.
type storm struct {
	*keyed
	keys, copies int
	done, busy   atomic.Int64 // responses of 2xx, and those that ask for a retry with Retry-After
	others       atomic.Int64
}

func keyStorm(engine string) func(ctx context.Context, e *env) error {
	return func(ctx context.Context, e *env) error {
		s := &storm{keys: size(e, 400, 1000), copies: 64}
		s.keyed = newKeyed(engine, server.Together, 4*s.copies)
		s.title = fmt.Sprintf("%s: %d keys, %d copies at once of each", engine, s.keys, s.copies)
		s.do = s.run
		return e.try(ctx, &s.trial)
	}
}

func (s *storm) run(ctx context.Context) error {
	if err := s.createShared(ctx); err != nil {
		return err
	}
	s.measure(ctx, "idle", func() { client.Pause(ctx, size[time.Duration](s.env, 1, 3)*time.Second) })
	s.measure(ctx, "during writes with a key each", func() { s.sendAll(ctx, s.newWrites("distinct", s.keys*8), 1) })
	s.sent, s.done, s.busy = nil, atomic.Int64{}, atomic.Int64{}
	s.measure(ctx, "during the storm", func() { s.sendAll(ctx, s.newWrites("storm", s.keys), s.copies) })
	effects, err := s.checkEffects(ctx, s.sent)
	if err != nil {
		return err
	}
	s.line("%d nodes; responses: 2xx %d, 409 or 503 %d, others %d", s.Len(), s.done.Load(), s.busy.Load(), s.others.Load())
	s.checkAll(effects, history.ExactlyOnce)
	s.failIf(s.busy.Load()+s.done.Load() != int64(s.keys*s.copies), "not every request has a response")
	return ctx.Err()
}

// sendAll sends writes, four at a time with all copies of each. With one copy, as many requests are in flight.
func (s *storm) sendAll(ctx context.Context, writes []*keyedWrite, copies int) error {
	return share(ctx, 4*s.copies/copies, slices.Values(writes), func(_ int, w *keyedWrite) error {
		return s.sendCopies(ctx, w, copies)
	})
}

// sendCopies sends copies of a write at once. It repeats the write if all responses ask for a retry.
func (s *storm) sendCopies(ctx context.Context, w *keyedWrite, copies int) error {
	concurrently(copies, func(i int) error {
		a := s.sendKeyed(ctx, s.URL(i%s.Len()), w, "")
		switch {
		case a.OK():
			s.done.Add(1)
		case a.Retry() && a.RetryAfter():
			s.busy.Add(1)
		default:
			s.others.Add(1)
			s.Add(history.Unexpected, 1, "%v", a.Unexpected(w.String()))
		}
		return nil
	})
	if w.Settled() {
		return nil
	}
	return s.persist(ctx, s.random(0), w, 1, "")
}

// measure reads and writes without keys while do runs.
func (s *storm) measure(ctx context.Context, when string, do func()) {
	c := client.New(2)
	p := probeDuring(ctx, 5*time.Millisecond, patience, func(ctx context.Context, n int) client.Answer {
		if n%2 == 1 {
			return c.Send(ctx, http.MethodGet, s.URL(n%s.Len())+"/accounts/1", "")
		}
		return c.Send(ctx, http.MethodPost, s.URL(n%s.Len())+"/effects", `{"key":"none","amount":1}`, client.JSON)
	}, do)
	p.report(&s.trial, "without keys, "+when)
}

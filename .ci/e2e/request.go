package main

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/stoa-go/stoa/ci/e2e/client"
)

// request is a request of a scenario that sends some of its requests more than once.
type request struct {
	method, path string
	media        string // a line such as client.JSON; empty is none
	body         string
	key          string // Idempotency-Key; empty is none
}

func (q request) String() string { return q.method + " " + q.path }

// sendRequest sends a request to a node once, with more lines in its head.
func (t *trial) sendRequest(ctx context.Context, base string, q request, header ...string) client.Answer {
	if q.media != "" {
		header = append(header, q.media)
	}
	if q.key != "" {
		header = append(header, "Idempotency-Key: "+q.key)
	}
	return t.Send(ctx, q.method, base+q.path, q.body, header...)
}

func pauseBeforeRetry(ctx context.Context, rng *rand.Rand) error {
	client.Pause(ctx, 5*time.Millisecond+time.Duration(rng.Int64N(int64(25*time.Millisecond))))
	return ctx.Err()
}

// probe is what a client has found that sends requests while something else is done.
type probe struct {
	took   []time.Duration
	slow   int // requests that took as long as a limit of the scenario
	failed int // other requests without a complete response of 2xx
	first  client.Answer
}

// probeDuring calls send again and again while do runs, and once at least. A request that fails after
// limit is slow.
func probeDuring(
	ctx context.Context, pause, limit time.Duration, send func(ctx context.Context, n int) client.Answer, do func(),
) *probe {
	p := &probe{}
	over, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		for n := 0; n == 0 || over.Err() == nil; n++ {
			a := send(context.WithoutCancel(ctx), n)
			took := a.Ended.Sub(a.Began)
			p.took = append(p.took, took)
			switch {
			case a.OK():
			case took >= limit:
				p.slow++
			default:
				if p.failed++; p.failed == 1 {
					p.first = a
				}
			}
			client.Pause(over, pause)
		}
	})
	do()
	stop()
	wg.Wait()
	return p
}

// report adds the times of the requests to the report of a trial.
func (p *probe) report(t *trial, when string) {
	t.line("requests %s: %d, too slow %d, failed %d, p50 %v, p99 %v, max %v", when, len(p.took), p.slow, p.failed,
		rounded(percentile(p.took, 0.5)), rounded(percentile(p.took, 0.99)), rounded(slices.Max(p.took)))
}

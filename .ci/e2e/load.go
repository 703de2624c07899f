package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stoa-go/stoa/ci/e2e/client"
)

// patience is how long a scenario waits for what has to happen.
const patience = 5 * time.Minute

// load is writers that work while faults are injected.
type load struct {
	writers int
	// step is one or a few requests of a writer. It returns errDone if nothing is left to do.
	step func(ctx context.Context, writer int, rng *rand.Rand) error
	// done returns how much of total is done. Writers end when all is done and all faults are injected.
	done   func() int64
	total  int
	faults []fault
	// more makes the writers go on after that, if it is not nil and returns true.
	more func() bool
}

// fault is something that is done to the nodes, the network or the database n times, evenly over the
// progress of a load: the first of three when a quarter is done.
type fault struct {
	what   string // in the report
	n      int
	inject func(ctx context.Context, rng *rand.Rand) error
}

// killNodes restarts a random node.
func (t *trial) killNodes(n int) fault {
	return fault{"kills", n, func(ctx context.Context, rng *rand.Rand) error {
		return t.Restart(ctx, rng.IntN(t.Len()))
	}}
}

// crashDatabase crashes PostgreSQL.
func (t *trial) crashDatabase(n int) fault {
	return fault{"crashes of the database", n, func(ctx context.Context, _ *rand.Rand) error {
		return errors.Join(ctx.Err(), t.postgres.Crash(ctx))
	}}
}

// errDone is returned by a step if nothing is left to do.
var errDone = errors.New("nothing left to do")

// write runs the writers and faults of a load, and adds them to the report.
func (t *trial) write(ctx context.Context, l load) error {
	began := time.Now()
	err := l.run(ctx, t.env)
	text := fmt.Sprintf("%d writers, %d nodes", l.writers, t.Len())
	for _, f := range slices.DeleteFunc(slices.Clone(l.faults), func(f fault) bool { return f.n == 0 }) {
		text += fmt.Sprintf(", %d %s", f.n, f.what)
	}
	t.line("%s, %.1f s", text, time.Since(began).Seconds())
	return err
}

// run runs all writers until everything is done and all faults were injected.
func (l *load) run(ctx context.Context, e *env) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var injected atomic.Bool
	done := func() bool {
		return l.done() >= int64(l.total) && injected.Load() && (l.more == nil || !l.more())
	}
	var wg sync.WaitGroup
	for writer := range l.writers {
		wg.Go(func() {
			for rng := e.random(uint64(writer)); !done() && ctx.Err() == nil; {
				if err := l.step(ctx, writer, rng); errors.Is(err, errDone) {
					return
				} else if err != nil {
					stop(err)
				}
			}
		})
	}
	wg.Go(func() {
		if err := l.inject(ctx, e.random(faultPart)); err != nil {
			stop(err)
		}
		injected.Store(true)
	})
	wg.Wait()
	return context.Cause(ctx)
}

// inject injects all faults, one after the other.
func (l *load) inject(ctx context.Context, rng *rand.Rand) error {
	type injection struct {
		share float64
		fault
	}
	var all []injection
	for _, f := range l.faults {
		for i := range f.n {
			all = append(all, injection{float64(i+1) / float64(f.n+1), f})
		}
	}
	slices.SortStableFunc(all, func(a, b injection) int { return cmp.Compare(a.share, b.share) })
	for _, f := range all {
		for float64(l.done()) < f.share*float64(l.total) {
			if client.Pause(ctx, time.Millisecond); ctx.Err() != nil {
				return nil
			}
		}
		client.Pause(ctx, time.Duration(rng.Int64N(int64(10*time.Millisecond))))
		if err := f.inject(ctx, rng); err != nil {
			return errors.Join(ctx.Err(), err)
		}
	}
	return nil
}

// concurrently calls do with the numbers from 0 to n-1 at once, and returns all errors.
func concurrently(n int, do func(i int) error) error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() { errs[i] = do(i) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// share gives items to n workers. A worker that fails gets no more, and then share ends with all errors.
func share[T any](ctx context.Context, n int, items iter.Seq[T], do func(worker int, item T) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	work := make(chan T)
	ended := make(chan error, 1)
	go func() {
		ended <- concurrently(n, func(worker int) error {
			for item := range work {
				if err := do(worker, item); err != nil {
					stop()
					return err
				}
			}
			return nil
		})
	}()
	for item := range items {
		select {
		case work <- item:
			continue
		case <-ctx.Done():
		}
		break
	}
	close(work)
	return errors.Join(<-ended, ctx.Err())
}

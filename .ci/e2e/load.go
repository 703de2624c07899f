package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stoa-go/stoa/ci/e2e/client"
)

// load is writers that work while faults are injected.
type load struct {
	writers int
	// step is one or a few requests of a writer. It returns errDone if nothing is left to do.
	step func(ctx context.Context, writer int, rng *rand.Rand) error
	// progress is the share of the load that is done: 1 is all.
	progress func() float64
	faults   []fault
	// more makes the writers go on after all progress and faults, if it is not nil and returns true.
	more func() bool
}

// fault does something to the nodes, the network or the database.
type fault func(ctx context.Context, rng *rand.Rand) error

// errDone is returned by a step if nothing is left to do.
var errDone = errors.New("nothing left to do")

// run runs all writers until the progress is complete and all faults were injected, evenly over the progress.
func (l *load) run(ctx context.Context, e *env) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var injected atomic.Bool
	done := func() bool {
		return l.progress() >= 1 && injected.Load() && (l.more == nil || !l.more())
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
	for i, inject := range l.faults {
		for share := float64(i+1) / float64(len(l.faults)+1); l.progress() < share; {
			if client.Pause(ctx, time.Millisecond); ctx.Err() != nil {
				return nil
			}
		}
		client.Pause(ctx, time.Duration(rng.Int64N(int64(10*time.Millisecond))))
		if err := inject(ctx, rng); err != nil {
			return errors.Join(ctx.Err(), err)
		}
	}
	return nil
}

// repeat returns a fault n times.
func repeat(n int, f fault) []fault {
	all := make([]fault, n)
	for i := range all {
		all[i] = f
	}
	return all
}

// spread inserts faults between others, evenly.
func spread(faults []fault, between ...fault) []fault {
	n := len(faults)
	for i, f := range between {
		faults = slices.Insert(faults, (i+1)*n/(len(between)+1)+i, f)
	}
	return faults
}

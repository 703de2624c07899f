package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stoa-go/stoa/ci/e2e/fleet"
)

// A workload is something that is written, and what must hold of it.
type workload interface {
	name() string
	// prepare makes what the steps need, before anybody is killed.
	prepare(ctx context.Context, c *client, rng *rand.Rand) error
	// step is one or a few requests of the writer w. Writers take steps at the same time.
	step(ctx context.Context, c *client, w int, rng *rand.Rand) error
	// verify looks at what is left when all is quiet.
	verify(ctx context.Context, c *client, rng *rand.Rand) error
}

// A plan is what to do to a fleet.
type plan struct {
	name                     string
	requests, kills, writers int
	crash                    string // a command, if any
	naive                    bool
	seed                     uint64
}

// random returns a source of its own for each of those who take part.
func (p plan) random(part uint64) *rand.Rand { return rand.New(rand.NewPCG(p.seed, part)) }

const killer, judge = 1 << 32, 1<<32 + 1 // parts that are no writers

// A task is a workload of one run, with what it sent and what was wrong with it.
type task struct {
	workload
	client *client
	found  *findings
}

func (p plan) tasks(f *fleet.Fleet) []task {
	transport := newTransport(p.writers)
	of := func(found *findings, w workload) task { return task{w, newClient(f, transport), found} }
	conditional, unconditional, made := &findings{}, &findings{}, &findings{}
	moved, claimed, repeated := &findings{}, &findings{}, &findings{}
	return []task{
		of(conditional, newLanes(conditional, p.writers, true, p.naive)),
		of(unconditional, newLanes(unconditional, p.writers, false, p.naive)),
		of(made, &creates{found: made}),
		of(moved, newMoves(moved, p.naive)),
		of(claimed, &claims{found: claimed}),
		of(repeated, &keyed{found: repeated, naive: p.naive}),
	}
}

// carryOut lets the writers write and the killer kill, ends all processes once more, starts them again and verifies.
func (p plan) carryOut(ctx context.Context, f *fleet.Fleet) (report, error) {
	r := report{plan: p, tasks: p.tasks(f), processes: f.Len()}
	began := time.Now()
	for _, t := range r.tasks {
		if err := t.prepare(ctx, t.client, p.random(judge)); err != nil {
			return r, fmt.Errorf("%s: %w", t.name(), err)
		}
	}
	var err error
	if r.kills, err = p.writeAndKill(ctx, f, r.tasks); err != nil {
		return r, err
	}
	if p.naive {
		if err := collide(ctx, r.tasks, p.random(judge)); err != nil {
			return r, err
		}
	}
	if p.kills > 0 {
		f.KillAll()
		r.kills += f.Len()
		if err := f.Start(ctx); err != nil {
			return r, err
		}
	}
	r.took = time.Since(began)
	for _, t := range r.tasks {
		if err := t.verify(ctx, t.client, p.random(judge)); err != nil {
			return r, fmt.Errorf("%s: %w", t.name(), err)
		}
	}
	return r, nil
}

// collide has writers of the control meet for certain: that they do by themselves is likely, and no more.
func collide(ctx context.Context, tasks []task, rng *rand.Rand) error {
	for _, t := range tasks {
		if l, ok := t.workload.(*lanes); ok && len(l.writers) > 1 {
			if err := l.collide(ctx, t.client, rng); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeAndKill ends when there were enough requests, enough kills and the crash, and returns how many kills there were.
func (p plan) writeAndKill(ctx context.Context, f *fleet.Fleet, tasks []task) (int, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var killed atomic.Int64
	var wg sync.WaitGroup
	progress := func() (share float64) { return float64(requests(tasks)) / float64(p.requests) }
	var crashed atomic.Bool
	crashed.Store(p.crash == "")
	enough := func() bool { return progress() >= 1 && killed.Load() >= int64(p.kills) && crashed.Load() }
	for w := range p.writers {
		wg.Go(func() {
			rng := p.random(uint64(w))
			for !enough() && ctx.Err() == nil {
				t := tasks[rng.IntN(len(tasks))]
				if err := t.step(ctx, t.client, w, rng); err != nil {
					stop(err)
				}
			}
		})
	}
	if p.kills > 0 {
		wg.Go(func() {
			if err := p.killAll(ctx, f, progress, enough, &killed, &crashed); err != nil {
				stop(err)
			}
		})
	}
	wg.Wait()
	return int(killed.Load()), context.Cause(ctx)
}

func requests(tasks []task) (n int64) {
	for _, t := range tasks {
		n += t.client.requests.Load()
	}
	return n
}

// killAll kills a process every half second to two seconds and starts it again, and crashes the database halfway.
func (p plan) killAll(ctx context.Context, f *fleet.Fleet, progress func() float64, enough func() bool,
	killed *atomic.Int64, crashed *atomic.Bool) error {
	rng := p.random(killer)
	for !enough() {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(500*time.Millisecond + time.Duration(rng.Int64N(int64(1500*time.Millisecond)))):
		}
		if !crashed.Load() && progress() >= 0.5 {
			if out, err := exec.CommandContext(ctx, "sh", "-c", p.crash).CombinedOutput(); err != nil {
				return fmt.Errorf("%s: %w\n%s", p.crash, err, out)
			}
			crashed.Store(true)
			continue
		}
		i := rng.IntN(f.Len())
		f.Kill(i)
		killed.Add(1)
		if err := f.StartNode(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

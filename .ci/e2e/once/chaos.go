package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stoa-go/stoa/ci/e2e/fleet"
)

// settings are what every kind of run is told.
type settings struct {
	name, db, mode, log string
	processes, writers  int
	seed                uint64
}

func (s *settings) flags(name string) *flag.FlagSet {
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.StringVar(&s.name, "name", name, "of the row in the report")
	flags.StringVar(&s.db, "db", "", "`database`: a file, or postgres:///...")
	flags.StringVar(&s.mode, "mode", together, "how keys are kept: together, identity, apart or three")
	flags.StringVar(&s.log, "log", os.DevNull, "`file` for what the processes print")
	flags.IntVar(&s.processes, "processes", 1, "of the server")
	flags.IntVar(&s.writers, "writers", 16, "at once")
	flags.Uint64Var(&s.seed, "seed", 1, "of what is sent when")
	return flags
}

// random returns a source of its own for each of those who take part.
func (s *settings) random(part uint64) *rand.Rand { return rand.New(rand.NewPCG(s.seed, part)) }

// start starts the processes.
func (s *settings) start(ctx context.Context) (*fleet.Fleet, func(), error) {
	log, err := os.OpenFile(s.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, nil, err
	}
	f := fleet.New(s.processes, log, os.Args[0], "server", "-db", s.db, "-mode", s.mode)
	if err := f.Start(ctx); err != nil {
		f.KillAll()
		return nil, nil, err
	}
	return f, func() { f.KillAll(); log.Close() }, nil
}

// pause is how long a client waits before it asks again.
func pause(ctx context.Context, rng *rand.Rand) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(5*time.Millisecond + time.Duration(rng.Int64N(int64(25*time.Millisecond)))):
		return nil
	}
}

// trouble is a run in which everything happens at once.
type trouble struct {
	settings
	requests, kills, crashes int
	crash                    string
	deadly, double           float64 // share of the requests

	client  *client
	writes  []*write
	sure    []*write     // of the control, of which one dies before the others begin
	shots   int          // by the killer
	deaths  atomic.Int64 // whatever they died of
	crashed int
	settled atomic.Int64
	took    time.Duration
}

func chaos(ctx context.Context, args []string, out io.Writer) error {
	t := &trouble{}
	flags := t.flags("chaos")
	flags.IntVar(&t.requests, "requests", 2000, "keys, each of which is sent until it is answered")
	flags.IntVar(&t.kills, "kills", 10, "at least, besides those of deadly requests")
	flags.StringVar(&t.crash, "crash", "", "shell `command` that crashes the database")
	flags.IntVar(&t.crashes, "crashes", 2, "of the database, if there is a command")
	flags.Float64Var(&t.deadly, "deadly", 0.01, "`share` of requests that kill the process at some step")
	flags.Float64Var(&t.double, "double", 0.1, "`share` of requests that are sent as two copies at once")
	if err := flags.Parse(args); err != nil {
		return err
	}
	t.client = newClient(t.writers)
	n, err := t.run(ctx)
	if err != nil {
		return fmt.Errorf("%w; -seed %d", err, t.seed)
	}
	t.print(out, n)
	if err := t.verdict(n); err != nil {
		return fmt.Errorf("%s: %w; -seed %d", t.name, err, t.seed)
	}
	return nil
}

// run sends everything, ends all processes once more, starts them again and counts.
func (t *trouble) run(ctx context.Context) (counts, error) {
	f, stop, err := t.start(ctx)
	if err != nil {
		return counts{}, err
	}
	defer stop()
	if err := t.plan(f); err != nil {
		return counts{}, err
	}
	began := time.Now()
	if err := t.twice(ctx, f); err != nil {
		return counts{}, err
	}
	if err := t.wreak(ctx, f); err != nil {
		return counts{}, err
	}
	t.took = time.Since(began)
	f.KillAll()
	if err := f.Start(ctx); err != nil {
		return counts{}, err
	}
	left, err := look(t.client, f.URL(0))
	return judge(append(t.writes, t.sure...), left), err
}

// twice has the control do something twice for certain: that a process dies between an effect and its record happens by itself
// many times, and may never.
func (t *trouble) twice(ctx context.Context, f *fleet.Fleet) error {
	if t.mode != three {
		return nil
	}
	s := &stepwise{settings: t.settings, client: t.client}
	w := newWrite(create, fmt.Sprint("twice-", t.seed), 0, "")
	t.sure = append(t.sure, w)
	if err := s.kill(ctx, f, 0, t.random(1<<33), w, effected); err != nil {
		return err
	}
	t.deaths.Add(1)
	if s.survivors != nil {
		return fmt.Errorf("a process did not die %s", s.survivors)
	}
	return nil
}

// plan makes the writes.
func (t *trouble) plan(f *fleet.Fleet) error {
	rng := t.random(0)
	var removed []*write
	for n := range t.requests {
		k := kind(rng.IntN(int(kinds)))
		w := newWrite(k, fmt.Sprintf("key-%d-%d", t.seed, n), n, "")
		if k == remove {
			removed = append(removed, w)
		}
		t.writes = append(t.writes, w)
	}
	return prepare(t.client, f.URL(0), removed)
}

// wreak lets the writers write while the killer kills.
func (t *trouble) wreak(ctx context.Context, f *fleet.Fleet) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	guarded, release := context.WithCancel(ctx)
	defer release()
	var supervisor, writers sync.WaitGroup
	supervisor.Go(func() {
		if err := f.Supervise(guarded, func(int) { t.deaths.Add(1) }); err != nil {
			stop(err)
		}
	})
	work := make(chan *write)
	for i := range t.writers {
		writers.Go(func() {
			if err := t.send(ctx, &writer{t.client, f}, t.random(uint64(1+i)), work); err != nil {
				stop(err)
			}
		})
	}
	writers.Go(func() { // also when the others have done, so that there are as many kills each time
		if err := t.killer(ctx, f); err != nil {
			stop(err)
		}
	})
	for _, w := range t.writes {
		select {
		case work <- w:
		case <-ctx.Done():
		}
	}
	close(work)
	writers.Wait()
	release()
	supervisor.Wait()
	return context.Cause(ctx)
}

func (t *trouble) send(ctx context.Context, p *writer, rng *rand.Rand, work <-chan *write) error {
	for w := range work {
		copies, die := 1, ""
		if rng.Float64() < t.double {
			copies = 2
		}
		if rng.Float64() < t.deadly {
			die = points[rng.IntN(len(points))]
		}
		if err := p.persist(ctx, rng, w, copies, die); err != nil {
			return err
		}
		if rng.IntN(10) == 0 {
			if err := p.once(ctx, rng, w); err != nil {
				return err
			}
		}
		t.settled.Add(1)
	}
	return nil
}

// killer kills a process from time to time, evenly over the run, and crashes the database in between.
func (t *trouble) killer(ctx context.Context, f *fleet.Fleet) error {
	rng := t.random(1 << 32)
	all := t.kills
	if t.crash != "" {
		all += t.crashes
	}
	for i := range all {
		if !t.wait(ctx, (i+1)*t.requests/(all+1)) {
			return nil
		}
		if left := t.crashes - t.crashed; t.crash != "" && left > 0 && i%(all/t.crashes) == all/t.crashes/2 {
			t.crashed++
			if out, err := exec.CommandContext(ctx, "sh", "-c", t.crash).CombinedOutput(); err != nil {
				return errors.Join(ctx.Err(), fmt.Errorf("%s: %w\n%s", t.crash, err, out))
			}
			continue
		}
		time.Sleep(time.Duration(rng.Int64N(int64(10 * time.Millisecond))))
		f.Signal(rng.IntN(f.Len()))
		t.shots++
	}
	return nil
}

// wait waits until so many writes are settled, and reports false if ctx ended.
func (t *trouble) wait(ctx context.Context, settled int) bool {
	for t.settled.Load() < int64(settled) {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(time.Millisecond):
		}
	}
	return ctx.Err() == nil
}

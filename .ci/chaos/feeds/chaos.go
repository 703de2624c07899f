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
	"time"

	"github.com/stoa-go/stoa/ci/chaos/internal/fleet"
)

// settings are what every kind of run is told.
type settings struct {
	name, db, mode, log string
	processes           int
	seed                uint64
}

func (s *settings) flags(name string) *flag.FlagSet {
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.StringVar(&s.name, "name", name, "of the row in the report")
	flags.StringVar(&s.db, "db", "", "`database`: a file, or postgres:///...")
	flags.StringVar(&s.mode, "mode", outbox, "how the servers tell what happened: outbox, lock, memory or silent")
	flags.StringVar(&s.log, "log", os.DevNull, "`file` for what the processes print")
	flags.IntVar(&s.processes, "processes", 1, "of the server")
	flags.Uint64Var(&s.seed, "seed", 1, "of what is done when")
	return flags
}

// random returns a source of its own for each of those who take part.
func (s *settings) random(part uint64) *rand.Rand { return rand.New(rand.NewPCG(s.seed, part)) }

// start starts servers of a database. more are flags of theirs.
func (s *settings) start(ctx context.Context, db string, more ...string) (*fleet.Fleet, func(), error) {
	log, err := os.OpenFile(s.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, nil, err
	}
	f := fleet.New(s.processes, log, append([]string{os.Args[0], "server", "-db", db, "-mode", s.mode}, more...)...)
	if err := f.Start(ctx); err != nil {
		f.Kill()
		return nil, nil, err
	}
	return f, func() { f.Kill(); log.Close() }, nil
}

// trouble is a run in which everything happens at once.
type trouble struct {
	settings
	writes, kills, drops  int
	many, listening, ring int // writers and listeners
	pause, drain          time.Duration
	crash                 string // a command, if any
	crashes               int

	ears      []ear // how one can listen
	writers   *writers
	listeners []*listener
	deaths    int
	took      time.Duration
	happened  map[string]history
	late      *listener        // one who comes when all is over, and reads it all
	latency   [2]time.Duration // p50 and p99
}

func chaos(ctx context.Context, args []string, out io.Writer) error {
	t := &trouble{}
	flags := t.flags("chaos")
	flags.IntVar(&t.writes, "writes", 5000, "at least, that happen")
	flags.IntVar(&t.many, "writers", 16, "at once")
	flags.IntVar(&t.listening, "listeners", 50, "at once")
	flags.IntVar(&t.kills, "kills", 10, "of processes, with -9")
	flags.StringVar(&t.crash, "crash", "", "shell `command` that crashes the database, halfway")
	flags.IntVar(&t.drops, "drops", 500, "a listener breaks off after so many events at most; 0 is never")
	flags.IntVar(&t.ring, "ring", 64, "events that are in memory: small, so that who comes back reads the log")
	flags.DurationVar(&t.pause, "pause", 20*time.Millisecond, "of a writer after each write, at most")
	flags.DurationVar(&t.drain, "drain", 5*time.Minute, "until everybody has to have heard all")
	if err := flags.Parse(args); err != nil {
		return err
	}
	n, err := t.run(ctx)
	if err == nil {
		t.print(out, n)
		err = t.verdict(n)
	}
	if err != nil {
		return fmt.Errorf("%s: %w; again: feeds chaos -mode %s -processes %d -seed %d -writes %d -kills %d", t.name, err, t.mode,
			t.processes, t.seed, t.writes, t.kills)
	}
	return nil
}

// run has everybody listen, write and die, and counts what was heard.
func (t *trouble) run(ctx context.Context) (counts, error) {
	f, stop, err := t.start(ctx, t.db, "-ring", fmt.Sprint(t.ring), "-bookmark", "1s")
	if err != nil {
		return counts{}, err
	}
	defer stop()
	t.ears = []ear{newSSE()}
	if t.lasts() {
		t.ears = append(t.ears, newSocket(), newGraphQLSSE())
	}
	n, err := t.on(ctx, f)
	if err != nil || !t.lasts() {
		return n, err
	}
	inserted, err := insertions(ctx, t.db)
	t.measure(inserted)
	return n, err
}

// on is run on processes that are there.
func (t *trouble) on(ctx context.Context, f *fleet.Fleet) (counts, error) {
	t.writers = newWriters(f, t.many, t.pause)
	from, err := t.writers.client.place(ctx, f.URL(0))
	if err != nil {
		return counts{}, err
	}
	t.gather(from)
	began := time.Now()
	if err := t.wreak(ctx, f); err != nil {
		return counts{}, err
	}
	t.took = time.Since(began)
	left, err := t.writers.client.all(ctx, f.URL(0))
	if err != nil {
		return counts{}, err
	}
	if t.happened, err = t.writers.settle(left); err != nil {
		return counts{}, err
	}
	if t.lasts() {
		t.late = &listener{name: "who comes late", ear: newSSE(), cursor: from}
		limited, cancel := context.WithTimeout(ctx, t.drain)
		defer cancel()
		t.late.run(limited, f, t.random(1<<33), func() {})
		t.decide()
	}
	return t.count()
}

// lasts reports whether what is told outlives a process.
func (t *trouble) lasts() bool { return t.mode == outbox || t.mode == locked }

// gather makes the listeners: most want everything, some a lane, and some what is open. The control has only the first,
// since it loses whatever they want.
func (t *trouble) gather(from string) {
	for i := range t.listening {
		l := &listener{name: fmt.Sprint("listener ", i), ear: t.ears[i%len(t.ears)], drops: t.drops, cursor: from}
		switch {
		case !t.lasts():
			l.cursor = ""
		case i%5 == 3:
			l.view.lane = 1 + i%lanes
		case i%5 == 4:
			l.view.open = true
		}
		t.listeners = append(t.listeners, l)
	}
}

// wreak has the writers write while processes are killed, and waits until everybody has heard all.
func (t *trouble) wreak(ctx context.Context, f *fleet.Fleet) error {
	listening, deafen := context.WithCancel(ctx)
	defer deafen()
	var ready, listeners sync.WaitGroup
	ready.Add(len(t.listeners))
	for i, l := range t.listeners {
		listeners.Go(func() { l.run(listening, f, t.random(1<<16+uint64(i)), ready.Done) })
	}
	all := make(chan struct{})
	go func() { listeners.Wait(); close(all) }()
	if err := within(ctx, 5*time.Minute, &ready); err != nil {
		return fmt.Errorf("not everybody listens: %w", errors.Join(err, t.failed()))
	}
	if err := t.write(ctx, f); err != nil {
		return err
	}
	limit := time.AfterFunc(t.drain, deafen)
	defer limit.Stop()
	err := t.writers.end(listening, all)
	if listening.Err() != nil {
		err = ctx.Err() // who has not heard all by now has lost it
	}
	deafen()
	listeners.Wait()
	return errors.Join(err, t.failed())
}

// failed returns what a listener should not have been told.
func (t *trouble) failed() error {
	for _, l := range t.listeners {
		if l.err != nil {
			return l.err
		}
	}
	return nil
}

// within waits for a group for some time.
func within(ctx context.Context, most time.Duration, group *sync.WaitGroup) error {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	done := make(chan struct{})
	go func() { group.Wait(); close(done) }()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// write writes, and kills a process from time to time, evenly over the run.
func (t *trouble) write(ctx context.Context, f *fleet.Fleet) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var over bool
	var mu sync.Mutex
	enough := func() bool {
		mu.Lock()
		defer mu.Unlock()
		return over && t.writers.happened.Load() >= int64(t.writes)
	}
	var all sync.WaitGroup
	for i := range t.many {
		all.Go(func() {
			if err := t.writers.run(ctx, t.random(uint64(i)), enough); err != nil {
				stop(err)
			}
		})
	}
	all.Go(func() {
		if err := t.killer(ctx, f); err != nil {
			stop(err)
		}
		mu.Lock()
		defer mu.Unlock()
		over = true
	})
	all.Wait()
	return context.Cause(ctx)
}

func (t *trouble) killer(ctx context.Context, f *fleet.Fleet) error {
	rng := t.random(1 << 32)
	for i := range t.kills {
		for t.writers.happened.Load() < int64((i+1)*t.writes/(t.kills+1)) {
			if pauseFor(ctx, time.Millisecond); ctx.Err() != nil {
				return nil
			}
		}
		pauseFor(ctx, time.Duration(rng.Int64N(int64(10*time.Millisecond))))
		if i == t.kills/2 && t.crash != "" {
			t.crashes++
			if out, err := exec.CommandContext(ctx, "sh", "-c", t.crash).CombinedOutput(); err != nil {
				return errors.Join(ctx.Err(), fmt.Errorf("%s: %w\n%s", t.crash, err, out))
			}
		}
		victim := rng.IntN(f.Len())
		f.KillOne(victim)
		t.deaths++
		if err := f.StartOne(ctx, victim); err != nil {
			return err
		}
	}
	return nil
}

// decide picks, for items of which nobody knows at which version they were deleted, the one that was heard last by who came
// late. There are few, and all others are judged without asking a log.
func (t *trouble) decide() {
	heard := map[string]int{}
	for _, f := range t.late.heard {
		heard[f.id] = max(heard[f.id], f.n)
	}
	for id, h := range t.happened {
		for _, n := range h.others {
			if n == heard[id] {
				h.n = n
				t.happened[id] = h
			}
		}
	}
}

// count judges all listeners.
func (t *trouble) count() (n counts, err error) {
	for _, l := range t.listeners {
		n.add(judge(l.name, l.view, t.happened, l.heard))
	}
	if t.late == nil {
		return n, nil
	}
	if late := judge(t.late.name, view{}, t.happened, t.late.heard); late.wrong() > 0 || !t.late.ended {
		return n, fmt.Errorf("the log itself is not what happened: %+v", late)
	}
	return n, nil
}

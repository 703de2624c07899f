package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/stoa-go/stoa/ci/e2e/fleet"
	"github.com/stoa-go/stoa/ci/e2e/network"
)

// settings are what every kind of run is told.
type settings struct {
	name, db, mode, log string
	processes           int
	seed                uint64
	net                 *wires // nil if everybody is connected without one
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
	if s.net != nil {
		s.net.carry(f)
	}
	if err := f.Start(ctx); err != nil {
		f.KillAll()
		return nil, nil, err
	}
	return f, func() { f.KillAll(); log.Close() }, nil
}

// trouble is a run in which everything happens at once.
type trouble struct {
	settings
	writes, kills, drops  int
	many, listening, ring int // writers and listeners
	lanes, everything     int // how many lanes there are, and how many listen to all of them; 0 is most
	pause, drain          time.Duration
	crash                 string // a command, if any
	crashes               int

	// What the network does, where there is one.
	wired       bool
	door, store network.Faults // before each process, and before the database of each
	parts       int            // partitions
	partTime    time.Duration
	down, up    string // commands that end the database, and start it; if any, it is gone once
	patience    time.Duration
	limit       time.Duration

	ears      []func(l *line) ear // how one can listen
	writers   *writers
	listeners []*listener
	absent    chan struct{} // closed when somebody has missed something, in the control; nil where nobody has to
	written   chan struct{} // closed when the writers have done
	deaths    int
	faults    []*fault
	took      time.Duration
	happened  map[string]history
	late      *listener        // one who comes when all is over, and reads it all
	latency   [2]time.Duration // p50 and p99
	again     string           // the arguments of the run
}

// troubleOf runs what is called chaos, or network.
func troubleOf(ctx context.Context, kind string, args []string, out io.Writer) error {
	t := &trouble{wired: kind == "network"}
	if err := t.parse(kind, args); err != nil {
		return err
	}
	n, err := t.run(ctx)
	if err == nil {
		t.print(out, n)
		err = t.verdict(n)
	}
	if err != nil {
		return fmt.Errorf("%s: %w; again: feeds %s%s", t.name, err, kind, t.again)
	}
	return nil
}

func (t *trouble) parse(kind string, args []string) error {
	flags := t.flags(kind)
	flags.IntVar(&t.writes, "writes", 5000, "at least, that happen")
	flags.IntVar(&t.many, "writers", 16, "at once")
	flags.IntVar(&t.listening, "listeners", 50, "at once")
	flags.IntVar(&t.lanes, "lanes", lanes, "that things are in")
	flags.IntVar(&t.everything, "everything", 0, "listeners that listen to all lanes, the others to one each; 0 is three of five")
	flags.IntVar(&t.kills, "kills", 10, "of processes, with -9")
	flags.StringVar(&t.crash, "crash", "", "shell `command` that crashes the database, halfway")
	flags.IntVar(&t.drops, "drops", 500, "a listener breaks off after so many events at most; 0 is never")
	flags.IntVar(&t.ring, "ring", 64, "events that are in memory: small, so that who comes back reads the log")
	flags.DurationVar(&t.pause, "pause", 20*time.Millisecond, "of a writer after each write, at most")
	flags.DurationVar(&t.drain, "drain", 5*time.Minute, "until everybody has to have heard all")
	if t.wired {
		t.networkFlags(flags)
	}
	flags.DurationVar(&t.limit, "limit", 0, "how long a look at the log may take, and a transaction may stand still; 0 are the defaults")
	if err := flags.Parse(args); err != nil {
		return err
	}
	// What follows -log is of this machine, and -db of this run.
	flags.Visit(func(f *flag.Flag) {
		if f.Name != "db" && f.Name != "log" && f.Name != "name" {
			t.again += fmt.Sprintf(" -%s=%q", f.Name, f.Value)
		}
	})
	return nil
}

func (t *trouble) networkFlags(flags *flag.FlagSet) {
	weatherFlags(flags, &t.door, "", "between clients and processes")
	weatherFlags(flags, &t.store, "store-", "between processes and the database")
	flags.IntVar(&t.parts, "parts", 0, "partitions, each of one process from the database or from its clients")
	flags.DurationVar(&t.partTime, "part", 3*time.Second, "how long a partition is, and how long the database is gone")
	flags.StringVar(&t.down, "down", "", "shell `command` that ends the database, halfway")
	flags.StringVar(&t.up, "up", "", "shell `command` that starts it again")
	flags.DurationVar(&t.patience, "patience", 4*time.Second, "of clients with a stream or an answer of which nothing comes")
}

func weatherFlags(flags *flag.FlagSet, w *network.Faults, prefix, where string) {
	flags.DurationVar(&w.Delay, prefix+"delay", 0, "of everything "+where)
	flags.DurationVar(&w.Jitter, prefix+"jitter", 0, "what is added to that at most")
	flags.IntVar(&w.Rate, prefix+"rate", 0, "`bytes` a second of each connection "+where+"; 0 is any number")
	flags.IntVar(&w.Cut, prefix+"cut", 0, "`bytes` after which a connection "+where+" is reset at the latest; 0 is never")
}

// run has everybody listen, write and die, and counts what was heard.
func (t *trouble) run(ctx context.Context) (counts, error) {
	if t.wired {
		var err error
		if t.net, err = newNetwork(t.seed, t.processes, t.db); err != nil {
			return counts{}, err
		}
		defer t.net.close()
		t.net.set(t.door, t.store)
	}
	f, stop, err := t.start(ctx, t.db, "-ring", fmt.Sprint(t.ring), "-bookmark", "1s", "-ping", "1s",
		"-limit", t.limit.String(), "-idle", t.limit.String())
	if err != nil {
		return counts{}, err
	}
	defer stop()
	t.ears = []func(l *line) ear{newSSE}
	if t.lasts() {
		t.ears = append(t.ears, newSocket, newGraphQLSSE)
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
	t.writers.lanes = cmp.Or(t.lanes, lanes)
	if t.wired {
		t.writers.attempts = &attempts{}
		t.writers.client.http.Timeout = t.patience
	}
	ask := newClient(1) // who has all the time in the world
	from, err := ask.place(ctx, t.net.straight(f.URL(0)))
	if err != nil {
		return counts{}, err
	}
	t.gather(from)
	began := time.Now()
	if err := t.wreak(ctx, f); err != nil {
		return counts{}, err
	}
	t.took = time.Since(began)
	if err := t.freed(ctx, ask, f); err != nil {
		return counts{}, err
	}
	left, err := ask.all(ctx, t.net.straight(f.URL(0)))
	if err != nil {
		return counts{}, err
	}
	if t.happened, err = t.writers.settle(left); err != nil {
		return counts{}, err
	}
	if t.lasts() {
		t.late = &listener{name: "who comes late", ear: newSSE(nil), cursor: from}
		limited, cancel := context.WithTimeout(ctx, t.drain)
		defer cancel()
		t.late.run(limited, f, t.random(1<<33), func() {})
		t.decide()
	}
	return t.count()
}

// lasts reports whether what is told outlives a process.
func (t *trouble) lasts() bool { return t.mode == outbox || t.mode == locked }

// settlers is how many listen to each process, and to no other, where processes are cut off.
const settlers = 6

// gather makes the listeners: most want everything, some a lane, and some what is open. The control has only the first,
// since it loses whatever they want.
func (t *trouble) gather(from string) {
	t.written = make(chan struct{})
	for i := range t.listening {
		l := &listener{name: fmt.Sprint("listener ", i), line: &line{}, drops: t.drops, cursor: from}
		l.ear = t.ears[i%len(t.ears)](l.line)
		if t.wired {
			l.line.patience = t.patience
		}
		switch {
		case !t.lasts():
			l.cursor = ""
			if t.mode == silent && i == 0 && t.drops > 0 {
				t.absent = make(chan struct{})
				l.away = t.miss
			}
		case t.parts+len(t.down) > 0 && i < settlers*t.processes:
			// One of each kind for each process, who stays there to see what comes.
			l.native, l.home, l.drops = 1+i/settlers, 1+i/settlers, 0
		case t.everything > 0:
			if i >= t.everything {
				l.view.lane = 1 + i%t.writers.lanes
			}
		case i%5 == 3:
			l.view.lane = 1 + i%t.writers.lanes
		case i%5 == 4:
			l.view.open = true
		}
		t.listeners = append(t.listeners, l)
	}
}

// miss waits until something has happened since it was called: more writes are acknowledged than were under way. That somebody
// of the control is late enough to miss something is likely, and no more.
func (t *trouble) miss(ctx context.Context) {
	defer close(t.absent)
	for from := t.writers.happened.Load(); t.writers.happened.Load() <= from+int64(t.many); pauseFor(ctx, time.Millisecond) {
		select {
		case <-t.written:
			return
		case <-ctx.Done():
			return
		default:
		}
	}
}

// enough reports whether the writers may end, who wait for who has to miss something; if that never comes, they end, too.
func (t *trouble) enough() bool {
	happened := t.writers.happened.Load()
	if t.absent == nil || happened >= 20*int64(t.writes) {
		return happened >= int64(t.writes)
	}
	select {
	case <-t.absent:
		return happened >= int64(t.writes)
	default:
		return false
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
	if err := t.fenced(ctx, f); err != nil {
		return err
	}
	limit := time.AfterFunc(t.drain, deafen)
	defer limit.Stop()
	err := t.writers.end(listening, t.lasts(), all)
	if listening.Err() != nil {
		err = ctx.Err() // who has not heard all by now has lost it
	}
	deafen()
	listeners.Wait()
	return errors.Join(err, t.failed())
}

// fenced waits until no write is under way that its client has given up: one that is done behind the last thing is heard by
// nobody, and there.
func (t *trouble) fenced(ctx context.Context, f *fleet.Fleet) error {
	if t.net == nil {
		return nil // nobody gives up
	}
	ask := newClient(1)
	for i := range f.Len() {
		if a := ask.send(ctx, http.MethodPost, t.net.straight(f.URL(i))+"/process/fence", ""); !a.ok() {
			return fmt.Errorf("process %d does not end its writes: status %d", i, a.status)
		}
	}
	return nil
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
		return over && t.enough()
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
	close(t.written)
	return context.Cause(ctx)
}

// deed is something that is done to those who write and listen.
type deed func(ctx context.Context, f *fleet.Fleet, rng *rand.Rand) error

// deeds are what is done, in the order in which it is. The database goes halfway.
func (t *trouble) deeds(rng *rand.Rand) []deed {
	var all []deed
	for range t.kills {
		all = append(all, t.kill)
	}
	for i := range t.parts {
		all = append(all, func(ctx context.Context, f *fleet.Fleet, rng *rand.Rand) error {
			return t.part(ctx, f, rng, i%partKinds)
		})
	}
	rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	if t.down != "" {
		all = slices.Insert(all, len(all)/2, t.vanish)
	}
	if t.crash != "" {
		all = slices.Insert(all, len(all)/2, func(ctx context.Context, _ *fleet.Fleet, _ *rand.Rand) error {
			t.crashes++
			return shell(ctx, t.crash)
		})
	}
	return all
}

// killer does what is to be done, evenly over the run.
func (t *trouble) killer(ctx context.Context, f *fleet.Fleet) error {
	rng := t.random(1 << 32)
	deeds := t.deeds(rng)
	for i, do := range deeds {
		for t.writers.happened.Load() < int64((i+1)*t.writes/(len(deeds)+1)) {
			if pauseFor(ctx, time.Millisecond); ctx.Err() != nil {
				return nil
			}
		}
		pauseFor(ctx, time.Duration(rng.Int64N(int64(10*time.Millisecond))))
		if err := do(ctx, f, rng); err != nil {
			return errors.Join(ctx.Err(), err)
		}
	}
	return nil
}

// kill ends a process, and starts it again.
func (t *trouble) kill(ctx context.Context, f *fleet.Fleet, rng *rand.Rand) error {
	victim := rng.IntN(f.Len())
	f.Kill(victim)
	t.deaths++
	return f.StartNode(ctx, victim)
}

// freed waits until no process serves a stream any more, as nobody listens.
func (t *trouble) freed(ctx context.Context, ask *client, f *fleet.Fleet) error {
	if t.net == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, t.drain)
	defer cancel()
	for i := range f.Len() {
		for left := int64(-1); left != 0; pauseFor(ctx, 10*time.Millisecond) {
			var p process
			a := ask.send(ctx, http.MethodGet, t.net.straight(f.URL(i))+"/process/", "")
			if a.ok() && json.Unmarshal(a.body, &p) == nil {
				left = p.Streams
			}
			if ctx.Err() != nil {
				return fmt.Errorf("process %d has %d streams that nobody listens to: %w", i, left, ctx.Err())
			}
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

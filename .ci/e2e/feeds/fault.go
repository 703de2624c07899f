package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"sync"
	"time"

	"github.com/stoa-go/stoa/ci/e2e/database"
	"github.com/stoa-go/stoa/ci/e2e/fleet"
)

// attempts are what was answered to writes, and when, so that those can be found that fell in a fault. It is safe for
// concurrent use; nil keeps nothing.
type attempts struct {
	mu  sync.Mutex
	all []attempt
}

type attempt struct {
	base         string
	began, ended time.Time
	status       int
	retry        bool
}

func (a *attempts) add(base string, got answer) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all = append(a.all, attempt{base, got.begun, got.at, got.status, got.retry})
}

// fault is a time in which something was cut off. Whatever is said of it is of what began and ended within.
type fault struct {
	what           string
	bases          []string    // of the processes that were cut off
	settlers       []*listener // who listens to these only
	from, half, to time.Time
	bytes          int64  // that they heard in the first half
	store, gone    bool   // the processes were cut off from the database, or there was none
	newest         uint64 // the newest event that the processes can have known of, if they were cut off
}

// The kinds of partition, in the order in which they come.
const (
	heldStore = iota // nothing passes to the database, for a while, and then all
	lostStore        // the same, and the connections are good for nothing any more
	heldDoor         // nothing passes to the clients, for a while
	partKinds
)

// part cuts a process off, and undoes that.
func (t *trouble) part(ctx context.Context, f *fleet.Fleet, rng *rand.Rand, kind int) error {
	if len(t.net.stores) == 0 {
		kind = heldDoor
	}
	i := rng.IntN(f.Len())
	at, weather := t.net.doors[i], t.door
	c := &fault{bases: []string{f.URL(i)}, settlers: t.settled(i), store: kind != heldDoor}
	c.what = fmt.Sprintf("process %d and its clients are parted", i)
	if c.store {
		at, weather = t.net.stores[i], t.store
		c.what = fmt.Sprintf("process %d and the database are parted", i)
	}
	hole := weather
	hole.Blocked = true
	at.Set(hole)
	if c.store {
		// Whatever it knows by now was committed before.
		var err error
		if c.newest, err = newest(ctx, t.db); err != nil {
			return err
		}
	}
	if kind == lostStore {
		c.what += ", and all their connections are lost"
		at.Lose()
	}
	t.during(ctx, c, rng, func() {
		if half := c.settlers[:len(c.settlers)/2]; c.store {
			for _, l := range half { // from what they were told there they go on elsewhere
				l.settle((i + 1) % f.Len())
			}
		}
	})
	at.Set(weather)
	for _, l := range c.settlers {
		l.settle(i)
	}
	return ctx.Err()
}

// settled are who listens to one process only.
func (t *trouble) settled(process int) (all []*listener) {
	for _, l := range t.listeners {
		if l.native == process+1 {
			all = append(all, l)
		}
	}
	return all
}

// during lets a fault last, and writes to those who are cut off meanwhile. halfway is called in the middle.
func (t *trouble) during(ctx context.Context, c *fault, rng *rand.Rand, halfway func()) {
	c.from = time.Now()
	before := heardBytes(c.settlers)
	var probes sync.WaitGroup
	asked, enough := context.WithTimeout(ctx, t.partTime*9/10)
	defer enough()
	for _, base := range c.bases {
		seed := rng.Uint64()
		probes.Go(func() {
			rng := rand.New(rand.NewPCG(seed, 0))
			for range 3 {
				t.writers.create(asked, rng, base)
			}
		})
	}
	pauseFor(ctx, t.partTime/2)
	c.half, c.bytes = time.Now(), heardBytes(c.settlers)-before
	halfway()
	pauseFor(ctx, t.partTime/2)
	probes.Wait()
	c.to = time.Now()
	t.faults = append(t.faults, c)
}

func heardBytes(of []*listener) (n int64) {
	for _, l := range of {
		n += l.line.bytes.Load()
	}
	return n
}

// vanish ends the database, and starts it again.
func (t *trouble) vanish(ctx context.Context, f *fleet.Fleet, rng *rand.Rand) error {
	c := &fault{what: "the database is gone", gone: true}
	for i := range f.Len() {
		c.bases = append(c.bases, f.URL(i))
		c.settlers = append(c.settlers, t.settled(i)...)
	}
	if err := shell(ctx, t.down); err != nil {
		return err
	}
	t.during(ctx, c, rng, func() {})
	return shell(ctx, t.up)
}

func shell(ctx context.Context, command string) error {
	if out, err := exec.CommandContext(ctx, "sh", "-c", command).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", command, err, out)
	}
	return nil
}

// newest is the number of the newest event that is committed.
func newest(ctx context.Context, source string) (n uint64, err error) {
	db, err := database.Pool(source, 1)
	if err != nil {
		return 0, err
	}
	defer db.Close()
	err = db.QueryRowContext(ctx, "SELECT coalesce(max(seq), 0) FROM events").Scan(&n)
	return n, err
}

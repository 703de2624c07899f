package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/stoa-go/stoa/ci/e2e/client"
	"github.com/stoa-go/stoa/ci/e2e/fleet"
	"github.com/stoa-go/stoa/ci/e2e/history"
)

// The scenario writes: writers send each request to a random node of the shop while nodes are killed. A response of 2xx is a
// promise. After 500 and above, or without a response, the write may have happened or not, and every check allows for both. A write is
// lost if it was acknowledged and its effect is not there. A state is torn if no order of the writes explains it.
//
// The control uses the API as clients do that know no conditions, batches and keys: it has to lose writes and to tear states.

// workload is something that is written, and what has to hold of it.
type workload interface {
	name() string
	// prepare makes what the steps need. No node is killed during it.
	prepare(ctx context.Context, t *target, rng *rand.Rand) error
	// step is one or a few requests of one writer. Writers take steps concurrently.
	step(ctx context.Context, t *target, writer int, rng *rand.Rand) error
	// verify reads what is left after all writes.
	verify(ctx context.Context, t *target, rng *rand.Rand) error
}

// target is the nodes as one workload uses them, with what it finds.
type target struct {
	*client.Client
	history.Violations
	nodes client.Picker
}

func newTarget(nodes client.Picker, connections int) *target {
	return &target{Client: client.New(connections), nodes: nodes}
}

func (t *target) read(ctx context.Context, rng *rand.Rand, path string, header ...string) (client.Answer, error) {
	return t.ReadAny(ctx, t.nodes, rng, path, header...)
}

func (t *target) write(ctx context.Context, rng *rand.Rand, method, path, body string, header ...string) (client.Answer, error) {
	return t.SendAny(ctx, t.nodes, rng, method, path, body, header...)
}

// lost, torn and unexpected add one violation.
func (t *target) lost(format string, args ...any) { t.Add(history.Lost, 1, format, args...) }
func (t *target) torn(format string, args ...any) { t.Add(history.Torn, 1, format, args...) }
func (t *target) unexpected(format string, args ...any) {
	t.Add(history.Unexpected, 1, format, args...)
}

// writeRun is one run of the scenario.
type writeRun struct {
	requests, kills, writers int
	crash                    bool
	naive                    bool // the control

	workloads []workload
	targets   []*target
	killed    int
}

// writes runs the scenario and its control.
func writes(engine string) func(ctx context.Context, e *env) error {
	return func(ctx context.Context, e *env) error {
		subject := &writeRun{requests: size(e, 5_000, 50_000), kills: size(e, 4, 10), writers: 8, crash: engine == postgres}
		control := &writeRun{requests: size(e, 1_000, 2_000), writers: 8, naive: true}
		for _, w := range []*writeRun{subject, control} {
			db, err := e.newDatabase(ctx, engine)
			if err != nil {
				return err
			}
			f, err := e.startShop(ctx, nodes(engine), "-db", db)
			if err != nil {
				return err
			}
			began := time.Now()
			if err := w.run(ctx, e, f); err != nil {
				return err
			}
			if err := e.finish(w.result(engine, time.Since(began), f.Len())); err != nil {
				return err
			}
			f.KillAll()
		}
		return nil
	}
}

// run writes and kills, kills all nodes once more, restarts them and verifies.
func (w *writeRun) run(ctx context.Context, e *env, f *fleet.Fleet) error {
	w.workloads = []workload{newCounters(w.writers, true, w.naive), newCounters(w.writers, false, w.naive), &creates{},
		newMoves(w.naive), &claims{}, &keyedOrders{naive: w.naive}}
	for range w.workloads {
		w.targets = append(w.targets, newTarget(f, w.writers))
	}
	for i, each := range w.workloads {
		if err := each.prepare(ctx, w.targets[i], e.random(checkPart)); err != nil {
			return fmt.Errorf("%s: %w", each.name(), err)
		}
	}
	if err := w.load(e, f).run(ctx, e); err != nil {
		return err
	}
	if w.naive {
		if err := w.collide(ctx, e.random(checkPart)); err != nil {
			return err
		}
	}
	if w.kills > 0 {
		f.KillAll()
		w.killed += f.Len()
		if err := f.Start(ctx); err != nil {
			return err
		}
	}
	for i, each := range w.workloads {
		if err := each.verify(ctx, w.targets[i], e.random(checkPart)); err != nil {
			return fmt.Errorf("%s: %w", each.name(), err)
		}
	}
	return nil
}

// load returns the writers, the kills, and the crash of the database halfway.
func (w *writeRun) load(e *env, f *fleet.Fleet) *load {
	l := &load{
		writers: w.writers,
		step: func(ctx context.Context, writer int, rng *rand.Rand) error {
			i := rng.IntN(len(w.workloads))
			return w.workloads[i].step(ctx, w.targets[i], writer, rng)
		},
		progress: func() float64 {
			var sent int64
			for _, t := range w.targets {
				sent += t.Requests()
			}
			return float64(sent) / float64(w.requests)
		},
		faults: repeat(w.kills, func(ctx context.Context, rng *rand.Rand) error {
			w.killed++
			return f.Restart(ctx, rng.IntN(f.Len()))
		}),
	}
	if w.crash {
		l.faults = spread(l.faults, e.crash)
	}
	return l
}

// collide makes the writers of the control overwrite each other for certain. By chance it is only likely.
func (w *writeRun) collide(ctx context.Context, rng *rand.Rand) error {
	for i, each := range w.workloads {
		if c, ok := each.(*counters); ok {
			if err := c.collide(ctx, w.targets[i], rng); err != nil {
				return err
			}
		}
	}
	return nil
}

// result has a row for each workload.
func (w *writeRun) result(engine string, took time.Duration, nodes int) *result {
	r := &result{Violations: &history.Violations{}}
	r.title = fmt.Sprintf("%s: %d writers, %d nodes, %d kills, %.0f s", engine, w.writers, nodes, w.killed, took.Seconds())
	if w.naive {
		r.title = "control, read, change and put back, on " + r.title
		r.control = []history.Kind{history.Lost, history.Torn}
	}
	var rows [][]any
	for i, t := range w.targets {
		name := w.workloads[i].name()
		acknowledged, unknown := t.Writes(200, 299), t.Writes(0, 0)+t.Writes(500, 599)
		rows = append(rows, []any{t.Requests(), acknowledged, t.Writes(300, 499), unknown, t.Internal(), t.Count(history.Lost),
			t.Count(history.Torn), name})
		r.Merge(&t.Violations)
		if acknowledged == 0 {
			r.fail(fmt.Errorf("%s: no write was acknowledged", name))
		}
		if n := t.Count(history.Unexpected); n > 0 && w.naive {
			r.fail(fmt.Errorf("%s: %d unexpected responses", name, n))
		}
	}
	if w.killed < w.kills {
		r.fail(errors.New("not all kills were done"))
	}
	r.table("requests\tacknowledged\trefused\tunknown\tstatus 500\tlost\ttorn\t", rows...)
	return r
}

// order is one of the shop in version 2.0.0.
type order struct {
	ID        int64       `json:"id"`
	Status    string      `json:"status"`
	Lines     []orderLine `json:"lines"`
	Note      *string     `json:"note"`
	CreatedAt string      `json:"createdAt"`
}

type orderLine struct {
	ItemID int64 `json:"itemId"`
	Qty    int64 `json:"qty"`
}

// countLine is a line that represents a number: in itemId, which has no limit, and again in qty, which shows whether the line was
// written as a whole.
func countLine(n int64) orderLine { return orderLine{ItemID: n + 1, Qty: n%1000 + 1} }

func (o order) idText() string { return strconv.FormatInt(o.ID, 10) }

// place is one of the shop. It represents an account, or for the receipt of a move between two accounts.
type place struct {
	ID         string `json:"id"`
	Name       string `json:"name"`
	Country    string `json:"country"`
	Population int64  `json:"population"`
}

// operation is one of a JSON Patch.
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// encode returns v, which can always be encoded, as JSON.
func encode(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

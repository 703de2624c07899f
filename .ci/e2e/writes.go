package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"

	"github.com/stoa-go/stoa/ci/e2e/client"
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

// writeLoad is all workloads on one fleet.
type writeLoad struct {
	trial
	workloads []workload
	targets   []*target
}

const shopWriters = 8

// writes runs the scenario and its control.
func writes(engine string) func(ctx context.Context, e *env) error {
	return func(ctx context.Context, e *env) error {
		crashes := 1
		if engine == sqlite {
			crashes = 0
		}
		subject := newWriteLoad(engine, false)
		subject.do = func(ctx context.Context) error {
			return subject.run(ctx, size(e, 5_000, 50_000), subject.killNodes(size(e, 4, 10)), subject.crashDatabase(crashes))
		}
		control := newWriteLoad(engine, true)
		control.do = func(ctx context.Context) error { return control.run(ctx, size(e, 1_000, 2_000)) }
		return e.try(ctx, &subject.trial, &control.trial)
	}
}

func newWriteLoad(engine string, naive bool) *writeLoad {
	w := &writeLoad{trial: trial{title: engine, engine: engine, command: []string{shop}}}
	w.workloads = []workload{newCounters(shopWriters, true, naive), newCounters(shopWriters, false, naive), &creates{},
		newMoves(naive), &claims{}, &creates{repeat: true, keys: !naive}}
	if naive {
		w.title, w.control = "control, read, change and put back, on "+engine, []history.Kind{history.Lost, history.Torn}
	}
	return w
}

// run writes while faults are injected. Then it kills all nodes once more, restarts them and verifies.
func (w *writeLoad) run(ctx context.Context, requests int, faults ...fault) error {
	for range w.workloads {
		w.targets = append(w.targets, newTarget(w.Fleet, shopWriters))
	}
	err := w.each(func(i int, of workload) error { return of.prepare(ctx, w.targets[i], w.random(checkPart)) })
	if err != nil {
		return err
	}
	err = w.write(ctx, load{writers: shopWriters, done: w.sent, total: requests, faults: faults,
		step: func(ctx context.Context, writer int, rng *rand.Rand) error {
			i := rng.IntN(len(w.workloads))
			return w.workloads[i].step(ctx, w.targets[i], writer, rng)
		}})
	if err == nil && w.control != nil {
		err = w.collide(ctx, w.random(checkPart))
	}
	if err == nil && faults != nil {
		w.KillAll()
		err = w.Start(ctx)
	}
	if err != nil {
		return err
	}
	err = w.each(func(i int, of workload) error { return of.verify(ctx, w.targets[i], w.random(checkPart)) })
	w.judge()
	return err
}

// each calls do for each workload, until it returns an error.
func (w *writeLoad) each(do func(i int, of workload) error) error {
	for i, of := range w.workloads {
		if err := do(i, of); err != nil {
			return fmt.Errorf("%s: %w", of.name(), err)
		}
	}
	return nil
}

// sent returns the number of requests.
func (w *writeLoad) sent() (n int64) {
	for _, t := range w.targets {
		n += t.Requests()
	}
	return n
}

// collide makes the writers of the control overwrite each other for certain. By chance it is only likely.
func (w *writeLoad) collide(ctx context.Context, rng *rand.Rand) error {
	return w.each(func(i int, of workload) error {
		if c, ok := of.(*counters); ok {
			return c.collide(ctx, w.targets[i], rng)
		}
		return nil
	})
}

// judge has a row for each workload.
func (w *writeLoad) judge() {
	var rows [][]any
	for i, t := range w.targets {
		name := w.workloads[i].name()
		acknowledged, unknown := t.Writes(200, 299), t.Writes(0, 0)+t.Writes(500, 599)
		rows = append(rows, []any{t.Requests(), acknowledged, t.Writes(300, 499), unknown, t.Internal(), t.Count(history.Lost),
			t.Count(history.Torn), name})
		w.Merge(&t.Violations)
		w.failIf(acknowledged == 0, "%s: no write was acknowledged", name)
		n := t.Count(history.Unexpected)
		w.failIf(n > 0 && w.control != nil, "%s: %d unexpected responses", name, n)
	}
	w.table("requests\tacknowledged\trefused\tunknown\tstatus 500\tlost\ttorn\t", rows...)
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

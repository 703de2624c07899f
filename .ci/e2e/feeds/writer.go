package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stoa-go/stoa/ci/e2e/fleet"
)

// lanes is how many there are.
const lanes = 4

// writers change things together, so that they meet at some.
type writers struct {
	client *client
	fleet  *fleet.Fleet
	pause  time.Duration // after each write, at most
	lanes  int

	happened, unknown atomic.Int64 // writes

	attempts *attempts // nil where nobody asks

	mu      sync.Mutex
	pool    []*item          // that can be changed
	items   map[string]*item // all
	mistake error            // the first answer that nobody expects
}

// poolSize is how many items there are to meet at.
const poolSize = 48

func newWriters(f *fleet.Fleet, most int, pause time.Duration) *writers {
	return &writers{client: newClient(most), fleet: f, pause: pause, lanes: lanes, items: map[string]*item{}}
}

// run writes until it has been enough.
func (w *writers) run(ctx context.Context, rng *rand.Rand, enough func() bool) error {
	for !enough() {
		base, err := w.fleet.Pick(ctx, rng)
		if err != nil {
			return err
		}
		it := w.pick(rng)
		switch {
		case it == nil:
			w.create(ctx, rng, base)
		case rng.IntN(9) == 0:
			w.remove(ctx, rng, base, it)
		default:
			w.change(ctx, rng, base, it)
		}
		if w.pause > 0 {
			time.Sleep(time.Duration(rng.Int64N(int64(w.pause))))
		}
		if err := errors.Join(ctx.Err(), w.failed()); err != nil {
			return err
		}
	}
	return nil
}

// pick returns an item to change, or nil if another has to be made.
func (w *writers) pick(rng *rand.Rand) *item {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.pool) < poolSize/2 || len(w.pool) < poolSize && rng.IntN(8) == 0 {
		return nil
	}
	return w.pool[rng.IntN(len(w.pool))]
}

func (w *writers) drop(it *item) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pool = slices.DeleteFunc(w.pool, func(other *item) bool { return other == it })
}

func (w *writers) failed() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.mistake
}

// expect counts an answer to a write, and notes it if it is none that can be.
func (w *writers) expect(what, base string, a answer, statuses ...int) {
	w.attempts.add(base, a)
	switch {
	case a.ok():
		w.happened.Add(1)
	case a.unknown():
		w.unknown.Add(1)
	case !slices.Contains(statuses, a.status):
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.mistake == nil {
			w.mistake = fmt.Errorf("%s: status %d, %.300s", what, a.status, a.body)
		}
	}
}

// create makes an item. If there is no answer nobody knows its id, so nobody changes it.
func (w *writers) create(ctx context.Context, rng *rand.Rand, base string) {
	v, a, err := w.client.create(ctx, base, thing{Name: "thing", Lane: 1 + rng.IntN(w.lanes), N: 1, Open: true})
	w.expect("create", base, a)
	if err != nil || !a.ok() {
		return
	}
	it := &item{id: v.ID, lane: v.Lane, n: v.N, tag: a.tag}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pool = append(w.pool, it)
	w.items[it.id] = it
}

// change counts one up.
func (w *writers) change(ctx context.Context, rng *rand.Rand, base string, it *item) {
	n, tag := it.known()
	n++
	body := fmt.Sprintf(`{"n":%d,"open":%t}`, n, n%2 == 1)
	a := w.client.send(ctx, http.MethodPatch, base+path+"/"+it.id, body, "Content-Type: "+mergePatch, "If-Match: "+tag)
	w.expect("change", base, a, http.StatusPreconditionFailed, http.StatusNotFound, http.StatusGone, http.StatusConflict)
	if a.ok() && a.tag != "" {
		it.saw(n, a.tag)
		return
	}
	w.look(ctx, rng, it)
}

// remove deletes a version.
func (w *writers) remove(ctx context.Context, rng *rand.Rand, base string, it *item) {
	n, tag := it.known()
	a := w.client.send(ctx, http.MethodDelete, base+path+"/"+it.id, "", "If-Match: "+tag)
	w.expect("delete", base, a, http.StatusPreconditionFailed, http.StatusNotFound, http.StatusGone, http.StatusConflict)
	switch {
	case a.ok():
		it.deletedAt(n, true)
		w.drop(it)
		return
	case a.unknown():
		it.deletedAt(n, false)
	}
	w.look(ctx, rng, it)
}

// look finds out what an item is now. It asks until it is answered.
func (w *writers) look(ctx context.Context, rng *rand.Rand, it *item) {
	for ctx.Err() == nil {
		base, err := w.fleet.Pick(ctx, rng)
		if err != nil {
			return
		}
		a := w.client.send(ctx, http.MethodGet, base+path+"/"+it.id, "")
		switch {
		case a.ok():
			var v thing
			if json.Unmarshal(a.body, &v) == nil {
				it.saw(v.N, a.tag)
			}
			return
		case a.status == http.StatusNotFound || a.status == http.StatusGone:
			w.drop(it)
			return
		case a.status != 0 && a.status < 500:
			w.expect("look", base, a)
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// settle says what happened to each item, once all is quiet. What is in the table and was not acknowledged happened, too.
func (w *writers) settle(left []thing) (map[string]history, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	there := map[string]int{}
	for _, v := range left {
		if v.Name == endName {
			continue
		}
		there[v.ID] = v.N
		if w.items[v.ID] == nil {
			w.items[v.ID] = &item{id: v.ID, lane: v.Lane, n: v.N}
		}
	}
	happened := map[string]history{}
	var errs []error
	for id, it := range w.items {
		h, err := it.settle(there[id])
		happened[id] = h
		errs = append(errs, err)
	}
	return happened, errors.Join(errs...)
}

// endName is that of the last thing: whoever hears of it has heard all.
const endName = "end"

// end makes the last thing, one for each view, again and again until everybody has heard of it. Where each process tells only
// what it was asked itself, each is asked for one.
func (w *writers) end(ctx context.Context, lasts bool, done <-chan struct{}) error {
	for turn := 0; ; turn++ {
		for i := range w.fleet.Len() {
			if lasts && i != turn%w.fleet.Len() {
				continue
			}
			if err := w.last(ctx, w.fleet.URL(i)); err != nil {
				return err
			}
		}
		select {
		case <-done:
			return nil
		case <-ctx.Done():
			return nil
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// last asks a process for the last thing of each lane. Where nobody knows whether it is there, the next one may do better.
func (w *writers) last(ctx context.Context, base string) error {
	errs := make([]error, w.lanes)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() {
			_, a, err := w.client.create(ctx, base, thing{Name: endName, Lane: 1 + i, N: 1, Open: true})
			if err != nil || !a.ok() && !a.unknown() {
				errs[i] = fmt.Errorf("the last thing: status %d, %.200s: %w", a.status, a.body, errors.Join(err, ctx.Err()))
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

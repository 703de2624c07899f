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

	"github.com/stoa-go/stoa/ci/e2e/client"
	"github.com/stoa-go/stoa/ci/e2e/fleet"
	"github.com/stoa-go/stoa/ci/e2e/history"
	"github.com/stoa-go/stoa/ci/e2e/server"
)

// feedWriters create, change and delete things together, so that they meet at some.
type feedWriters struct {
	client *client.Client
	nodes  *fleet.Fleet
	pause  time.Duration // after each write, at most
	lanes  int

	acknowledged, unknown atomic.Int64

	attempts *attempts // nil if they are not needed

	mu    sync.Mutex
	pool  []*history.Item          // that are changed
	items map[string]*history.Item // all
	err   error                    // the first unexpected response
}

// poolSize is the number of items that are changed at a time.
const poolSize = 48

func newFeedWriters(nodes *fleet.Fleet, connections int, pause time.Duration, lanes int) *feedWriters {
	return &feedWriters{client: client.New(connections), nodes: nodes, pause: pause, lanes: lanes, items: map[string]*history.Item{}}
}

// step does one write.
func (w *feedWriters) step(ctx context.Context, _ int, rng *rand.Rand) error {
	base, err := w.nodes.Pick(ctx, rng)
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
	w.mu.Lock()
	defer w.mu.Unlock()
	return errors.Join(ctx.Err(), w.err)
}

// pick returns an item to change, or nil if a new one has to be created.
func (w *feedWriters) pick(rng *rand.Rand) *history.Item {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.pool) < poolSize/2 || len(w.pool) < poolSize && rng.IntN(8) == 0 {
		return nil
	}
	return w.pool[rng.IntN(len(w.pool))]
}

func (w *feedWriters) drop(it *history.Item) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pool = slices.DeleteFunc(w.pool, func(other *history.Item) bool { return other == it })
}

// count counts the response to a write. A status that is not one of the expected ones ends the run.
func (w *feedWriters) count(what, base string, a client.Answer, expected ...int) {
	w.attempts.add(base, a)
	switch {
	case a.OK():
		w.acknowledged.Add(1)
	case a.Unknown() || a.Err != nil:
		w.unknown.Add(1)
	case !slices.Contains(expected, a.Status):
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.err == nil {
			w.err = a.Unexpected(what)
		}
	}
}

// conflicts are the statuses of a write to an item that another writer has changed.
var conflicts = []int{http.StatusPreconditionFailed, http.StatusNotFound, http.StatusGone, http.StatusConflict}

// create creates an item. Without a response its id is unknown, and it is not changed.
func (w *feedWriters) create(ctx context.Context, rng *rand.Rand, base string) {
	v, a, err := createThing(ctx, w.client, base, server.Thing{Name: "thing", Lane: 1 + rng.IntN(w.lanes), N: 1, Open: true})
	w.count("create", base, a)
	if err != nil || !a.OK() {
		return
	}
	it := history.NewItem(v.ID, v.Lane, v.N, a.Tag())
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pool = append(w.pool, it)
	w.items[it.ID] = it
}

// change increments the version.
func (w *feedWriters) change(ctx context.Context, rng *rand.Rand, base string, it *history.Item) {
	n, tag := it.Known()
	n++
	body := fmt.Sprintf(`{"n":%d,"open":%t}`, n, n%2 == 1)
	a := w.client.Send(ctx, http.MethodPatch, base+server.ThingsPath+"/"+it.ID, body, client.MergePatch, "If-Match: "+tag)
	w.count("change", base, a, conflicts...)
	if a.OK() && a.Tag() != "" {
		it.Saw(n, a.Tag())
		return
	}
	w.look(ctx, rng, it)
}

// remove deletes the known version.
func (w *feedWriters) remove(ctx context.Context, rng *rand.Rand, base string, it *history.Item) {
	n, tag := it.Known()
	a := w.client.Send(ctx, http.MethodDelete, base+server.ThingsPath+"/"+it.ID, "", "If-Match: "+tag)
	w.count("delete", base, a, conflicts...)
	switch {
	case a.OK():
		it.Deleted(n, true)
		w.drop(it)
		return
	case a.Unknown() || a.Err != nil:
		it.Deleted(n, false)
	}
	w.look(ctx, rng, it)
}

// look reads an item until there is a response.
func (w *feedWriters) look(ctx context.Context, rng *rand.Rand, it *history.Item) {
	for ctx.Err() == nil {
		base, err := w.nodes.Pick(ctx, rng)
		if err != nil {
			return
		}
		a := w.client.Send(ctx, http.MethodGet, base+server.ThingsPath+"/"+it.ID, "")
		switch {
		case a.OK():
			var v server.Thing
			if json.Unmarshal(a.Body, &v) == nil {
				it.Saw(v.N, a.Tag())
			}
			return
		case a.Status == http.StatusNotFound || a.Status == http.StatusGone:
			w.drop(it)
			return
		case a.Err == nil && a.Status < 500:
			w.count("look", base, a)
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// settle returns the lives of all items, from the final content of the table. A version in the table that was not acknowledged has
// happened, too.
func (w *feedWriters) settle(left []server.Thing) (map[string]history.Life, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	versions := map[string]int{}
	for _, v := range left {
		if v.Name == finalName {
			continue
		}
		versions[v.ID] = v.N
		if w.items[v.ID] == nil {
			w.items[v.ID] = history.NewItem(v.ID, v.Lane, v.N, "")
		}
	}
	lives := map[string]history.Life{}
	var errs []error
	for id, it := range w.items {
		l, err := it.Settle(versions[id])
		lives[id] = l
		errs = append(errs, err)
	}
	return lives, errors.Join(errs...)
}

// finalName is the name of the final things: a subscriber that has received one has received everything.
const finalName = "end"

// finish creates final things, one for each lane, until all subscribers have received one. In the control each node has to publish
// its own.
func (w *feedWriters) finish(ctx context.Context, shared bool, done <-chan struct{}) error {
	for turn := 0; ; turn++ {
		for i := range w.nodes.Len() {
			if shared && i != turn%w.nodes.Len() {
				continue
			}
			if err := w.final(ctx, w.nodes.URL(i)); err != nil {
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

// final creates a final thing in each lane. If an outcome is unknown, the next turn repeats it.
func (w *feedWriters) final(ctx context.Context, base string) error {
	errs := make([]error, w.lanes)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			_, a, err := createThing(ctx, w.client, base, server.Thing{Name: finalName, Lane: 1 + i, N: 1, Open: true})
			if err != nil || !a.OK() && !a.Unknown() && a.Err == nil {
				errs[i] = errors.Join(a.Unexpected("final thing"), err, ctx.Err())
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

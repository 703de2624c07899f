package linearizetest

// Recording of histories: clients that make random calls at the same time. linearize.go judges the
// result.

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/schema"
)

// recorder records one history.
type recorder[T any] struct {
	Options
	ops      resource.Ops[T]
	newValue func(n int) T
	typ      *schema.Type
	id       *schema.Field
	clock    atomic.Int64 // logical clock that orders the calls
	values   atomic.Int64
	steps    atomic.Int64 // number of steps begun, by all clients
}

// Record runs concurrent clients on a collection and returns their calls and results. seed
// determines the calls of each client. It returns an error if ops has no Insert, Replace or Delete,
// if T has no field with the JSON name id, or if a call returns an error that is not from package
// resource.
func Record[T any](ctx context.Context, ops resource.Ops[T], newValue func(n int) T, opts *Options,
	seed uint64,
) (History, error) {
	o := opts.withDefaults()
	if ops.Insert == nil || ops.Replace == nil || ops.Delete == nil {
		return nil, errors.New("linearizetest: ops needs Insert, Replace and Delete")
	}
	typ := schema.For[T]()
	r := &recorder[T]{Options: o, ops: ops, newValue: newValue, typ: typ, id: typ.Field("id")}
	if r.id == nil {
		return nil, errors.New("linearizetest: the item type needs a field with the JSON name id")
	}
	histories := make([]History, o.Clients)
	failures := make([]error, o.Clients)
	var wg sync.WaitGroup
	for client := range o.Clients {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(seed, uint64(client)))
			histories[client], failures[client] = r.client(ctx, client, rng)
		})
	}
	wg.Wait()
	var all History
	for _, h := range histories {
		all = append(all, h...)
	}
	return all, errors.Join(failures...)
}

// client makes its share of the calls. The items change over time, so that a store without
// Recreates is not left with deleted items only.
func (r *recorder[T]) client(ctx context.Context, number int, rng *rand.Rand) (History, error) {
	defer r.steps.Add(1 << 40) // releases the other clients if this one fails
	share := max(1, r.Operations/r.Clients)
	const generations = 6
	seen := map[string][]resource.Rev{}
	history := make(History, 0, share)
	var read *call // the item that was read or written last
	for i := range share {
		// The range of ids advances generations times during the share of a client.
		n := i*generations/share*r.Items + rng.IntN(r.Items)
		c := r.choose(rng, r.ID(n), seen)
		if read != nil && rng.IntN(2) == 0 { // read, then write, as typical clients do
			c = call{method: "Replace", id: read.id, expect: read.expect}
		}
		read = nil
		r.await(int64(r.Clients * (i + 1)))
		// The logical clock increases with each start and end. Two calls overlap if their intervals
		// do, which is all that linearizability needs to know.
		op := porcupine.Operation{ClientId: number, Call: r.clock.Add(1)}
		a, err := r.do(ctx, &c)
		op.Return = r.clock.Add(1)
		if errors.Is(err, resource.ErrUnavailable) {
			continue // the call had no effect
		}
		if err != nil {
			return nil, err
		}
		if a.rev != "" {
			seen[c.id] = append(seen[c.id], a.rev)
			read = &call{id: c.id, expect: a.rev}
		}
		op.Input, op.Output = c, a
		history = append(history, op)
	}
	return history, nil
}

// await waits until the clients have begun want steps in total, so that their calls overlap.
// Without it, each client would finish before the next one starts. It spins, because woken
// goroutines do not start at the same time.
func (r *recorder[T]) await(want int64) {
	r.steps.Add(1)
	for turn := 1; r.steps.Load() < want; turn++ {
		switch {
		case turn > 2000: // the other clients are waiting for a slow store
			time.Sleep(20 * time.Microsecond)
		case turn%64 == 0:
			runtime.Gosched()
		}
	}
}

// choose returns a random call. Writes mostly use the latest revision that the client has seen, and
// sometimes an older one.
func (r *recorder[T]) choose(rng *rand.Rand, id string, seen map[string][]resource.Rev) call {
	c := call{id: id}
	revs := seen[id]
	if len(revs) > 0 {
		c.expect = revs[len(revs)-1]
		if rng.IntN(5) == 0 {
			c.expect = revs[rng.IntN(len(revs))]
		}
	}
	switch dice := rng.IntN(100); {
	case dice < 35:
		c.method = "Get"
	case dice < 55:
		c.method = "Insert"
	case dice < 90:
		c.method = "Replace"
	default:
		c.method = "Delete"
	}
	return c
}

// do executes a call and sets the value that it writes.
func (r *recorder[T]) do(ctx context.Context, c *call) (answer, error) {
	var it resource.Item[T]
	var v T
	var err error
	if c.method == "Insert" || c.method == "Replace" {
		v = r.newValue(int(r.values.Add(1)))
		if err := r.id.SetText(&v, c.id); err != nil {
			return answer{}, err
		}
		c.value = r.document(&v)
	}
	switch c.method {
	case "Get":
		it, err = r.ops.Get(ctx, c.id)
	case "Insert":
		it, err = r.ops.Insert(ctx, c.id, v)
	case "Replace":
		it, err = r.ops.Replace(ctx, c.id, c.expect, v)
	case "Delete":
		err = r.ops.Delete(ctx, c.id, c.expect)
	}
	if err != nil {
		return outcomeOf(err)
	}
	a := answer{outcome: done, rev: it.Rev}
	if c.method == "Get" {
		a.value = r.document(&it.Value)
	}
	return a, nil
}

// document returns a value as JSON, for comparison. An error becomes text that equals no document,
// so the history is not linearizable.
func (r *recorder[T]) document(v *T) string {
	text, err := r.typ.AppendFull(nil, v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// outcomeOf returns the answer for an error of package resource, and other errors unchanged. The
// order of the map does not matter, because an error wraps one of them.
func outcomeOf(err error) (answer, error) {
	for known, o := range map[error]outcome{
		resource.ErrNotFound: absent, resource.ErrGone: gone, resource.ErrExists: exists,
		resource.ErrStale: stale,
	} {
		if errors.Is(err, known) {
			return answer{outcome: o}, nil
		}
	}
	return answer{}, err
}

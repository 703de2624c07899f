package linearizetest

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

// recorder makes one history.
type recorder[T any] struct {
	Options
	ops      resource.Ops[T]
	newValue func(n int) T
	typ      *schema.Type
	id       *schema.Field
	clock    atomic.Int64 // orders the calls better than the time of day
	values   atomic.Int64
	arrived  atomic.Int64 // steps begun, by all clients
}

// Record has clients work on a collection and writes down what they were told. It fails if the collection lacks a
// capability, or answers in a way that package resource does not know.
func Record[T any](ctx context.Context, ops resource.Ops[T], newValue func(n int) T, opts *Options,
	seed uint64,
) (History, error) {
	o := opts.withDefaults()
	if ops.Insert == nil || ops.Replace == nil || ops.Delete == nil {
		return nil, errors.New("a collection needs Insert, Replace and Delete for this test")
	}
	typ := schema.For[T]()
	r := &recorder[T]{Options: o, ops: ops, newValue: newValue, typ: typ, id: typ.Field("id")}
	if r.id == nil {
		return nil, errors.New("the type has no field whose JSON name is id")
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

// client makes its share of the calls. The items they are about change in the course of time, so that a store which
// gives ids no second life is not left with dead ones.
func (r *recorder[T]) client(ctx context.Context, number int, rng *rand.Rand) (History, error) {
	defer r.arrived.Add(1 << 40) // lets the others go on if this one fails
	share := max(1, r.Operations/r.Clients)
	const generations = 6
	seen := map[string][]resource.Rev{}
	history := make(History, 0, share)
	var read *call // the item that was read or written last
	for i := range share {
		n := i*generations/share*r.Items + rng.IntN(r.Items)
		c := r.choose(rng, r.ID(n), seen)
		if read != nil && rng.IntN(2) == 0 { // what others do: read, then write
			c = call{method: "Replace", id: read.id, expect: read.expect}
		}
		read = nil
		r.meet(int64(r.Clients * (i + 1)))
		op := porcupine.Operation{ClientId: number, Call: r.clock.Add(1)}
		a, err := r.make(ctx, &c)
		op.Return = r.clock.Add(1)
		if errors.Is(err, resource.ErrUnavailable) {
			continue // nothing was done
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

// meet waits until so many clients in all have come to a step, so that their calls overlap: left alone, each would do
// all its work before the next begins. It spins, because goroutines that are woken start one after the other.
func (r *recorder[T]) meet(want int64) {
	r.arrived.Add(1)
	for turn := 1; r.arrived.Load() < want; turn++ {
		switch {
		case turn > 2000: // the others are waiting for a slow store
			time.Sleep(20 * time.Microsecond)
		case turn%64 == 0:
			runtime.Gosched()
		}
	}
}

// choose decides what to do next. Writes mostly name the revision that the client saw last, and sometimes an older one.
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

// make makes a call, and notes what value it wrote.
func (r *recorder[T]) make(ctx context.Context, c *call) (answer, error) {
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
		return failed(err)
	}
	a := answer{outcome: done, rev: it.Rev}
	if c.method == "Get" {
		a.value = r.document(&it.Value)
	}
	return a, nil
}

// document returns a value as JSON, by which values are compared.
func (r *recorder[T]) document(v *T) string {
	text, err := r.typ.AppendFull(nil, v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// failed sorts an error into an answer, or returns it if it is none.
func failed(err error) (answer, error) {
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

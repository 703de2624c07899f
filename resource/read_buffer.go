package resource

import (
	"context"
	"iter"
	"slices"
	"sync"
)

// buffer is a reusable buffer for the items of one page. It is drained before user code runs, so that a hook may call
// the store again.
type buffer interface {
	entries() []Entry
	release()
}

// bufferPool and pageBuffer keep the items of a page in one piece of memory that is used again.
type bufferPool[T any] struct {
	core *core
	pool sync.Pool
}

type pageBuffer[T any] struct {
	pool     *bufferPool[T]
	values   []T
	rows     []Entry
	expected int // that will come, if that is known; else 0
}

func newBufferPool[T any](h *core) *bufferPool[T] {
	p := &bufferPool[T]{core: h}
	p.pool.New = func() any { return &pageBuffer[T]{pool: p} }
	return p
}

func (p *bufferPool[T]) get() buffer { return p.pool.Get().(*pageBuffer[T]) }

func (b *pageBuffer[T]) entries() []Entry { return b.rows }

// put adds one item, which was asked for by id.
func (b *pageBuffer[T]) put(id string, item *Item[T]) (*Entry, error) {
	if cap(b.rows) == len(b.rows) || cap(b.values) == len(b.values) {
		b.grow(b.next())
	}
	if item.ID == "" {
		item.ID = id
	}
	n := len(b.rows) // in place, member by member: to make an Entry and move it costs a list a tenth of its time
	b.rows, b.values = b.rows[:n+1], b.values[:n+1]
	e, v := &b.rows[n], &b.values[n]
	*v = item.Value
	e.ID, e.Rev, e.Modified, e.Next, e.Value = item.ID, item.Rev, item.Modified, item.Next, v
	return e, b.pool.core.complete(e)
}

// release gives the buffer back. What it holds is forgotten, so that items are not kept alive. Room for many is kept as
// long as pools keep anything, which is two collections: to make it anew for every long list would be half of its time.
func (b *pageBuffer[T]) release() {
	clear(b.values)
	clear(b.rows)
	b.values, b.rows, b.expected = b.values[:0], b.rows[:0], 0
	if cap(b.values) <= 16*initialRows {
		b.pool.pool.Put(b)
	}
}

// drain adds what seq yields to b, max items at most if max is not zero. Only then may anything else be done: a store with one
// connection holds it as long as the iterator runs.
func drain[T any](ctx context.Context, b *pageBuffer[T], seq iter.Seq2[Item[T], error], max int) error {
	if max > 0 {
		max += len(b.rows)
	}
	b.expected = max
	b.grow(min(max, initialRows+len(b.rows)))
	for item, err := range seq {
		if err != nil {
			return err
		}
		if _, err := b.put("", &item); err != nil {
			return err
		}
		if len(b.rows) == max {
			break // whatever the store thinks, more was not asked for
		}
	}
	return ctx.Err()
}

// begun is for how many items there is room from the beginning, at most: the next page may be a short one, however many
// items it may have.
const initialRows = 1024

// next returns how many items to make room for when there is no more. A list that has filled the first thousand will most
// likely be as long as it may be. To double it until it is would take twice the memory, since what is left behind is not
// free at once.
func (b *pageBuffer[T]) next() int {
	if n := len(b.rows); b.expected > n && (b.expected <= 2*n || n >= initialRows && b.expected <= 16*n) {
		return b.expected
	}
	return 2*len(b.rows) + 1
}

// grow makes room for n items. Those that are there may move, and the rows with them.
func (b *pageBuffer[T]) grow(n int) {
	b.rows = slices.Grow(b.rows, max(0, n-len(b.rows)))
	b.values = slices.Grow(b.values, max(0, n-len(b.values)))
	for i := range b.rows {
		b.rows[i].Value, b.rows[i].stored = &b.values[i], &b.values[i]
	}
}

package resource

// Pooled memory for the items of a page. Called by untyped.go and by everything that reads.

import (
	"context"
	"iter"
	"slices"
	"sync"
)

// buffer holds the items of one page. It is filled before hooks run, so that a hook can call the
// store.
type buffer interface {
	entries() []Entry
	release()
}

// pageBuffers is the memory of a page that was read in several parts.
type pageBuffers []buffer

func (b pageBuffers) entries() []Entry { return nil }

func (b pageBuffers) release() {
	for _, part := range b {
		part.release()
	}
}

// unseen returns the rows without those of items that are on the page already, because they have moved since
// the last read.
func (p *Page) unseen(rows []Entry) []Entry {
	return slices.DeleteFunc(rows, func(e Entry) bool {
		return slices.ContainsFunc(p.Entries, func(has Entry) bool { return has.ID == e.ID })
	})
}

// add appends rows to the page, which then owns their memory b. Related items are on the page once for each
// item that they belong to.
func (p *Page) add(rows []Entry, b buffer) {
	switch {
	case len(rows) == 0:
		b.release()
	case p.buffer == nil:
		p.Entries, p.buffer = slices.Clip(rows), b
	default:
		p.Entries = append(p.Entries, rows...)
		parts, _ := p.buffer.(pageBuffers)
		if parts == nil {
			parts = pageBuffers{p.buffer}
		}
		p.buffer = append(parts, b)
	}
}

// bufferPool and pageBuffer reuse the memory of pages.
type bufferPool[T any] struct {
	core *core
	pool sync.Pool
}

type pageBuffer[T any] struct {
	pool     *bufferPool[T]
	values   []T
	rows     []Entry
	text     []byte // the JSON of rows, if they have no values
	expected int    // number of items, if known; otherwise 0
	// ids are the id fields of all elements of values, up to its capacity. It is empty if the field is not
	// a string. Reading them by reflection takes longer than the rest of store.
	ids []*string
}

func newBufferPool[T any](c *core) *bufferPool[T] {
	p := &bufferPool[T]{core: c}
	p.pool.New = func() any { return &pageBuffer[T]{pool: p} }
	return p
}

func (p *bufferPool[T]) take() buffer { return p.pool.Get().(*pageBuffer[T]) }

func (b *pageBuffer[T]) entries() []Entry { return b.rows }

// store adds one item, which was requested by id.
func (b *pageBuffer[T]) store(id string, item *Item[T]) (*Entry, error) {
	if cap(b.rows) == len(b.rows) || cap(b.values) == len(b.values) {
		b.grow(b.next())
	}
	if item.ID == "" {
		item.ID = id
	}
	n := len(b.rows) // set member by member: copying an Entry takes a tenth of the time of a list
	b.rows, b.values = b.rows[:n+1], b.values[:n+1]
	e, v := &b.rows[n], &b.values[n]
	*v = item.Value
	e.ID, e.Rev, e.Modified, e.Next, e.Value = item.ID, item.Rev, item.Modified, item.Next, v
	e.keys = item.Keys
	if n < len(b.ids) {
		if id := *b.ids[n]; id != "" && (e.ID == "" || e.ID == id) {
			e.ID, e.stored = id, v
			return e, b.pool.core.checkRevision(id, e.Rev)
		}
	}
	return e, b.pool.core.complete(e)
}

// release returns the buffer to the pool. Items are cleared so that they can be collected. Large
// buffers are pooled, too, up to 16 * initialRows, because allocating one takes half the time of a
// long list.
func (b *pageBuffer[T]) release() {
	clear(b.values)
	clear(b.rows)
	b.values, b.rows, b.text, b.expected = b.values[:0], b.rows[:0], b.text[:0], 0
	if cap(b.rows) <= 16*initialRows && cap(b.text) <= maxPooledText {
		b.pool.pool.Put(b)
	}
}

// drain adds the items of seq to b, at most max if max is not zero. Nothing else runs until it
// returns, because a store with one connection holds it while the iterator runs.
func drain[T any](ctx context.Context, b *pageBuffer[T], seq iter.Seq2[Item[T], error], max int) error {
	if max > 0 {
		max += len(b.rows)
	}
	b.expected = max
	b.grow(min(max, initialRows+len(b.rows)))
	for item, err := range seq {
		if err == nil {
			_, err = b.store("", &item)
		}
		if err != nil {
			return err
		}
		if len(b.rows) == max {
			break // the store ignores the limit
		}
	}
	return ctx.Err()
}

// drainJSON is drain for encoded items.
func drainJSON[T any](ctx context.Context, b *pageBuffer[T], seq iter.Seq2[ItemJSON, error], max int) error {
	b.rows = slices.Grow(b.rows, min(max, initialRows))
	for item, err := range seq {
		if err == nil {
			err = b.pool.core.checkRevision(item.ID, item.Rev)
		}
		if err != nil {
			return err
		}
		// The text can move as it grows. The JSON of earlier rows then stays where it was.
		start := len(b.text)
		b.text = append(b.text, item.JSON...)
		e := b.row()
		e.ID, e.Rev, e.Modified, e.Next = item.ID, item.Rev, item.Modified, item.Next
		e.JSON = b.text[start:len(b.text):len(b.text)]
		if len(b.rows) == max {
			break // the store ignores the limit
		}
	}
	return ctx.Err()
}

// drainRevisions is drain for items without values.
func drainRevisions[T any](
	ctx context.Context, b *pageBuffer[T], seq iter.Seq2[Revision, error], max int,
) error {
	b.rows = slices.Grow(b.rows, min(max, initialRows))
	for item, err := range seq {
		if err == nil {
			err = b.pool.core.checkRevision(item.ID, item.Rev)
		}
		if err != nil {
			return err
		}
		e := b.row()
		e.ID, e.Rev, e.Modified, e.Next = item.ID, item.Rev, item.Modified, item.Next
		if len(b.rows) == max {
			break // the store ignores the limit
		}
	}
	return ctx.Err()
}

// row adds an entry without a value, which the caller sets member by member; see store. Unused entries
// are zero.
func (b *pageBuffer[T]) row() *Entry {
	n := len(b.rows)
	if cap(b.rows) == n {
		b.rows = slices.Grow(b.rows, n+1)
	}
	b.rows = b.rows[:n+1]
	return &b.rows[n]
}

// maxPooledText is the size in bytes of the largest text that the pool keeps.
const maxPooledText = 4 << 20

// initialRows limits the initial capacity: a page may be shorter than its limit.
const initialRows = 1024

// next returns the capacity to grow to. A list that has filled initialRows will most likely reach
// its limit, so next returns the limit; doubling would take twice the memory.
func (b *pageBuffer[T]) next() int {
	if n := len(b.rows); b.expected > n && (b.expected <= 2*n || n >= initialRows && b.expected <= 16*n) {
		return b.expected
	}
	return 2*len(b.rows) + 1
}

// grow increases the capacity to n items. Items may move, and rows are updated.
func (b *pageBuffer[T]) grow(n int) {
	b.rows = slices.Grow(b.rows, max(0, n-len(b.rows)))
	b.values = slices.Grow(b.values, max(0, n-len(b.values)))
	for i := range b.rows {
		b.rows[i].Value, b.rows[i].stored = &b.values[i], &b.values[i]
	}
	b.setIDs()
}

// setIDs sets ids if values was moved. Those of a buffer that is too large for the pool would be used only
// once.
func (b *pageBuffer[T]) setIDs() {
	all := b.values[:cap(b.values)]
	if len(b.ids) == len(all) || !b.pool.core.id.IsString() {
		return
	}
	if b.ids = nil; len(all) > 16*initialRows {
		return
	}
	b.ids = make([]*string, len(all))
	for i := range all {
		b.ids[i] = b.pool.core.id.Address(&all[i])
	}
}

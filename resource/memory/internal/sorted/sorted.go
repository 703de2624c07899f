// Package sorted keeps elements in order, for one writer and many readers.
//
// A [List] is mutable. A [View] is an immutable snapshot of a List, and a [Place] is a position in
// a View. A List consists of chunks, each a sorted slice. A snapshot is free, because the List
// copies a chunk that may be part of a View before it changes the chunk.
package sorted

import (
	"slices"
	"sync/atomic"
)

// chunkSize is the maximum length of a chunk: small enough that copying one costs about as much as
// a search, and large enough that the list of chunks stays short.
const chunkSize = 512

// List is a sorted list. Changes must not run concurrently with any other use. Reading and Snapshot
// are safe for concurrent use.
type List[E any] struct {
	compare func(a, b E) int
	live    View[E]
	gen     uint64      // chunks of an older generation may be part of a snapshot
	shared  atomic.Bool // live is part of a snapshot; set concurrently by readers
}

// chunk is a sorted slice with at least one element.
type chunk[E any] struct {
	gen   uint64
	items []E
}

// New returns an empty List. compare must not return 0 for two different elements.
func New[E any](compare func(a, b E) int) *List[E] {
	return &List[E]{compare: compare}
}

// Compare compares two elements with the function given to New.
func (l *List[E]) Compare(a, b E) int { return l.compare(a, b) }

// Live returns the current elements. It is invalid after the next change.
func (l *List[E]) Live() View[E] { return l.live }

// Snapshot returns the current elements. It is not affected by later changes.
func (l *List[E]) Snapshot() View[E] {
	l.shared.Store(true)
	return l.live
}

// detach ensures that the list of chunks is not part of a snapshot. It begins a generation, so that
// each chunk is copied before its next change.
func (l *List[E]) detach() {
	if l.shared.Load() {
		l.gen++
		l.live.chunks = slices.Clone(l.live.chunks)
		l.shared.Store(false)
	}
}

// writable returns chunk i after ensuring that it is not part of a snapshot.
func (l *List[E]) writable(i int) *chunk[E] {
	c := l.live.chunks[i]
	if c.gen != l.gen {
		// spare capacity, because writes are often local
		items := make([]E, 0, min(len(c.items)+16, chunkSize))
		c = &chunk[E]{gen: l.gen, items: append(items, c.items...)}
		l.live.chunks[i] = c
	}
	return c
}

// find returns the place of e, or the one where it would be inserted.
func (l *List[E]) find(e E) Place {
	return l.live.Seek(func(other E) bool { return l.compare(other, e) < 0 })
}

// Insert adds an element that is not in the list.
func (l *List[E]) Insert(e E) {
	l.detach()
	p := l.find(e)
	// After the last element, use the end of the last chunk.
	if p == l.live.End() && p.chunk > 0 {
		p = Place{p.chunk - 1, len(l.live.chunks[p.chunk-1].items)}
	}
	if p.chunk == len(l.live.chunks) || len(l.live.chunks[p.chunk].items) == chunkSize {
		p = l.split(p)
	}
	c := l.writable(p.chunk)
	c.items = slices.Insert(c.items, p.item, e)
}

// split splits the full chunk at p, or adds an empty one, and returns the new place of p. At the
// end of the list it adds one, so that elements that arrive in order fill their chunks.
func (l *List[E]) split(p Place) Place {
	n := len(l.live.chunks)
	if p.chunk == n || p.chunk == n-1 && p.item == chunkSize {
		l.live.chunks = append(l.live.chunks, &chunk[E]{gen: l.gen})
		return Place{n, 0}
	}
	const half = chunkSize / 2
	left := l.writable(p.chunk)
	right := &chunk[E]{gen: l.gen, items: slices.Clone(left.items[half:])}
	clear(left.items[half:]) // release references to the moved elements
	left.items = left.items[:half]
	l.live.chunks = slices.Insert(l.live.chunks, p.chunk+1, right)
	if p.item > half {
		return Place{p.chunk + 1, p.item - half}
	}
	return p
}

// Remove removes an element that is in the list.
func (l *List[E]) Remove(e E) {
	l.detach()
	p := l.find(e)
	c := l.writable(p.chunk)
	c.items = slices.Delete(c.items, p.item, p.item+1)
	chunks, next := l.live.chunks, p.chunk+1
	// Merge small chunks, so that many removals do not leave a long list of them. The result is at
	// most half full, so that it is not split again soon.
	switch {
	case len(c.items) == 0:
		l.live.chunks = slices.Delete(chunks, p.chunk, next)
	case next < len(chunks) && len(c.items)+len(chunks[next].items) <= chunkSize/2:
		c.items = append(c.items, chunks[next].items...)
		l.live.chunks = slices.Delete(chunks, next, next+1)
	}
}

// Replace replaces old, which is in the list, by e, which compares as equal.
func (l *List[E]) Replace(old, e E) {
	l.detach()
	p := l.find(old)
	l.writable(p.chunk).items[p.item] = e
}

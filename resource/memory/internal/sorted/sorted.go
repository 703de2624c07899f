// Package sorted keeps elements in order, for one writer and many readers.
//
// Its nouns are a [List], which changes; a [View], what a List holds at one moment; and a [Place] in a View. A List is
// made of chunks, each a sorted slice. Taking a View costs nothing and it stays as it is, since the List copies a
// chunk that a View may hold before it changes it.
package sorted

import (
	"slices"
	"sync/atomic"
)

// chunkSize is the most elements a chunk holds: few enough that moving or copying them costs no more than the search
// before it, and enough that the list of chunks stays short.
const chunkSize = 512

// List holds elements in order. Only one goroutine may change it and no other use it meanwhile; reading, and taking a
// Snapshot, many may do at once.
type List[E any] struct {
	compare func(a, b E) int
	live    View[E]
	gen     uint64      // chunks of an older generation may be part of a snapshot
	shared  atomic.Bool // live is part of a snapshot; readers set it concurrently
}

// chunk is a sorted slice that is never empty.
type chunk[E any] struct {
	gen   uint64
	items []E
}

// New returns an empty List in the order that compare gives, which finds no two different elements equal.
func New[E any](compare func(a, b E) int) *List[E] {
	return &List[E]{compare: compare}
}

// Compare compares two elements as the List does.
func (l *List[E]) Compare(a, b E) int { return l.compare(a, b) }

// Live returns what l holds. It must be forgotten before l changes.
func (l *List[E]) Live() View[E] { return l.live }

// Snapshot returns what l holds, and goes on to hold that when l has changed.
func (l *List[E]) Snapshot() View[E] {
	l.shared.Store(true)
	return l.live
}

// detach makes sure that the list of chunks is in no snapshot. Beginning a generation is what makes each chunk copied
// before its next change, and only those that do change.
func (l *List[E]) detach() {
	if l.shared.Load() {
		l.gen++
		l.live.chunks = slices.Clone(l.live.chunks)
		l.shared.Store(false)
	}
}

// own returns the chunk at i, which is in no snapshot from here on.
func (l *List[E]) own(i int) *chunk[E] {
	c := l.live.chunks[i]
	if c.gen != l.gen {
		room := make([]E, 0, min(len(c.items)+16, chunkSize)) // where one write goes there are often more
		c = &chunk[E]{gen: l.gen, items: append(room, c.items...)}
		l.live.chunks[i] = c
	}
	return c
}

// find returns the place of e, or where it would have to go.
func (l *List[E]) find(e E) Place {
	return l.live.Seek(func(other E) bool { return l.compare(other, e) < 0 })
}

// Insert adds an element that is not there yet.
func (l *List[E]) Insert(e E) {
	l.detach()
	p := l.find(e)
	// Behind the last element of all is also behind the last of the last chunk, and there it goes.
	if p == l.live.End() && p.chunk > 0 {
		p = Place{p.chunk - 1, len(l.live.chunks[p.chunk-1].items)}
	}
	if p.chunk == len(l.live.chunks) || len(l.live.chunks[p.chunk].items) == chunkSize {
		p = l.makeRoom(p)
	}
	c := l.own(p.chunk)
	c.items = slices.Insert(c.items, p.item, e)
}

// makeRoom divides the full chunk at p, or begins a new one, and returns what p has become. Behind the last element of
// all it begins a new one, so that elements which arrive in order fill their chunks.
func (l *List[E]) makeRoom(p Place) Place {
	n := len(l.live.chunks)
	if p.chunk == n || p.chunk == n-1 && p.item == chunkSize {
		l.live.chunks = append(l.live.chunks, &chunk[E]{gen: l.gen})
		return Place{n, 0}
	}
	const half = chunkSize / 2
	left := l.own(p.chunk)
	right := &chunk[E]{gen: l.gen, items: slices.Clone(left.items[half:])}
	clear(left.items[half:]) // or it would keep removed elements from being collected
	left.items = left.items[:half]
	l.live.chunks = slices.Insert(l.live.chunks, p.chunk+1, right)
	if p.item > half {
		return Place{p.chunk + 1, p.item - half}
	}
	return p
}

// Remove takes out an element that is there.
func (l *List[E]) Remove(e E) {
	l.detach()
	p := l.find(e)
	c := l.own(p.chunk)
	c.items = slices.Delete(c.items, p.item, p.item+1)
	chunks, next := l.live.chunks, p.chunk+1
	// What shrinks is joined with what follows, so that many removals do not leave a long list of short chunks. Joined at
	// half the size, it will not soon be divided again.
	switch {
	case len(c.items) == 0:
		l.live.chunks = slices.Delete(chunks, p.chunk, next)
	case next < len(chunks) && len(c.items)+len(chunks[next].items) <= chunkSize/2:
		c.items = append(c.items, chunks[next].items...)
		l.live.chunks = slices.Delete(chunks, next, next+1)
	}
}

// Replace puts e in the place of an element that is there and that compares as equal.
func (l *List[E]) Replace(old, e E) {
	l.detach()
	p := l.find(old)
	l.own(p.chunk).items[p.item] = e
}

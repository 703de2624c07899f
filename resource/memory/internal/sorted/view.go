package sorted

import (
	"iter"
	"sort"
)

// View is a sequence of sorted elements. The zero View is empty. No chunk is empty, which Next and
// Seek rely on.
type View[E any] struct {
	chunks []*chunk[E]
}

// Place is the position of an element in a View, or the end. The zero Place is the first. Each
// element has exactly one Place, so Places of one View can be compared.
type Place struct{ chunk, item int }

// Before reports whether p precedes o.
func (p Place) Before(o Place) bool {
	return p.chunk < o.chunk || p.chunk == o.chunk && p.item < o.item
}

// Min returns the earlier of two Places.
func Min(a, b Place) Place {
	if b.Before(a) {
		return b
	}
	return a
}

// Max returns the later of two Places.
func Max(a, b Place) Place {
	if a.Before(b) {
		return b
	}
	return a
}

// End returns the Place after the last element.
func (v View[E]) End() Place { return Place{len(v.chunks), 0} }

// At returns the element at p, which must not be the end.
func (v View[E]) At(p Place) E { return v.chunks[p.chunk].items[p.item] }

// Next returns the Place after p, which must not be the end.
func (v View[E]) Next(p Place) Place {
	if p.item+1 < len(v.chunks[p.chunk].items) {
		return Place{p.chunk, p.item + 1}
	}
	return Place{p.chunk + 1, 0}
}

// Prev returns the Place before p, which must not be the first.
func (v View[E]) Prev(p Place) Place {
	if p.item > 0 {
		return Place{p.chunk, p.item - 1}
	}
	return Place{p.chunk - 1, len(v.chunks[p.chunk-1].items) - 1}
}

// Seek returns the first Place for which before is false. before must be true for a prefix of the
// elements and false for the rest.
func (v View[E]) Seek(before func(E) bool) Place {
	c := sort.Search(len(v.chunks), func(i int) bool {
		items := v.chunks[i].items
		return !before(items[len(items)-1])
	})
	if c == len(v.chunks) {
		return v.End()
	}
	items := v.chunks[c].items
	return Place{c, sort.Search(len(items), func(i int) bool { return !before(items[i]) })}
}

// Count returns the number of elements from one Place up to another. It adds the lengths of the
// chunks in between, so it does not visit the elements.
func (v View[E]) Count(from, to Place) int {
	if !from.Before(to) {
		return 0
	}
	n := to.item - from.item
	for _, c := range v.chunks[from.chunk:to.chunk] {
		n += len(c.items)
	}
	return n
}

// Between yields the elements from one Place up to another, in ascending order or backwards.
func (v View[E]) Between(from, to Place, backwards bool) iter.Seq[E] {
	return func(yield func(E) bool) {
		if !from.Before(to) {
			return
		}
		last := v.Prev(to)
		for i := range last.chunk - from.chunk + 1 {
			at := from.chunk + i
			if backwards {
				at = last.chunk - i
			}
			items := v.chunks[at].items
			if at == last.chunk {
				items = items[:last.item+1]
			}
			if at == from.chunk {
				items = items[from.item:]
			}
			if !yieldAll(items, backwards, yield) {
				return
			}
		}
	}
}

// yieldAll yields the elements of one chunk. It returns false if the consumer has stopped.
func yieldAll[E any](items []E, backwards bool, yield func(E) bool) bool {
	for i := range items {
		if backwards {
			i = len(items) - 1 - i
		}
		if !yield(items[i]) {
			return false
		}
	}
	return true
}

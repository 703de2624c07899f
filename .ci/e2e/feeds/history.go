package main

import (
	"fmt"
	"slices"
	"sync"
)

// item is what the writers know of one thing.
type item struct {
	id   string
	lane int

	mu  sync.Mutex
	n   int    // the newest that is known to have been committed
	tag string // of that
	// removed is of which version a deletion was acknowledged, and doubtful are those of which somebody asked for one, and
	// was not answered.
	removed  int
	doubtful []int
	gone     bool
}

// known returns what to go on from.
func (it *item) known() (n int, tag string) {
	it.mu.Lock()
	defer it.mu.Unlock()
	return it.n, it.tag
}

// saw notes a version that is, or was, there.
func (it *item) saw(n int, tag string) {
	it.mu.Lock()
	defer it.mu.Unlock()
	if n > it.n {
		it.n, it.tag = n, tag
	}
}

// deletedAt notes the deletion of a version.
func (it *item) deletedAt(n int, acknowledged bool) {
	it.mu.Lock()
	defer it.mu.Unlock()
	if acknowledged {
		it.removed, it.gone = n, true
		return
	}
	it.doubtful = append(it.doubtful, n)
}

// history is what happened to an item: it was created as 1, changed up to n, and then deleted, or not.
type history struct {
	id      string
	lane, n int
	deleted bool
	// others are versions of which one may be the last in place of n, as nobody knows which deletion it was.
	others []int
}

// settle says what happened to an item, of which left is the version in the table when all is quiet, and 0 if there is none.
func (it *item) settle(left int) (history, error) {
	it.mu.Lock()
	defer it.mu.Unlock()
	h := history{id: it.id, lane: it.lane, n: left}
	switch {
	case left > 0 && it.removed > 0:
		return h, fmt.Errorf("%s was deleted, and is there", it.id)
	case left > 0 && left < it.n:
		return h, fmt.Errorf("%s is %d, and was %d", it.id, left, it.n)
	case left > 0:
		return h, nil
	}
	h.deleted = true
	last := []int{it.removed}
	if it.removed == 0 {
		last = slices.DeleteFunc(slices.Clone(it.doubtful), func(n int) bool { return n < it.n })
		slices.Sort(last)
		last = slices.Compact(last)
	}
	if len(last) == 0 || last[0] < it.n {
		return h, fmt.Errorf("%s was %d, is not there, and nobody has deleted that", it.id, it.n)
	}
	h.n, h.others = last[0], last[1:]
	return h, nil
}

// key names one thing that is to be heard of an item. Of deletions, which bring no version, n is how many there were before.
type key struct {
	kind string
	n    int
}

// expected is what a history looks like in a view.
func (h history) expected(v view) []key {
	if v.lane != 0 && v.lane != h.lane {
		return nil
	}
	var keys []key
	if !v.open {
		keys = append(keys, key{created, 1})
		for n := 2; n <= h.n; n++ {
			keys = append(keys, key{updated, n})
		}
		if h.deleted {
			keys = append(keys, key{deleted, 0})
		}
		return keys
	}
	left := 0
	for n := 1; n <= h.n; n++ {
		if n%2 == 1 {
			keys = append(keys, key{created, n})
			continue
		}
		keys = append(keys, key{deleted, left})
		left++
	}
	if h.deleted && h.n%2 == 1 {
		keys = append(keys, key{deleted, left})
	}
	return keys
}

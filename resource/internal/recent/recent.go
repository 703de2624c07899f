// Package recent remembers the newest values of a stream, so that what repeats is logged once.
package recent

import "sync"

// Set has the last 64 distinct values that were added. The zero value is empty and ready. It is
// safe for concurrent use, and must not be copied.
type Set[T comparable] struct {
	mu     sync.Mutex
	values [64]T
	n      int // how many have been added; the next replaces the oldest
}

// Add adds v, and reports whether it was not in the set.
func (s *Set[T]) Add(v T) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range min(s.n, len(s.values)) {
		if s.values[i] == v {
			return false
		}
	}
	s.values[s.n%len(s.values)] = v
	s.n++
	return true
}

// Package deleted remembers the ids that were deleted last, up to a number of them. Package resource and
// package blob use it for stores that do not record deletions.
package deleted

import (
	"container/list"
	"sync"
)

// Default is how many ids are remembered if the application sets no number.
const Default = 10_000

// IDs is a set of ids. A nil IDs is empty and stays empty. It is safe for concurrent use.
type IDs struct {
	mu    sync.Mutex
	most  int
	byID  map[string]*list.Element
	order list.List // of strings, the one that was added last first
}

// New returns an empty set of at most most ids. Zero means Default; if most is negative, New returns
// nil.
func New(most int) *IDs {
	switch {
	case most < 0:
		return nil
	case most == 0:
		most = Default
	}
	return &IDs{most: most, byID: map[string]*list.Element{}}
}

// Add adds an id. If there are too many, it removes the one that was added first.
func (s *IDs) Add(id string) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.byID[id]; e != nil {
		s.order.MoveToFront(e)
		return
	}
	s.byID[id] = s.order.PushFront(id)
	if len(s.byID) > s.most {
		delete(s.byID, s.order.Remove(s.order.Back()).(string))
	}
}

// Has reports whether the set contains an id.
func (s *IDs) Has(id string) bool {
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byID[id] != nil
}

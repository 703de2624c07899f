// Package deleted remembers the ids that were deleted last, up to a number of them. Package resource and
// package blob use it for stores that do not record deletions.
package deleted

import (
	"container/list"
	"strings"
	"sync"
)

// Default is how many ids are remembered if the application sets no number.
const Default = 10_000

// IDs is a set of ids. A nil IDs is empty and stays empty. It is safe for concurrent use.
type IDs struct {
	mu    sync.Mutex
	most  int
	byID  map[string]*list.Element
	order list.List // of *entry, the one that was added last first
}

// entry is an id in the set.
type entry struct {
	id      string
	pending int  // the number of deletions that have begun and not ended
	deleted bool // a deletion has been committed
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

// Begin adds an id just before it is deleted. A reader that does not find the item any more then
// finds the id. If there are too many ids, Begin removes the one that was added first.
//
// The caller calls End with the outcome of the deletion. If the outcome is unknown it does not call
// End, and the id remains.
func (s *IDs) Begin(id string) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if at := s.byID[id]; at != nil {
		at.Value.(*entry).pending++
		s.order.MoveToFront(at)
		return
	}
	id = strings.Clone(id) // it may be a part of a long URL
	s.byID[id] = s.order.PushFront(&entry{id: id, pending: 1})
	if len(s.byID) > s.most {
		s.remove(s.order.Back())
	}
}

// End reports the outcome of a deletion. If it has failed, End removes the id, unless another deletion
// of it is pending or was successful.
func (s *IDs) End(id string, deleted bool) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.byID[id]
	if at == nil {
		return // there were too many ids since
	}
	e := at.Value.(*entry)
	e.pending = max(e.pending-1, 0)
	e.deleted = e.deleted || deleted
	if e.pending == 0 && !e.deleted {
		s.remove(at)
	}
}

// remove removes an entry.
func (s *IDs) remove(at *list.Element) { delete(s.byID, s.order.Remove(at).(*entry).id) }

// Has reports whether the set contains an id.
func (s *IDs) Has(id string) bool {
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byID[id] != nil
}

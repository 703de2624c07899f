package feed

import (
	"sync"
	"sync/atomic"
	"time"
)

// Kind is what happened to an item.
type Kind uint8

// The kinds.
const (
	Bookmark Kind = iota // nothing: it says how far the listener has come, so that its cursor does not grow old
	Created
	Updated
	Deleted
)

// String returns the name of the kind, in small letters.
func (k Kind) String() string {
	names := [...]string{"bookmark", "created", "updated", "deleted"}
	if int(k) < len(names) {
		return names[k]
	}
	return "no kind"
}

// Event is one change to one item. It is shared by all who listen, so nobody changes what it refers to, and it is not
// copied.
type Event struct {
	Kind Kind
	// Collection is the name of the resource whose item it is: the newest shape's, not that of a view.
	Collection string
	// ID is that of the item, and Rev the revision that the change left; of what was deleted, the last that it had.
	ID, Rev string
	// Before and After are the item as it was and as it is, in JSON as the collection holds it, so that policy and filters can
	// judge the change: Before is nil for what was created, and After for what was deleted.
	Before, After []byte
	// Time is when the event was appended, by the clock of who appended it: the log sets it where it is zero.
	Time time.Time
	// Cursor is the place right behind the event. The log sets it.
	Cursor Cursor

	memos memos
}

// clone returns the event as somebody else may share it: without its memos.
func (e *Event) clone() *Event {
	return &Event{Kind: e.Kind, Collection: e.Collection, ID: e.ID, Rev: e.Rev, Before: e.Before, After: e.After, Time: e.Time}
}

// size is about how much memory the event takes.
func (e *Event) size() int64 {
	const fields = 320
	return fields + int64(len(e.Collection)+len(e.ID)+len(e.Rev)+len(e.Before)+len(e.After))
}

// Memo returns what made returned when Memo was called first with this key: what many listeners need of an event is so made
// once for all of them, such as the item decoded or a frame encoded. Keys are compared with ==. It is safe for concurrent
// use, and what waits for the first does so until made returns; if that panics, the next one calls its own.
//
// An event keeps 64 of them. What is asked for beyond is made each time. When an event has left the newest eighth of the ring
// its values with a method Forget are told to: what clients chose to hear would else take many times the room of the ring.
func (e *Event) Memo(key any, made func() any) any { return e.memos.memo(key, made) }

// maxMemos bounds what is kept with an event, as clients may have a say in the keys.
const maxMemos = 64

// memos are what was made of an event, by key.
type memos struct {
	first atomic.Pointer[memo]
	kept  atomic.Int32
	old   atomic.Bool // an event: values that can forget do; a change: nothing more is kept
}

// age tells values to forget what they keep, also those that are yet to be made.
func (s *memos) age() {
	s.old.Store(true)
	for m := s.first.Load(); m != nil; m = m.next {
		if m.done.Load() {
			m.forget()
		}
	}
}

func (s *memos) memo(key any, made func() any) any {
	first := s.first.Load()
	if m := first.find(key, nil); m != nil {
		return m.get(s, made)
	}
	if s.kept.Add(1) > maxMemos {
		s.kept.Add(-1)
		return made()
	}
	added := &memo{key: key}
	for {
		added.next = first
		if s.first.CompareAndSwap(first, added) {
			return added.get(s, made)
		}
		known := first
		first = s.first.Load()
		if m := first.find(key, known); m != nil { // somebody else was faster
			s.kept.Add(-1)
			return m.get(s, made)
		}
	}
}

// memo is what was made for one key, in a list that only grows: reading it takes no lock.
type memo struct {
	key  any
	next *memo

	done  atomic.Bool
	mu    sync.Mutex // held by who makes it
	value any
}

// find returns the memo of a key, if it is before end.
func (m *memo) find(key any, end *memo) *memo {
	for ; m != end && m != nil; m = m.next {
		if m.key == key {
			return m
		}
	}
	return nil
}

func (m *memo) get(s *memos, made func() any) any {
	if m.done.Load() {
		return m.value
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.done.Load() {
		m.value = made()
		m.done.Store(true)
		if s.old.Load() { // looked at behind done, as age looks at done behind old
			m.forget()
		}
	}
	return m.value
}

func (m *memo) forget() {
	if f, ok := m.value.(interface{ Forget() }); ok {
		f.Forget()
	}
}

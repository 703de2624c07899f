package feed

// Events, and the values that subscribers of an event share.

import (
	"sync"
	"sync/atomic"
	"time"
)

// Kind is the kind of an [Event]. The zero value is Bookmark.
type Kind uint8

// The kinds of events.
const (
	// not a change; carries the current cursor of the subscriber, so that it does not expire
	Bookmark Kind = iota
	Created
	Updated
	Deleted
)

// String returns the name of the kind in lower case, such as "created".
func (k Kind) String() string {
	names := [...]string{"bookmark", "created", "updated", "deleted"}
	if int(k) < len(names) {
		return names[k]
	}
	return "unknown kind"
}

// Event is one change to one item. All subscribers share it: do not modify it or what its fields
// refer to, and do not copy it.
type Event struct {
	Kind Kind
	// Collection is the name of the resource. For a view it is the name of the resource that the
	// view was made from.
	Collection string
	// ID identifies the item. Rev is its revision after the change; for a deletion it is the last
	// revision before it.
	ID, Rev string
	// Before and After are the JSON documents of the item before and after the change, in the type
	// of the collection and without writeOnly members. Authorization and filters are evaluated on
	// both. Before is nil for Created, After is nil for Deleted.
	Before, After []byte
	// Schema identifies the type of the items: schema.Type.Fingerprint in the program that has
	// appended the event. A program with another type, such as the next release during a rolling
	// deployment, reads the item from the collection, because Before and After lack the fields that
	// the writer did not have. Empty means the type of the reader.
	Schema string
	// Time is when the event was appended. If it is zero, the log stores the time of its own clock.
	Time time.Time
	// Cursor is the position after the event, in events that the log returns.
	Cursor Cursor

	memos memoTable
}

// clone returns a copy of the event without its memos.
func (e *Event) clone() *Event {
	return &Event{
		Kind:       e.Kind,
		Collection: e.Collection,
		ID:         e.ID,
		Rev:        e.Rev,
		Before:     e.Before,
		After:      e.After,
		Schema:     e.Schema,
		Time:       e.Time,
	}
}

// size returns an estimate of the event's memory in bytes.
func (e *Event) size() int64 {
	const fields = 320
	return fields + int64(len(e.Collection)+len(e.ID)+len(e.Rev)+len(e.Before)+len(e.After)+len(e.Schema))
}

// Memo returns the cached value of key, or calls made and caches its result. Subscribers use it to
// share work on an event, such as a decoded item or an encoded frame. Keys are compared with ==.
// Memo is safe for concurrent use: made runs once per key while other callers of that key wait. If
// made panics, the next caller runs its own.
//
// An event caches at most 64 keys; beyond that made runs on each call. Once the event has left the
// newest eighth of the ring, cached values that have a method Forget() are called with it. Without
// that, values that depend on requests of clients could take much more memory than the ring.
func (e *Event) Memo(key any, made func() any) any { return e.memos.lookup(key, made) }

// maxMemos limits the cached values of an event, because keys may depend on requests.
const maxMemos = 64

// memoTable caches values by key. It is a list without locks on the read path.
type memoTable struct {
	first atomic.Pointer[memoEntry]
	kept  atomic.Int32
	// old makes an Event call Forget on new values, and makes a Change cache no more values.
	old atomic.Bool
}

// age calls Forget on all cached values. Values that are added later are released by get.
func (s *memoTable) age() {
	s.old.Store(true)
	for m := s.first.Load(); m != nil; m = m.next {
		if m.done.Load() {
			m.release()
		}
	}
}

// lookup returns the value of a key and makes it on first use. It takes no lock to find a known
// key, because every subscriber looks up the same few keys for each event. Beyond maxMemos the
// value is made for each caller.
func (s *memoTable) lookup(key any, made func() any) any {
	first := s.first.Load()
	if m := first.find(key, nil); m != nil {
		return m.get(s, made)
	}
	if s.kept.Add(1) > maxMemos {
		s.kept.Add(-1)
		return made()
	}
	added := &memoEntry{key: key}
	for {
		added.next = first
		if s.first.CompareAndSwap(first, added) {
			return added.get(s, made)
		}
		known := first
		first = s.first.Load()
		if m := first.find(key, known); m != nil { // another goroutine has added the key
			s.kept.Add(-1)
			return m.get(s, made)
		}
	}
}

// memoEntry is one cached value, in a list that only grows.
type memoEntry struct {
	key  any
	next *memoEntry

	done atomic.Bool
	// mu is held while the value is made.
	mu    sync.Mutex
	value any
}

// find returns the memo of key if the list has it before end, or nil.
func (m *memoEntry) find(key any, end *memoEntry) *memoEntry {
	for ; m != end && m != nil; m = m.next {
		if m.key == key {
			return m
		}
	}
	return nil
}

// get returns the value, which one caller makes while the others wait.
func (m *memoEntry) get(s *memoTable, made func() any) any {
	if m.done.Load() {
		return m.value
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.done.Load() {
		m.value = made()
		m.done.Store(true)
		if s.old.Load() { // get sets done before it reads old, and age sets old before it reads done
			m.release()
		}
	}
	return m.value
}

// release lets a value return its memory to a pool.
func (m *memoEntry) release() {
	if f, ok := m.value.(interface{ Forget() }); ok {
		f.Forget()
	}
}

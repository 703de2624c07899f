package feed

// The most recent events in memory. tailer.go appends to it, and subscriber.go follows it.

import (
	"cmp"
	"slices"
	"sync/atomic"
)

// ring holds the most recent events of a log, between two positions. [Feed].mu guards it, except
// for the atomic fields: subscribers walk from event to event without a lock.
type ring struct {
	start, end Cursor
	events     []*node // in order; used as a deque
	bytes      int64
	// fresh is how many of the newest events keep values with a Forget method, and freshBytes is
	// their size.
	fresh      int
	freshBytes int64

	maxEvents int
	maxBytes  int64
	lists     map[string]*eventList

	// evicted follows a node if the event after it has been evicted from the ring. A node therefore
	// refers to at most one other node, and a slow subscriber does not keep evicted events in
	// memory. It never changes.
	evicted *node
}

func newRing(events int, bytes int64) ring {
	return ring{maxEvents: events, maxBytes: bytes, lists: map[string]*eventList{}, evicted: &node{}}
}

// eventList lists the events of one collection in the ring.
type eventList struct {
	// before precedes the oldest event in the ring: an evicted node or an empty one.
	before *node
	newest *node // equal to before if the collection has no events
	// wake is closed and replaced when the collection has a new event.
	wake atomic.Pointer[chan struct{}]
	// subscribers counts the subscribers.
	subscribers atomic.Int64
}

// node is an event in the list of its collection. A subscriber at a node follows next, waits if it
// is nil, or reads the log if it is evicted.
type node struct {
	event *Event
	list  *eventList
	next  atomic.Pointer[node]
}

func (n *node) seq() uint64 {
	if n.event == nil {
		return 0
	}
	return n.event.Cursor.Seq
}

// list returns the list of a collection, and creates it if needed.
func (r *ring) list(name string) *eventList {
	c := r.lists[name]
	if c == nil {
		c = &eventList{before: &node{}}
		c.newest = c.before
		wake := make(chan struct{})
		c.wake.Store(&wake)
		r.lists[name] = c
	}
	return c
}

// add appends events up to the position end and evicts the oldest. It does not wake subscribers.
func (r *ring) add(events []*Event, end Cursor) {
	for _, e := range events {
		c := r.list(e.Collection)
		n := &node{event: e, list: c}
		c.newest.next.Store(n)
		c.newest = n
		r.events = append(r.events, n)
		r.bytes += e.size()
		r.fresh, r.freshBytes = r.fresh+1, r.freshBytes+e.size()
	}
	r.end = end
	for r.fresh > 1 && (r.fresh > r.maxEvents/8 || r.freshBytes > r.maxBytes/8) {
		e := r.events[len(r.events)-r.fresh].event
		e.memos.age()
		r.fresh, r.freshBytes = r.fresh-1, r.freshBytes-e.size()
	}
	drop := 0
	for len(r.events)-drop > 1 && (len(r.events)-drop > r.maxEvents || r.bytes > r.maxBytes) {
		r.evict(r.events[drop])
		drop++
	}
	clear(r.events[:drop])
	r.events = r.events[drop:]
}

// evict evicts the oldest event from its list. A subscriber that has reached the node can continue
// from it, but no other reaches it.
func (r *ring) evict(n *node) {
	c := n.list
	c.before.next.Store(r.evicted)
	c.before = n
	r.bytes -= n.event.size()
	r.start = n.event.Cursor
}

// reset empties the ring and starts it at a position, because the previous events do not belong to
// the log any more. It wakes all subscribers; they find that their node has no successor.
func (r *ring) reset(at Cursor) {
	for _, c := range r.lists {
		for n := c.before; n != nil && n != r.evicted; {
			n = n.next.Swap(r.evicted)
		}
		c.before = &node{}
		c.newest = c.before
	}
	clear(r.events)
	r.events, r.bytes = r.events[:0], 0
	r.fresh, r.freshBytes = 0, 0
	r.start, r.end = at, at
	r.wakeAll()
}

// wakeAll wakes the subscribers of all collections.
func (r *ring) wakeAll() {
	for _, c := range r.lists {
		c.wakeSubscribers()
	}
}

func (c *eventList) wakeSubscribers() {
	if c.subscribers.Load() == 0 {
		return
	}
	wake := make(chan struct{})
	close(*c.wake.Swap(&wake))
}

// location is where a cursor is, relative to the ring.
type location int

const (
	inRing     location = iota
	beforeRing          // before the oldest event of the ring
	afterRing           // after the end of the ring, or in another epoch
	notInRing           // within the range of the ring, but not a position of it
)

// locate returns the location of a cursor, and the node to continue from if it is within the ring.
func (r *ring) locate(at Cursor, c *eventList) (*node, location) {
	switch {
	case at.Epoch != r.end.Epoch || at.Seq > r.end.Seq:
		return nil, afterRing
	case at.Seq < r.start.Seq:
		return nil, beforeRing
	case !r.contains(at):
		return nil, notInRing
	case c.newest.seq() <= at.Seq:
		return c.newest, inRing
	}
	n := c.before
	for next := n.next.Load(); next.seq() <= at.Seq; next = n.next.Load() {
		n = next
	}
	return n, inRing
}

// contains reports whether a cursor between start and end is a position of the ring.
func (r *ring) contains(at Cursor) bool {
	if at == r.start || at == r.end {
		return true
	}
	i, found := slices.BinarySearchFunc(r.events, at.Seq, func(n *node, seq uint64) int {
		return cmp.Compare(n.seq(), seq)
	})
	return found && r.events[i].event.Cursor == at
}

package feed

import (
	"cmp"
	"slices"
	"sync/atomic"
)

// ring holds the newest events of a log, all between two places. Feed.mu guards it, but for what is atomic: those who
// listen go from event to event without a lock.
type ring struct {
	start, end Cursor
	events     []*node // in order; a deque
	bytes      int64
	fresh      int // of the events, the newest: those that keep what was made for listeners
	freshBytes int64

	maxEvents   int
	maxBytes    int64
	collections map[string]*collection

	// gone is what follows a node when the event that followed it is not in the ring any more. So a node holds on to one other
	// at most, and a listener that stands still does not keep in memory what came after. It is always the same.
	gone *node
}

func newRing(events int, bytes int64) ring {
	return ring{maxEvents: events, maxBytes: bytes, collections: map[string]*collection{}, gone: &node{}}
}

// collection is the part of the ring that is about one collection: a list of its events.
type collection struct {
	before *node // the node before the oldest event in the ring: one that was in it, or an empty one
	newest *node // before, if there is none
	// wake is closed when something happens in the collection, and another takes its place.
	wake    atomic.Pointer[chan struct{}]
	waiting atomic.Int64 // how many listen
}

// node is an event in the list of its collection. Who has come to a node finds the next there, or waits for it, or finds
// that it is gone.
type node struct {
	event *Event
	of    *collection
	next  atomic.Pointer[node]
}

func (n *node) seq() uint64 {
	if n.event == nil {
		return 0
	}
	return n.event.Cursor.Seq
}

// of returns the part of a collection.
func (r *ring) of(name string) *collection {
	c := r.collections[name]
	if c == nil {
		c = &collection{before: &node{}}
		c.newest = c.before
		wake := make(chan struct{})
		c.wake.Store(&wake)
		r.collections[name] = c
	}
	return c
}

// add adds events up to a place, and drops the oldest. It wakes nobody.
func (r *ring) add(events []*Event, end Cursor) {
	for _, e := range events {
		c := r.of(e.Collection)
		n := &node{event: e, of: c}
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
		r.drop(r.events[drop])
		drop++
	}
	clear(r.events[:drop])
	r.events = r.events[drop:]
}

// drop takes the oldest event out of its list. Whoever has come to it can go on, but nobody comes to it any more.
func (r *ring) drop(n *node) {
	c := n.of
	c.before.next.Store(r.gone)
	c.before = n
	r.bytes -= n.event.size()
	r.start = n.event.Cursor
}

// begin empties the ring at a place, as the events before it are not those of the log any more, and wakes all, who find
// that nothing goes on where they are.
func (r *ring) begin(at Cursor) {
	for _, c := range r.collections {
		for n := c.before; n != nil && n != r.gone; {
			n = n.next.Swap(r.gone)
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

func (r *ring) wakeAll() {
	for _, c := range r.collections {
		c.wakeUp()
	}
}

func (c *collection) wakeUp() {
	if c.waiting.Load() == 0 {
		return
	}
	wake := make(chan struct{})
	close(*c.wake.Swap(&wake))
}

// place is where a cursor is, seen from the ring.
type place int

const (
	within  place = iota
	behind        // the ring begins after it
	ahead         // the ring ends before it, or is of another epoch
	nowhere       // the ring goes past it and does not know it
)

// find says where a cursor is, and from which node on to listen if it is within the ring.
func (r *ring) find(at Cursor, c *collection) (*node, place) {
	switch {
	case at.Epoch != r.end.Epoch || at.Seq > r.end.Seq:
		return nil, ahead
	case at.Seq < r.start.Seq:
		return nil, behind
	case !r.knows(at):
		return nil, nowhere
	case c.newest.seq() <= at.Seq:
		return c.newest, within
	}
	n := c.before
	for next := n.next.Load(); next.seq() <= at.Seq; next = n.next.Load() {
		n = next
	}
	return n, within
}

// knows reports whether a place between start and end is one.
func (r *ring) knows(at Cursor) bool {
	if at == r.start || at == r.end {
		return true
	}
	i, found := slices.BinarySearchFunc(r.events, at.Seq, func(n *node, seq uint64) int {
		return cmp.Compare(n.seq(), seq)
	})
	return found && r.events[i].event.Cursor == at
}

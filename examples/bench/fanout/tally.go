package main

// Counting of deliveries. Clients call receive concurrently for each message, so it takes no lock:
// the round is replaced as a whole, and its counter is atomic.

import (
	"bytes"
	"fmt"
	"sync/atomic"
	"time"
)

// tally counts which subscribers have received the changes that were made.
type tally struct {
	made   int                    // changes
	round  atomic.Pointer[round]  // the current one
	sample atomic.Pointer[string] // a message
}

// round is a sequence of changes. A subscriber that has received the last one has received all,
// because messages are ordered. Late messages of an earlier round have another note.
type round struct {
	last []byte        // the note of the last change
	left atomic.Int64  // subscribers that have not received it
	all  chan struct{} // closed when left is 0
}

// begin starts a round. It is called before its changes are made.
func (t *tally) begin(times, subscribers int) *round {
	t.made += times
	r := &round{last: []byte(note(t.made)), all: make(chan struct{})}
	r.left.Store(int64(subscribers))
	t.round.Store(r)
	return r
}

// receive is called with each message to a subscriber.
func (t *tally) receive(text []byte) {
	if t.sample.Load() == nil && bytes.Contains(text, []byte(eventMember)) {
		sample := string(text)
		t.sample.Store(&sample)
	}
	// Only the last change of a round contains its note, so each subscriber decrements once.
	if r := t.round.Load(); r != nil && bytes.Contains(text, r.last) && r.left.Add(-1) == 0 {
		close(r.all)
	}
}

// join waits until all subscriptions have started. Only a received change shows that, so join makes
// one, and another if it was too early or the machine is busy.
func (t *tally) join(subscribers int, change func(times int) error, failed <-chan error) error {
	for wait := 500 * time.Millisecond; wait < 5*time.Minute; wait *= 2 {
		r := t.begin(1, subscribers)
		if err := change(1); err != nil {
			return err
		}
		select {
		case <-r.all:
			return nil
		case err := <-failed:
			return err
		case <-time.After(wait):
		}
	}
	return fmt.Errorf("not all of %d subscribers receive changes", subscribers)
}

package main

import (
	"bytes"
	"fmt"
	"sync/atomic"
	"time"
)

// tally knows which changes were made, and who was told of them.
type tally struct {
	made   int // changes
	round  atomic.Pointer[round]
	sample atomic.Pointer[string] // a message
}

// round is some changes, one after the other. Who was told of the last was told of all; what comes late of those before has
// another note.
type round struct {
	last []byte       // the note of the last change
	left atomic.Int64 // subscribers that were not told of it
	all  chan struct{}
}

// begin is called before changes are made of which so many subscribers are to be told.
func (t *tally) begin(times, subscribers int) *round {
	t.made += times
	r := &round{last: []byte(note(t.made)), all: make(chan struct{})}
	r.left.Store(int64(subscribers))
	t.round.Store(r)
	return r
}

// hear is called with each message to a subscriber.
func (t *tally) hear(text []byte) {
	if t.sample.Load() == nil && bytes.Contains(text, []byte(told)) {
		sample := string(text)
		t.sample.Store(&sample)
	}
	if r := t.round.Load(); r != nil && bytes.Contains(text, r.last) && r.left.Add(-1) == 0 {
		close(r.all)
	}
}

// join waits until so many subscribers are told of changes. That a subscription has begun shows only when it tells of something, so a
// change is made, and another if it was too early, or the machine has had something else to do.
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
	return fmt.Errorf("not all of %d subscribers are told of changes", subscribers)
}

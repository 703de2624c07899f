package main

import "slices"

// An event is a request to one thing and what came of it. Begin and end are moments of one clock that never stands
// still: what ended before another began has happened before it.
type event struct {
	begin, end int64
	do         action
	token      string // what a put brings
	result     result
	saw        string // the token that a get returned
}

type (
	action byte
	result byte
)

const (
	put    action = iota // creates it, if it is not there
	remove               // deletes it
	get
)

const (
	done    result = iota
	exists         // refused: it is there
	missing        // refused: it is not there
	gone           // refused: it was there once
	open           // nobody knows; it may happen at any time after begin, or never
)

// state is what can be known of a thing.
type state struct {
	token string // empty: it is not there
	died  bool   // it was there before
}

// after returns the state that an event leaves behind, and whether the event can happen in s with the result it had.
// A thing that died may be created anew or not: that is for the shop to say.
func (e event) after(s state) (state, bool) {
	there := s.token != ""
	switch e.do {
	case put:
		switch e.result {
		case done, open:
			return state{e.token, s.died}, !there
		case exists:
			return s, there
		case gone:
			return s, !there && s.died
		}
	case remove:
		if e.result == done || e.result == open {
			return state{died: true}, there
		}
		return s, e.absent(s)
	case get:
		if e.result == done {
			return s, there && s.token == e.saw
		}
		return s, e.absent(s)
	}
	return s, false
}

func (e event) absent(s state) bool {
	return s.token == "" && (e.result == gone && s.died || e.result == missing && !s.died)
}

// possible reports whether the events can have happened one after the other, each at some moment between its begin and
// its end: whether they are linearizable. There may be 64 at most.
func possible(events []event) bool {
	tried := map[search]bool{}
	var from func(search) bool
	from = func(at search) bool {
		if tried[at] {
			return false
		}
		tried[at] = true
		limit := earliestEnd(events, at.happened)
		if limit == never {
			return true // what is left is open, and need not happen
		}
		for i, e := range events {
			if at.happened&(1<<i) != 0 || e.begin > limit {
				continue
			}
			if s, ok := e.after(at.state); ok && from(search{at.happened | 1<<i, s}) {
				return true
			}
		}
		return false
	}
	return from(search{})
}

// search is how far an order of events has come: which of them have happened, and what they left.
type search struct {
	happened uint64
	state    state
}

const never = int64(1) << 62

// earliestEnd is the moment by which the next event has to happen.
func earliestEnd(events []event, happened uint64) int64 {
	limit := never
	for i, e := range events {
		if happened&(1<<i) == 0 && e.result != open {
			limit = min(limit, e.end)
		}
	}
	return limit
}

// withoutLast returns the events but the last of them.
func withoutLast(events []event) []event { return slices.Clone(events[:len(events)-1]) }

package natsfeed

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/stoa-go/stoa/resource/feed"
)

// windowBytes limits the memory of the window, in addition to Options.Events.
const windowBytes = 16 << 20

// window holds the most recent events of the stream, without gaps. It is safe for concurrent use.
type window struct {
	maxEvents int

	mu      sync.Mutex
	trusted bool        // the log has confirmed that the end is one of its positions
	floor   feed.Cursor // the position before the first event; zero if unknown
	events  []*feed.Event
	sizes   []int // of the messages
	bytes   int
	first   uint64    // the sequence number of the first event; the others follow without a gap
	moved   time.Time // when the last event was added
	// The last position that the log has purged: messages up to it are dropped when they arrive.
	purged feed.Cursor
}

// next returns the sequence number of the next message, or 0 if it is unknown.
func (w *window) next() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.first + uint64(len(w.events))
}

// end returns the cursor of the newest event, and whether it is trusted.
func (w *window) end() (feed.Cursor, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last(), w.trusted
}

// last returns the cursor of the newest event, or the floor if there is none. The caller holds mu.
func (w *window) last() feed.Cursor {
	if n := len(w.events); n > 0 {
		return w.events[n-1].Cursor
	}
	return w.floor
}

// restart empties the window; the next message has the given sequence number.
func (w *window) restart(seq uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reset(feed.Cursor{}, seq)
}

// invalidate empties the window and stops its use.
func (w *window) invalidate() { w.restart(0) }

// reset empties the window. The next message follows floor and has the sequence number seq, 0 if it
// is unknown. The new end is not trusted until the log has confirmed it.
func (w *window) reset(floor feed.Cursor, seq uint64) {
	w.trusted, w.floor, w.first = false, floor, seq
	w.events, w.sizes, w.bytes = nil, nil, 0
}

// trust records whether the log has the end of the window. end is compared, because the window may
// have changed while the log was read.
func (w *window) trust(end feed.Cursor, is bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.last() == end {
		w.trusted = is
	}
}

// add appends the event of a message. If it does not follow the last one, the window restarts
// before it.
func (w *window) add(m *message) {
	w.mu.Lock()
	defer w.mu.Unlock()
	// A gap in the sequence numbers is a removed message; one in the cursors a replaced stream.
	if m.after != w.last() || m.seq != w.first+uint64(len(w.events)) {
		w.reset(m.after, m.seq)
	}
	w.events, w.sizes, w.bytes = append(w.events, m.event), append(w.sizes, m.size), w.bytes+m.size
	w.moved = time.Now()
	for len(w.events) > 1 && (len(w.events) > w.maxEvents || w.bytes > windowBytes) {
		w.drop(1)
	}
	w.dropPurged()
}

// dropPurged drops purged events, also if they were purged before they were added.
func (w *window) dropPurged() {
	for len(w.events) > 0 {
		first := w.events[0].Cursor
		if first.Epoch != w.purged.Epoch || first.Seq > w.purged.Seq {
			return
		}
		w.drop(1)
	}
}

// drop removes the n oldest events. It clears them, because the array would keep them
// in memory.
func (w *window) drop(n int) {
	for i := range n {
		w.bytes -= w.sizes[i]
		w.floor = w.events[i].Cursor
	}
	clear(w.events[:n])
	w.events, w.sizes, w.first = w.events[n:], w.sizes[n:], w.first+uint64(n)
}

// location is the location of a position relative to the window.
type location int

const (
	notInWindow location = iota // read the log
	inWindow
	beforeWindow // before the window; the stream may have it
)

// after returns at most max events after a position, up to and including the log's number until.
func (w *window) after(at feed.Cursor, until uint64, max int) ([]*feed.Event, location) {
	w.mu.Lock()
	defer w.mu.Unlock()
	last := w.last()
	switch {
	case !w.trusted || at.Epoch != last.Epoch || at.Seq > last.Seq || until > last.Seq && until != noLimit:
		return nil, notInWindow
	case at.Seq < w.floor.Seq:
		return nil, beforeWindow
	}
	from := 0
	if at != w.floor {
		// A position between two events is not one of the log: numbers may have gaps.
		i, found := w.find(at.Seq)
		if !found || w.events[i].Cursor != at {
			return nil, notInWindow
		}
		from = i + 1
	}
	to, found := w.find(until)
	if found {
		to++
	}
	if from >= to || max <= 0 {
		return nil, inWindow
	}
	return slices.Clone(w.events[from:][:min(max, to-from)]), inWindow
}

// find searches for the event with a number of the log.
func (w *window) find(seq uint64) (int, bool) {
	return slices.BinarySearchFunc(w.events, seq,
		func(e *feed.Event, seq uint64) int { return cmp.Compare(e.Cursor.Seq, seq) })
}

// contradicts reports whether the window has another message at the sequence number of m. It
// returns false for messages older than the window.
func (w *window) contradicts(m *message) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if m.seq < w.first || m.seq >= w.first+uint64(len(w.events)) {
		return false
	}
	return w.events[m.seq-w.first].Cursor != m.at
}

// trim drops events up to and including a purged position.
func (w *window) trim(purged feed.Cursor) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.purged = purged
	w.dropPurged()
}

// silent reports whether no event was added for d. It does not know whether there was nothing to
// add.
func (w *window) silent(d time.Duration) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Since(w.moved) >= d
}

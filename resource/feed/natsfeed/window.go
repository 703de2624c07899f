package natsfeed

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/stoa-go/stoa/resource/feed"
)

// windowBytes bounds what the window holds, beside Options.Events.
const windowBytes = 16 << 20

// window is the end of the stream, in memory: events of which each follows the one before. It is safe for concurrent use.
type window struct {
	maxEvents int

	mu      sync.Mutex
	trusted bool        // the log has confirmed that this is its end, or was
	floor   feed.Cursor // the place before the first event; zero if nothing is known
	events  []*feed.Event
	sizes   []int // of the messages
	bytes   int
	first   uint64    // of the stream: the number of the first event, which the others follow without a gap
	moved   time.Time // when the last event came
	purged  feed.Cursor
}

// next is the number of the message that has to follow; 0 if nothing is known.
func (w *window) next() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.first + uint64(len(w.events))
}

// end is the place of the newest event.
func (w *window) end() (feed.Cursor, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last(), w.trusted
}

func (w *window) last() feed.Cursor {
	if n := len(w.events); n > 0 {
		return w.events[n-1].Cursor
	}
	return w.floor
}

// begin empties the window, before a message with a number.
func (w *window) begin(seq uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reset(feed.Cursor{}, seq)
}

// forget empties the window: it is not asked any more.
func (w *window) forget() { w.begin(0) }

func (w *window) reset(floor feed.Cursor, seq uint64) {
	w.trusted, w.floor, w.first = false, floor, seq
	w.events, w.sizes, w.bytes = nil, nil, 0
}

// trust notes what the log says of the end.
func (w *window) trust(end feed.Cursor, is bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.last() == end {
		w.trusted = is
	}
}

// add adds the event of a message. Where it does not follow the last one, the window begins anew before it.
func (w *window) add(m *message) {
	w.mu.Lock()
	defer w.mu.Unlock()
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

// dropPurged drops what was purged, also where that was before it came.
func (w *window) dropPurged() {
	for len(w.events) > 0 && w.events[0].Cursor.Epoch == w.purged.Epoch && w.events[0].Cursor.Seq <= w.purged.Seq {
		w.drop(1)
	}
}

func (w *window) drop(n int) {
	for i := range n {
		w.bytes -= w.sizes[i]
		w.floor = w.events[i].Cursor
	}
	clear(w.events[:n])
	w.events, w.sizes, w.first = w.events[n:], w.sizes[n:], w.first+uint64(n)
}

// where is a place, seen from the window.
type where int

const (
	elsewhere where = iota // the log has to be asked
	inside
	behind // the window begins after it, and the stream may have it
)

// after returns events behind a place, up to and with a number, at most max.
func (w *window) after(at feed.Cursor, until uint64, max int) ([]*feed.Event, where) {
	w.mu.Lock()
	defer w.mu.Unlock()
	last := w.last()
	switch {
	case !w.trusted || at.Epoch != last.Epoch || at.Seq > last.Seq || until > last.Seq && until != all:
		return nil, elsewhere
	case at.Seq < w.floor.Seq:
		return nil, behind
	}
	from := 0
	if at != w.floor {
		i, found := w.find(at.Seq)
		if !found || w.events[i].Cursor != at {
			return nil, elsewhere
		}
		from = i + 1
	}
	to, found := w.find(until)
	if found {
		to++
	}
	if from >= to || max <= 0 {
		return nil, inside
	}
	return slices.Clone(w.events[from:][:min(max, to-from)]), inside
}

// find looks for the event with a number of the log.
func (w *window) find(seq uint64) (int, bool) {
	return slices.BinarySearchFunc(w.events, seq, func(e *feed.Event, seq uint64) int { return cmp.Compare(e.Cursor.Seq, seq) })
}

// contradicts reports whether the window has another message where m is. Of what is older than all that it has, it cannot say.
func (w *window) contradicts(m *message) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if m.seq < w.first || m.seq >= w.first+uint64(len(w.events)) {
		return false
	}
	return w.events[m.seq-w.first].Cursor != m.at
}

// trim drops events up to and with a place, which was purged.
func (w *window) trim(purged feed.Cursor) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.purged = purged
	w.dropPurged()
}

// silent reports whether no event has come for some time.
func (w *window) silent(d time.Duration) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Since(w.moved) >= d
}

package feed

// One subscription: first the log up to the ring, then the ring. Feed.Watch starts it.

import (
	"context"
	"iter"
	"time"
)

const (
	// pageMax is how many events a subscriber reads from the log at a time.
	pageMax = 256
	// afterRingPause is how long a subscriber waits for the ring to reach its cursor before it asks
	// the log again.
	afterRingPause = time.Second
)

// Watch yields the events with this Collection after a cursor, and bookmarks. The zero Cursor means
// the current position of the feed. The first event is a bookmark with the start position; it is
// yielded when no event after it is missing. Watch then waits for events until ctx is done, which
// ends the sequence without an error. Each use of the sequence starts at after again.
//
// An error ends the sequence: [ErrExpired], [ErrClosed] or an error of the log. No event before the
// error is missing. Events are shared; see [Event].
//
// Watch runs in the goroutine of the caller and starts no other. If the log fails, a subscriber
// that follows the ring waits until it works again. One that has to read the log, at the start or
// because it is older than the ring, receives the error.
func (f *Feed) Watch(ctx context.Context, after Cursor, collection string) iter.Seq2[*Event, error] {
	return func(yield func(*Event, error) bool) {
		if !f.start() {
			yield(nil, ErrClosed)
			return
		}
		l := &subscriber{feed: f, ctx: ctx, name: collection, at: after, yield: yield}
		defer l.unregister()
		if err := l.run(); err != nil && ctx.Err() == nil && !l.stopped {
			yield(nil, err)
		}
	}
}

// subscriber is one subscription: a cursor and a node of the ring.
type subscriber struct {
	feed    *Feed
	ctx     context.Context // the subscription ends with the call that it belongs to
	name    string
	list    *eventList
	at      Cursor // all events up to here were yielded
	begun   bool   // the first bookmark was yielded
	stopped bool   // the caller has left the loop
	yield   func(*Event, error) bool

	bookmarkTimer *time.Timer
	bookmarkDue   bool // a bookmark is due after the pending events
}

// run yields events until the subscription ends.
func (l *subscriber) run() error {
	if err := l.register(); err != nil {
		return err
	}
	for {
		n, err := l.catchUp()
		if err != nil || l.stopped {
			return err
		}
		if !l.begun && !l.sendBookmark(l.at) {
			return nil
		}
		if err := l.follow(n); err != nil || l.stopped {
			return err
		}
	}
}

// register determines the start position and registers the subscription.
func (l *subscriber) register() error {
	f := l.feed
	now, err := f.Position(l.ctx)
	if err != nil {
		return err
	}
	if l.at.IsZero() {
		l.at = now
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	l.list = f.ring.list(l.name)
	l.list.subscribers.Add(1)
	return nil
}

// unregister releases what register and wait have acquired.
func (l *subscriber) unregister() {
	if l.list != nil {
		l.list.subscribers.Add(-1)
	}
	if l.bookmarkTimer != nil {
		l.bookmarkTimer.Stop()
	}
}

// sendBookmark yields a bookmark. It returns false if the caller has left the loop.
func (l *subscriber) sendBookmark(at Cursor) bool {
	l.begun, l.at, l.bookmarkDue = true, at, false
	return l.send(&Event{Kind: Bookmark, Collection: l.name, Time: time.Now(), Cursor: at})
}

func (l *subscriber) send(e *Event) bool {
	l.stopped = !l.yield(e, nil)
	return !l.stopped
}

// catchUp yields the events that are older than the ring, from the log, and returns the node of the
// ring to continue from.
func (l *subscriber) catchUp() (*node, error) {
	for !l.stopped {
		n, where, end, moved := l.locate()
		var err error
		switch where {
		case inRing:
			return n, nil
		case afterRing:
			err = l.awaitRing(moved)
		default: // the cursor is older than the ring or not valid; the log decides which
			err = l.sendPage(end)
		}
		if err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// locate returns the location of the cursor. If it is ahead of the ring, moved is closed when the
// ring has moved.
func (l *subscriber) locate() (n *node, where location, end Cursor, moved <-chan struct{}) {
	f := l.feed
	f.mu.Lock()
	defer f.mu.Unlock()
	n, where = f.ring.locate(l.at, l.list)
	if where == afterRing {
		if f.moved == nil {
			f.moved = make(chan struct{})
		}
		moved = f.moved
	}
	return n, where, f.ring.end, moved
}

// sendPage yields one page of events from the log.
func (l *subscriber) sendPage(until Cursor) error {
	events, err := l.feed.readLog(l.ctx, l.at, until, pageMax)
	if err != nil {
		return err
	}
	if !l.begun && !l.sendBookmark(l.at) {
		return nil
	}
	for _, e := range events {
		if e.Collection == l.name && !l.send(e) {
			return nil
		}
		l.at = e.Cursor
	}
	// After a full page the log may have more events before until, which the next page reads.
	// Otherwise the cursor moves to until, where the ring continues, although no event is there.
	if !isFullPage(events, pageMax) {
		l.at = until
	}
	return nil
}

// awaitRing waits until the ring reaches the cursor, which another process has issued. It fails if
// the cursor is not a position of the log.
func (l *subscriber) awaitRing(moved <-chan struct{}) error {
	f := l.feed
	if f.position.Load() != nil {
		if _, err := f.readLog(l.ctx, l.at, l.at, 1); err != nil {
			return err
		}
	}
	f.Wake()
	timer := time.NewTimer(afterRingPause)
	defer timer.Stop()
	select {
	case <-moved:
	case <-timer.C:
	case <-l.ctx.Done():
		return l.ctx.Err()
	case <-f.ctx.Done():
		return ErrClosed
	}
	return nil
}

// follow yields the events of the ring, and waits for new ones, until the next event has been
// evicted from the ring.
func (l *subscriber) follow(n *node) error {
	f := l.feed
	for {
		// The order matters. No event up to position is missing in a list that is read after
		// position, and an event that is added later closes wake.
		position, wake := f.position.Load(), *l.list.wake.Load()
		next := n.next.Load()
		for ; next != nil && next != f.ring.evicted; next = n.next.Load() {
			n = next
			l.at = n.event.Cursor
			if !l.send(n.event) {
				return nil
			}
			if err := l.ctx.Err(); err != nil {
				return err
			}
		}
		if next != nil {
			return nil
		}
		l.at = later(l.at, *position)
		if l.bookmarkDue && !l.sendBookmark(l.at) {
			return nil
		}
		if err := l.wait(wake); err != nil {
			return err
		}
	}
}

// wait blocks until wake is closed or a bookmark is due.
func (l *subscriber) wait(wake <-chan struct{}) error {
	if l.feed.ctx.Err() != nil { // Close closes wake after it cancels ctx
		return ErrClosed
	}
	var due <-chan time.Time
	if pause := l.feed.opts.BookmarkInterval; pause > 0 {
		if l.bookmarkTimer == nil {
			l.bookmarkTimer = time.NewTimer(pause)
		}
		due = l.bookmarkTimer.C
	}
	select {
	case <-wake:
	case <-due:
		// Also if there were events, because authorization and filters may have dropped all of
		// them.
		l.bookmarkDue = true
		l.bookmarkTimer.Reset(l.feed.opts.BookmarkInterval)
	case <-l.ctx.Done():
		return l.ctx.Err()
	}
	return nil
}

// later returns position if it is after at, and at otherwise.
func later(at, position Cursor) Cursor {
	if at.Epoch == position.Epoch && at.Seq < position.Seq {
		return position
	}
	return at
}

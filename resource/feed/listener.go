package feed

import (
	"context"
	"iter"
	"time"
)

const (
	// pageMax is how many events a listener behind the ring reads at a time.
	pageMax = 256
	// aheadPause is how soon the log is asked again about a place that the ring has not come to.
	aheadPause = time.Second
)

// Watch yields the events of a collection behind a place, and bookmarks; the first is a bookmark, with the place it
// begins at, as soon as it is sure that nothing behind it is missing. The zero Cursor is where the feed is now. It
// waits for events until ctx ends, which ends the sequence without an error. It can be used again, and begins at after then.
//
// An error is the last thing it yields: [ErrExpired], [ErrClosed], or the log's, and the events before it were complete. The
// events are shared; see [Event].
//
// It runs in the goroutine of the caller, and has no other. As long as the log fails it waits, unless it needs it to begin,
// or because it is behind the ring.
func (f *Feed) Watch(ctx context.Context, after Cursor, collection string) iter.Seq2[*Event, error] {
	return func(yield func(*Event, error) bool) {
		if !f.start() {
			yield(nil, ErrClosed)
			return
		}
		l := &listener{feed: f, ctx: ctx, name: collection, at: after, yield: yield}
		defer l.leave()
		if err := l.listen(); err != nil && ctx.Err() == nil && !l.left {
			yield(nil, err)
		}
	}
}

// listener is one who listens: a place, and a node of the ring.
type listener struct {
	feed  *Feed
	ctx   context.Context // the listener lives as long as the call that it was given to
	name  string
	part  *collection
	at    Cursor // all events up to here were yielded
	begun bool   // the first bookmark was
	left  bool   // the caller has broken out of the loop
	yield func(*Event, error) bool

	bookmark *time.Timer
	due      bool // a bookmark is, once there is nothing else
}

// listen yields events until something ends that.
func (l *listener) listen() error {
	if err := l.enter(); err != nil {
		return err
	}
	for {
		n, err := l.catchUp()
		if err != nil || l.left {
			return err
		}
		if !l.begun && !l.mark(l.at) {
			return nil
		}
		if err := l.follow(n); err != nil || l.left {
			return err
		}
	}
}

// enter finds the place to begin at.
func (l *listener) enter() error {
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
	l.part = f.ring.of(l.name)
	l.part.waiting.Add(1)
	return nil
}

// leave takes back everything that the listener has of the feed.
func (l *listener) leave() {
	if l.part != nil {
		l.part.waiting.Add(-1)
	}
	if l.bookmark != nil {
		l.bookmark.Stop()
	}
}

// mark yields a bookmark, and returns false if the caller leaves.
func (l *listener) mark(at Cursor) bool {
	l.begun, l.at, l.due = true, at, false
	return l.give(&Event{Kind: Bookmark, Collection: l.name, Time: time.Now(), Cursor: at})
}

func (l *listener) give(e *Event) bool {
	l.left = !l.yield(e, nil)
	return !l.left
}

// catchUp yields what is not in the ring any more, and returns the node to go on from.
func (l *listener) catchUp() (*node, error) {
	for !l.left {
		n, where, end, moved := l.find()
		var err error
		switch where {
		case within:
			return n, nil
		case ahead:
			err = l.await(moved)
		default: // if it is nowhere in the ring, the log may know better, or says that it has expired
			err = l.page(end)
		}
		if err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// find says where the listener is. If it is ahead of the ring, moved is closed when that has changed.
func (l *listener) find() (n *node, where place, end Cursor, moved <-chan struct{}) {
	f := l.feed
	f.mu.Lock()
	defer f.mu.Unlock()
	n, where = f.ring.find(l.at, l.part)
	if where == ahead {
		if f.moved == nil {
			f.moved = make(chan struct{})
		}
		moved = f.moved
	}
	return n, where, f.ring.end, moved
}

// page yields a page of the log.
func (l *listener) page(until Cursor) error {
	events, err := l.feed.read(l.ctx, l.at, until, pageMax)
	if err != nil {
		return err
	}
	if !l.begun && !l.mark(l.at) {
		return nil
	}
	for _, e := range events {
		if e.Collection == l.name && !l.give(e) {
			return nil
		}
		l.at = e.Cursor
	}
	if !full(events, pageMax) {
		l.at = until
	}
	return nil
}

// await waits for the ring to come to where the listener is: to what another process has told already, if it is a place of
// the log at all.
func (l *listener) await(moved <-chan struct{}) error {
	f := l.feed
	if f.position.Load() != nil {
		if _, err := f.read(l.ctx, l.at, l.at, 1); err != nil {
			return err
		}
	}
	f.Wake()
	timer := time.NewTimer(aheadPause)
	defer timer.Stop()
	select {
	case <-moved:
	case <-timer.C:
	case <-l.ctx.Done():
		return l.ctx.Err()
	case <-f.life.Done():
		return ErrClosed
	}
	return nil
}

// follow goes from node to node, and waits where there is none, until the next one is not in the ring any more.
func (l *listener) follow(n *node) error {
	f := l.feed
	for {
		// In this order: nothing up to the position can be missing in a list that is looked at after it, and nothing that is
		// added after that goes without closing wake.
		position, wake := f.position.Load(), *l.part.wake.Load()
		next := n.next.Load()
		for ; next != nil && next != f.ring.gone; next = n.next.Load() {
			n = next
			l.at = n.event.Cursor
			if !l.give(n.event) {
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
		if l.due && !l.mark(l.at) {
			return nil
		}
		if err := l.wait(wake); err != nil {
			return err
		}
	}
}

// wait waits until wake is closed, or until a bookmark is due.
func (l *listener) wait(wake <-chan struct{}) error {
	if l.feed.life.Err() != nil { // looked at after wake was got, which Close closes after this
		return ErrClosed
	}
	var due <-chan time.Time
	if pause := l.feed.opts.BookmarkInterval; pause > 0 {
		if l.bookmark == nil {
			l.bookmark = time.NewTimer(pause)
		}
		due = l.bookmark.C
	}
	select {
	case <-wake:
	case <-due:
		// Whether there were events meanwhile or not: who listens may have passed over all of them.
		l.due = true
		l.bookmark.Reset(l.feed.opts.BookmarkInterval)
	case <-l.ctx.Done():
		return l.ctx.Err()
	}
	return nil
}

// later returns position if it is a place behind at, and at otherwise.
func later(at, position Cursor) Cursor {
	if at.Epoch == position.Epoch && at.Seq < position.Seq {
		return position
	}
	return at
}

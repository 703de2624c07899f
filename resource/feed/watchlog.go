package feed

// A log that is only a stream of events, for stores that publish their own.

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"
)

// FromWatch returns a [Log] that reads from the change stream of a store, so that one [Feed] shares
// a single stream between all subscribers. watch yields events under the contract of [Watcher]. The
// events are used as they are: Before and After may be nil and the item be cached with
// [Event.Memo]. [Options.BufferBytes] does not count such items.
//
// The Log serves one Feed and stores nothing. A subscriber that is older than the ring makes it
// call watch again. Append returns an error. FromWatch panics if watch is nil.
func FromWatch(watch func(ctx context.Context, after Cursor) iter.Seq2[*Event, error]) Log {
	if watch == nil {
		panic("feed: FromWatch needs a function, and watch is nil")
	}
	wake := make(chan struct{})
	close(wake)
	return &watchLog{watch: watch, wake: wake}
}

// watchLog is a Log that reads a stream of events.
type watchLog struct {
	watch func(ctx context.Context, after Cursor) iter.Seq2[*Event, error]
	wake  chan struct{} // closed, so that Tail is always called
	// current is the stream that Tail reads; nil until the first call. Only the goroutine of Tail
	// uses it.
	current *changeStream
}

var (
	errAppend = errors.New("feed: append to a store with its own change stream")
	errEnded  = errors.New("feed: change stream of the store ended")
)

// Append returns an error.
func (u *watchLog) Append(context.Context, ...*Event) error { return errAppend }

// Wake returns a closed channel, because Tail itself waits for events.
func (u *watchLog) Wake() <-chan struct{} { return u.wake }

// Purge does nothing: the store decides how long it keeps changes.
func (u *watchLog) Purge(context.Context, time.Time, int, int) (int, error) { return 0, nil }

// Head implements [Log].
func (u *watchLog) Head(ctx context.Context) (Cursor, error) {
	t := u.openStream(ctx, Cursor{})
	defer t.release()
	e, err := t.receive()
	if err != nil {
		return Cursor{}, err
	}
	return e.Cursor, nil
}

// Tail implements [Log], but waits until there is an event. A bookmark of the store is delivered
// too, because it moves the cursors of all subscribers.
func (u *watchLog) Tail(ctx context.Context, after Cursor, _ int) ([]*Event, Cursor, error) {
	if u.current != nil && u.current.at != after {
		u.stop()
	}
	if u.current == nil {
		u.current = u.openStream(ctx, after)
	}
	for {
		e, err := u.current.receive()
		if err != nil {
			u.stop()
			return nil, Cursor{}, err
		}
		if e.Cursor != after {
			return []*Event{e}, e.Cursor, nil
		}
	}
}

// stop ends the stream of Tail. The Feed calls it in the goroutine of Tail.
func (u *watchLog) stop() {
	if u.current != nil {
		u.current.release()
		u.current = nil
	}
}

// Read implements [Log]. It opens another stream and reads it up to until. The store sends a
// bookmark at the end of existing changes, so Read does not block if there is no change at until.
func (u *watchLog) Read(ctx context.Context, after, until Cursor, max int) (events []*Event, _ error) {
	if after.Epoch != until.Epoch {
		return nil, ErrExpired
	}
	t := u.openStream(ctx, after)
	defer t.release()
	for len(events) < max {
		e, err := t.receive()
		if err != nil {
			return nil, err
		}
		if e.Kind != Bookmark && e.Cursor.Seq <= until.Seq {
			events = append(events, e)
		}
		if e.Cursor.Seq >= until.Seq {
			break
		}
	}
	return events, nil
}

// changeStream is one open stream. It is used by one goroutine.
type changeStream struct {
	ctx   context.Context // canceled by stop
	next  func() (*Event, error, bool)
	stop  func()
	at    Cursor // the last cursor, or the start position
	begun bool
}

// openStream calls the store's watch after a cursor.
func (u *watchLog) openStream(ctx context.Context, after Cursor) *changeStream {
	ctx, cancel := context.WithCancel(ctx)
	next, stop := iter.Pull2(u.watch(ctx, after))
	return &changeStream{ctx: ctx, next: next, at: after, stop: func() { cancel(); stop() }}
}

// release ends the store's watch.
func (t *changeStream) release() {
	// the stream is not used any more, so a panic of the store has no effect
	defer func() { _ = recover() }()
	t.stop()
}

// receive waits for the next event and checks its order. It returns a panic of the store as an
// error, because the goroutine serves all subscribers.
func (t *changeStream) receive() (e *Event, err error) {
	defer func() {
		if r := recover(); r != nil {
			e, err = nil, fmt.Errorf("feed: panic in the change stream of the store: %v", r)
		}
	}()
	e, err, ok := t.next()
	switch {
	case t.ctx.Err() != nil:
		return nil, t.ctx.Err()
	case !ok:
		return nil, errEnded
	case err != nil:
		return nil, err
	case !t.inOrder(e):
		return nil, fmt.Errorf("%w: the store sent, after %v, a %v at %v", ErrExpired, t.at, e.Kind, e.Cursor)
	}
	t.begun, t.at = true, e.Cursor
	return e, nil
}

// inOrder reports whether e may come next: a bookmark at the start position first, and then
// increasing cursors of one epoch.
func (t *changeStream) inOrder(e *Event) bool {
	switch {
	case e.Cursor.IsZero():
		return false
	case !t.begun:
		return e.Kind == Bookmark && (t.at.IsZero() || e.Cursor == t.at)
	case e.Kind == Bookmark && e.Cursor == t.at:
		return true
	}
	return e.Cursor.Epoch == t.at.Epoch && e.Cursor.Seq > t.at.Seq
}

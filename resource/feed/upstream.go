package feed

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"
)

// FromWatch makes a Log of a store that tells by itself what happens to the items of one collection, so that any number may
// listen to a [Feed] of it and the store is listened to once. watch yields what a [Watcher] does, as events; they are kept
// as they are, so that a memo of theirs may hold items which are no JSON. The bytes of the ring do not count those.
//
// It is for one Feed, and holds nothing itself: whoever is behind the ring has the store asked once more, and Append refuses. It
// panics if watch is nil.
func FromWatch(watch func(ctx context.Context, after Cursor) iter.Seq2[*Event, error]) Log {
	if watch == nil {
		panic("feed: FromWatch without a function")
	}
	wake := make(chan struct{})
	close(wake)
	return &upstream{watch: watch, wake: wake}
}

// upstream is a Log of a stream.
type upstream struct {
	watch func(ctx context.Context, after Cursor) iter.Seq2[*Event, error]
	wake  chan struct{} // closed
	// tail is what Tail reads from; nil until it is asked. Only the goroutine of Tail knows it.
	tail *tap
}

var (
	errAppend = errors.New("feed: the store tells its changes by itself")
	errEnded  = errors.New("feed: the store has stopped telling")
)

// Append refuses.
func (u *upstream) Append(context.Context, ...*Event) error { return errAppend }

// Wake returns a channel that always has a value: Tail does the waiting.
func (u *upstream) Wake() <-chan struct{} { return u.wake }

// Purge has nothing to remove: that is the store's affair.
func (u *upstream) Purge(context.Context, time.Time, int, int) (int, error) { return 0, nil }

// Head is that of Log.
func (u *upstream) Head(ctx context.Context) (Cursor, error) {
	t := u.open(ctx, Cursor{})
	defer t.close()
	e, err := t.pull()
	if err != nil {
		return Cursor{}, err
	}
	return e.Cursor, nil
}

// Tail is that of Log, but it waits until there is something new. That may be a bookmark, which becomes an event for all who
// listen: what it says of the store is news to them, too.
func (u *upstream) Tail(ctx context.Context, after Cursor, _ int) ([]*Event, Cursor, error) {
	if u.tail != nil && u.tail.at != after {
		u.stop()
	}
	if u.tail == nil {
		u.tail = u.open(ctx, after)
	}
	for {
		e, err := u.tail.pull()
		if err != nil {
			u.stop()
			return nil, Cursor{}, err
		}
		if e.Cursor != after {
			return []*Event{e}, e.Cursor, nil
		}
	}
}

// stop ends what Tail has begun. The Feed calls it in the goroutine of Tail.
func (u *upstream) stop() {
	if u.tail != nil {
		u.tail.close()
		u.tail = nil
	}
}

// Read is that of Log. It has the store tell once more until it has come as far as until, for which it need not tell of a
// change there: it tells how far it has come.
func (u *upstream) Read(ctx context.Context, after, until Cursor, max int) (events []*Event, _ error) {
	if after.Epoch != until.Epoch {
		return nil, ErrExpired
	}
	t := u.open(ctx, after)
	defer t.close()
	for len(events) < max {
		e, err := t.pull()
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

// tap is one stream, from which events are taken one by one. It is used in one goroutine.
type tap struct {
	ctx   context.Context // that of the stream, which ends with it
	next  func() (*Event, error, bool)
	stop  func()
	at    Cursor // the last that was taken, or where it began
	begun bool
}

func (u *upstream) open(ctx context.Context, after Cursor) *tap {
	ctx, cancel := context.WithCancel(ctx)
	next, stop := iter.Pull2(u.watch(ctx, after))
	return &tap{ctx: ctx, next: next, at: after, stop: func() { cancel(); stop() }}
}

func (t *tap) close() {
	defer func() { _ = recover() }() // it is over, whatever the store has to say to that
	t.stop()
}

// pull waits for the next event, and sees to it that it is one which may come there. A panic of the store is an error: the
// goroutine is that of all who listen.
func (t *tap) pull() (e *Event, err error) {
	defer func() {
		if r := recover(); r != nil {
			e, err = nil, fmt.Errorf("feed: the store has panicked: %v", r)
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
	case !t.follows(e):
		return nil, fmt.Errorf("%w: the store went from %v to a %v at %v", ErrExpired, t.at, e.Kind, e.Cursor)
	}
	t.begun, t.at = true, e.Cursor
	return e, nil
}

// follows reports whether an event may come after what was taken: first a bookmark, where the stream was asked to begin, and
// then places that grow. To go on from others is not safe.
func (t *tap) follows(e *Event) bool {
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

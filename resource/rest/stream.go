package rest

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"net/http"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/feed/eventstream"
)

// The change feed: GET of a collection or an item with Accept: text/event-stream (WHATWG HTML section 9.2). What can be
// refused is refused before the stream begins, with a status, as a stream that has begun has none to give any more.
//
// Of a stream that ends a client is told nothing but its end: it comes back by itself, with the cursor of the last event,
// and is answered then why it cannot go on, if it cannot. So there is one place where a client has to understand that.

const mediaStream = eventstream.ContentType

var (
	typeStream  = []string{mediaStream}
	unbuffered  = []string{"no"}
	closeValue  = []string{"close"}
	itemOffers  = []string{mediaJSON, mediaStream}              // of what can be listened to
	watchOffers = []string{mediaJSON, mediaNDJSON, mediaStream} // of a list of such
)

type changes = iter.Seq2[*feed.Change[resource.Entry], error]

// feedList answers GET and HEAD of the feed of a collection.
func (x *call) feedList() error {
	l, err := x.parseSubscription()
	if err != nil {
		return err
	}
	return x.streamChanges(
		l,
		func(ctx context.Context) changes { return x.route.resource.Watch(ctx, l.after, l.filter) },
	)
}

// feedItem answers GET and HEAD of the feed of an item. Where there is none it is answered as GET is, unless the client
// goes on from a cursor: then that the item is gone may be just what it has not heard of yet. The stream does not end with
// the item, which may come back: into the sight of the client, or into being.
func (x *call) feedItem(id string) error {
	l, err := x.parseSubscription()
	if err != nil {
		return err
	}
	res, ctx := x.route.resource, x.r.Context()
	if l.after.IsZero() {
		if l.after, err = res.Position(
			ctx,
			0,
		); err != nil { // before the item is looked at, so that nothing is in between
			return err
		}
		if _, err := res.Get(ctx, id); err != nil {
			return err
		}
	}
	if !res.ValidID(id) {
		return resource.ErrNotFound
	}
	return x.streamChanges(l, func(ctx context.Context) changes { return res.WatchItem(ctx, id, l.after) })
}

// streamChanges sends changes as long as both sides want.
func (x *call) streamChanges(l *subscription, watch func(ctx context.Context) changes) error {
	leave, err := x.h.catalog.Stream(x.r.Context())
	if err != nil {
		return err
	}
	defer leave()
	ctx, cancel := context.WithCancel(x.r.Context())
	defer cancel()
	s := &changeStream{stop: cancel}
	defer s.finish()
	err = x.sendChanges(s, l, watch(ctx))
	s.returned = true
	if err == nil && !x.started {
		err = cmp.Or(ctx.Err(), errEmptyFeed) // nobody is there any more
	}
	return err
}

// sendChanges begins the stream with the first of the changes.
func (x *call) sendChanges(s *changeStream, l *subscription, all changes) error {
	for change, err := range all {
		switch {
		case err != nil && x.started:
			return s.end(err)
		case err != nil:
			return l.positionError(err)
		case !x.started:
			x.streamHeaders(change.Cursor)
			if x.r.Method == http.MethodHead {
				return x.respond(http.StatusOK, nil)
			}
			if err := x.open(s); err != nil {
				return err
			}
		}
		if more, err := s.send(l, change); err != nil {
			return s.end(err)
		} else if !more {
			return nil
		}
	}
	return nil
}

var errEmptyFeed = errors.New("a feed has ended before it began")

// streamHeaders sets the header of a stream that begins at a place.
func (x *call) streamHeaders(at feed.Cursor) {
	h := x.w.Header()
	x.eventCursor = x.route.eventCursorField(at)
	if x.onItem {
		x.itemHeaders(h)
	} else {
		x.listHeaders(h)
	}
	h["Content-Type"] = typeStream
	h["Cache-Control"] = noStore
	h["X-Accel-Buffering"] = unbuffered
	h["X-Content-Type-Options"] = nosniff
	if x.r.ProtoMajor == 1 {
		// Whoever comes back does so over another connection, which leads to another server where this one goes down.
		h["Connection"] = closeValue
	}
}

package rest

// The change feed: GET of a collection or an item with Accept: text/event-stream (WHATWG HTML
// section 9.2). stream_request.go parses the request, stream_send.go writes the events and
// stream_cursor.go sets Event-Cursor. It calls Resource.Watch and package eventstream.

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"net/http"

	"github.com/stoa-go/stoa/middleware"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/feed/eventstream"
)

// All checks are made before the stream starts, because a stream that has started cannot send a
// status code. A stream that fails ends without an error message. The client reconnects with the
// cursor of the last event, and that response has the error. A client thus handles errors in one
// place.

const mediaStream = eventstream.ContentType

var (
	typeStream  = []string{mediaStream}
	unbuffered  = []string{"no"}
	closeValue  = []string{"close"}
	itemOffers  = []string{mediaJSON, mediaStream}                        // of an item with a feed
	watchOffers = []string{mediaJSON, mediaNDJSON, mediaCSV, mediaStream} // of a list with a feed
)

type changes = iter.Seq2[*feed.Change[resource.Entry], error]

// feedList handles GET and HEAD of the feed of a collection. The filter selects events as it
// selects items of the list.
func (c *call) feedList() error {
	l, err := c.parseSubscription()
	if err != nil {
		return err
	}
	res := c.route.resource
	return c.streamChanges(l, func(ctx context.Context) changes { return res.Watch(ctx, l.after, l.filter) })
}

// feedItem handles GET and HEAD of the feed of an item. A missing item is an error, unless the
// client resumes from a cursor: it may not have received the deletion. The stream does not end when
// the item is deleted, because the item may be created again or become visible again.
func (c *call) feedItem(id string) error {
	l, err := c.parseSubscription()
	if err != nil {
		return err
	}
	res, ctx := c.route.resource, c.r.Context()
	if l.after.IsZero() {
		// Read the position before the item, so that no change is lost between them.
		if l.after, err = res.Position(ctx, 0); err != nil {
			return err
		}
		if _, err := res.Get(ctx, id); err != nil {
			return err
		}
	}
	// No event can have this id, so the stream would never send anything.
	if !res.ValidID(id) {
		return resource.ErrNotFound
	}
	return c.streamChanges(l, func(ctx context.Context) changes { return res.WatchItem(ctx, id, l.after) })
}

// streamChanges sends changes until the client disconnects, the feed ends, or the catalog shuts
// down. It counts the stream against the limit of the catalog.
func (c *call) streamChanges(l *subscription, watch func(ctx context.Context) changes) error {
	leave, err := c.h.catalog.Stream(c.r.Context())
	if err != nil {
		return err
	}
	defer leave()
	ctx, cancel := middleware.WithExpiry(c.r.Context())
	defer cancel()
	c.r = c.r.WithContext(ctx)
	return c.onHeap(func(x *call) error { return x.sendStream(l, watch) })
}

// sendStream is streamChanges for a stream that is counted.
func (c *call) sendStream(l *subscription, watch func(ctx context.Context) changes) error {
	c.watching = true
	ctx, cancel := context.WithCancel(c.r.Context())
	defer cancel()
	s := &changeStream{stop: cancel}
	// finish runs after a panic, too, and before leave: the stream counts until its end is written.
	defer s.finish()
	err := c.sendChanges(s, l, watch(ctx))
	s.returned = true
	if err == nil && !c.started {
		err = cmp.Or(ctx.Err(), errEmptyFeed) // the client has disconnected, or the feed is at fault
	}
	return err
}

// sendChanges starts the stream at the first change. An error before that becomes a status code.
func (c *call) sendChanges(s *changeStream, l *subscription, all changes) error {
	for change, err := range all {
		switch {
		// The status is sent. The client learns the error when it reconnects.
		case err != nil && c.started:
			return s.end(err)
		case err != nil:
			return l.positionError(err)
		case !c.started:
			c.streamHeaders(change.Cursor)
			// The header is complete, and HEAD must not wait for events.
			if c.r.Method == http.MethodHead {
				return c.respond(http.StatusOK, nil)
			}
			if err := c.open(s); err != nil {
				return err
			}
		}
		if change.Kind != feed.Bookmark {
			c.rec.AddEvent(change.Time)
		}
		if more, err := s.send(l, change); err != nil {
			return s.end(err)
		} else if !more {
			return nil
		}
	}
	return nil
}

var errEmptyFeed = errors.New("rest: feed ended before its first event")

// streamHeaders sets the header fields of a stream that starts at a cursor.
func (c *call) streamHeaders(at feed.Cursor) {
	h := c.w.Header()
	c.eventCursor = c.route.eventCursorField(at)
	if c.onItem {
		c.itemHeaders(h)
	} else {
		c.listHeaders(h)
	}
	h["Content-Type"] = typeStream
	h["Cache-Control"] = noStore
	h["X-Accel-Buffering"] = unbuffered
	h["X-Content-Type-Options"] = nosniff
	if c.r.ProtoMajor == 1 {
		// A client that reconnects opens a new connection. During a rolling restart it must not
		// reach the server that is shutting down.
		h["Connection"] = closeValue
	}
}

package resource

import (
	"context"
	"time"

	"github.com/stoa-go/stoa/resource/feed"
)

// Event-Cursor says where the feed was before what is answered was read: whoever listens from there misses nothing that is
// not in the answer. It may be told again of what is in it already, which does no harm, as an event has the whole item.
// That is why it stays right in a cache, too, however old: the answer there is older than no event behind its cursor.

// place is a place in the feed, and the value of the field.
type eventCursor struct {
	at    feed.Cursor
	value []string
}

// positionWait is how long a reader waits for the log to say where it is: one in a database may wait for each transaction
// that is not over when the process begins, and they may take hours.
const positionWait = 100 * time.Millisecond

// notePosition is called before anything is read. A feed that cannot say where it is fails no reader of items, nor keeps
// one waiting: then the field is not there, and who wants to listen asks again.
func (x *call) setEventCursor() {
	f, leave, err := x.route.resource.core.subscribe()
	if err != nil {
		return
	}
	defer leave()
	at, known := f.Known()
	if !known {
		ctx, cancel := context.WithTimeout(x.r.Context(), positionWait)
		at, err = f.Position(ctx)
		cancel()
	}
	if err == nil && !at.IsZero() {
		x.eventCursor = x.route.eventCursorField(at)
	}
}

// placed returns the value of Event-Cursor. As long as nothing is written all answers share it.
func (rt *route) eventCursorField(at feed.Cursor) []string {
	if p := rt.eventCursor.Load(); p != nil && p.at == at {
		return p.value
	}
	p := &eventCursor{at, []string{at.String()}}
	rt.eventCursor.Store(p)
	return p.value
}

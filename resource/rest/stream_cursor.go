package rest

import (
	"time"

	"github.com/stoa-go/stoa/resource/feed"
)

// Event-Cursor says where the feed was before what is answered was read: whoever listens from there
// misses nothing that is not in the answer. It may be told again of what is in it already, which
// does no harm, as an event has the whole item. That is why it stays right in a cache, too, however
// old: the answer there is older than no event behind its cursor.

// eventCursor is a place in the feed, and the value of the field.
type eventCursor struct {
	at    feed.Cursor
	value []string
}

// positionTimeout limits how long a read waits for the position of the feed: a log in a database
// may wait for transactions that were running when the process started.
const positionTimeout = 100 * time.Millisecond

// setEventCursor is called before anything is read. If the position of the feed is not known, the
// field is absent, and a client that wants to subscribe requests again.
func (x *call) setEventCursor() {
	if !x.route.resource.Watches() {
		return
	}
	if at, err := x.route.resource.Position(x.r.Context(), positionTimeout); err == nil && !at.IsZero() {
		x.eventCursor = x.route.eventCursorField(at)
	}
}

// eventCursorField returns the value of Event-Cursor. As long as nothing is written all answers
// share it.
func (rt *route) eventCursorField(at feed.Cursor) []string {
	if p := rt.eventCursor.Load(); p != nil && p.at == at {
		return p.value
	}
	p := &eventCursor{at, []string{at.String()}}
	rt.eventCursor.Store(p)
	return p.value
}

package rest

import (
	"github.com/stoa-go/stoa/resource/feed"
)

// Event-Cursor says where the feed was before what is answered was read: whoever listens from there misses nothing that is
// not in the answer. It may be told again of what is in it already, which does no harm, as an event has the whole item.
// That is why it stays right in a cache, too, however old: the answer there is older than no event behind its cursor.

// eventCursor is a place in the feed, and the value of the field.
type eventCursor struct {
	at    feed.Cursor
	value []string
}

// setEventCursor is called before anything is read. If the position of the feed is not known, the field is absent, and a client
// that wants to subscribe requests again.
func (x *call) setEventCursor() {
	if at, ok := x.route.resource.EventCursor(x.r.Context()); ok {
		x.eventCursor = x.route.eventCursorField(at)
	}
}

// eventCursorField returns the value of Event-Cursor. As long as nothing is written all answers share it.
func (rt *route) eventCursorField(at feed.Cursor) []string {
	if p := rt.eventCursor.Load(); p != nil && p.at == at {
		return p.value
	}
	p := &eventCursor{at, []string{at.String()}}
	rt.eventCursor.Store(p)
	return p.value
}

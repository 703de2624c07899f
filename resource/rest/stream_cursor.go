package rest

// The Event-Cursor header: the position of the feed before the response was read. A client that
// subscribes from it misses no later change. It may receive a change that the response already has,
// which is harmless because an event has the whole item. This holds for a cached response, too: a
// cached response is not newer than its cursor.

import (
	"time"

	"github.com/stoa-go/stoa/resource/feed"
)

// eventCursor is a position in the feed and its header value.
type eventCursor struct {
	at    feed.Cursor
	value []string
}

// positionTimeout limits how long a read waits for the position of the feed. A log in a database
// may wait for transactions that were open when the process started.
const positionTimeout = 100 * time.Millisecond

// setEventCursor must be called before anything is read. If the position is not available in time,
// the response has no Event-Cursor, and a client that wants to subscribe sends the request again.
func (c *call) setEventCursor() {
	if !c.route.resource.Watches() {
		return
	}
	if at, err := c.route.resource.Position(c.r.Context(), positionTimeout); err == nil && !at.IsZero() {
		c.eventCursor = c.route.eventCursorField(at)
	}
}

// eventCursorField returns the value of Event-Cursor. Responses share it until the next write.
func (rt *route) eventCursorField(at feed.Cursor) []string {
	// Two requests may store different positions at the same time. Either value is correct for its
	// own response.
	if p := rt.eventCursor.Load(); p != nil && p.at == at {
		return p.value
	}
	p := &eventCursor{at, []string{at.String()}}
	rt.eventCursor.Store(p)
	return p.value
}

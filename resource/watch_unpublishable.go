package resource

import (
	"errors"
	"fmt"

	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/internal/safe"
)

// An event may be one that cannot be told: the collection could not hold its item any more, the function down of a view fails
// for it or panics, or the item cannot be written as JSON. To go on behind it would be to lose it in silence, and to end the
// connection would have every client come back to just this event, again and again. So to those who would have been told, it is
// what an expired cursor is, be it by REST or GraphQL: an end for good, behind which one lists anew. If the list cannot show
// the item either, it says so (500), and to one client at the time that it chooses.

// reportUnpublishable is the error of an event that cannot be told, in a shape or, if that is nil, in any. It is logged here, once for
// all who would have been told, as to them it is no more than an end.
func (h *core) reportUnpublishable(at feed.Cursor, s *projection, err error) error {
	if h.unpublishable.Add(unpublishableEvent{at, s}) {
		attrs := []any{"resource", h.name, "cursor", at.String(), "error", safe.Truncate(err.Error())}
		var p interface{ Stack() string }
		if errors.As(err, &p) {
			attrs = append(attrs, "stack", p.Stack())
		}
		h.logger().Error("resource: an event cannot be told, so those who listen have to list anew", attrs...)
	}
	// Not wrapped, as it would be told as a mistake of the client.
	return fmt.Errorf("%w: an event cannot be told: %v", feed.ErrExpired, err)
}

// unpublishableEvent is an event that cannot be told in a shape.
type unpublishableEvent struct {
	at         feed.Cursor
	projection *projection
}

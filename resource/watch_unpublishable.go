package resource

// Events that cannot be sent to subscribers. Called by watch_decode.go and by protocols.

import (
	"errors"
	"fmt"

	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/internal/safe"
)

// An event cannot be sent if its item violates the current schema, if the function down of a view
// fails or panics, or if the item cannot be encoded. To skip the event would lose it without
// notice, and to close the connection would make every client reconnect to the same event. So the
// stream ends with [feed.ErrExpired], and the client lists again. If the list cannot show the item
// either, the list returns 500.

// reportUnpublishable returns the error of an event that cannot be sent, in a projection or, if p
// is nil, in any. It logs each event once for all subscribers.
func (c *core) reportUnpublishable(at feed.Cursor, p *projection, err error) error {
	if c.unpublishable.Add(unpublishableEvent{at, p}) {
		attrs := []any{"resource", c.name, "cursor", at.String(), "error", safe.Truncate(err.Error())}
		var recovered interface{ Stack() string }
		if errors.As(err, &recovered) {
			attrs = append(attrs, "stack", recovered.Stack())
		}
		c.feedLogger().Error("resource: event not sent; its subscribers must read the list again", attrs...)
	}
	// Not wrapped: err could be taken for a mistake of the client.
	return fmt.Errorf("%w: event not sent: %v", feed.ErrExpired, err)
}

// unpublishableEvent identifies an event that cannot be sent in a projection.
type unpublishableEvent struct {
	at         feed.Cursor
	projection *projection
}

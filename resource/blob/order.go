package blob

// The order of events. A store commits a write before it returns, so concurrent writes of one blob
// can return in another order than they were committed. Called by write.go. It calls
// resource.Resource.Publish.

import (
	"context"
	"errors"
	"sync"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
)

// writers has the blobs that are being written by this process. The zero value is ready.
type writers struct {
	mu   sync.Mutex
	byID map[string]*turn
}

// turn orders the events of one blob. It exists while a write of the blob is in progress. A lock that
// is held during a write would be simpler, but a slow upload would then block all others.
type turn struct {
	users int // guarded by writers.mu

	publishing sync.Mutex   // held while an event is published; it guards what follows
	published  bool         // an event has been published
	rev        resource.Rev // what it has published; empty for a deletion
}

// inOrder calls write, which publishes the event of the blob with t. An empty id is not known yet, and
// no other request can know it.
func (c *Collection) inOrder(id string, write func(t *turn) error) error {
	if id == "" {
		return write(new(turn))
	}
	t := c.writers.enter(id)
	defer c.writers.leave(id, t)
	return write(t)
}

// enter adds a write of a blob.
func (w *writers) enter(id string) *turn {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.byID == nil {
		w.byID = map[string]*turn{}
	}
	t := w.byID[id]
	if t == nil {
		t = new(turn)
		w.byID[id] = t
	}
	t.users++
	return t
}

// leave removes a write after its event has been published.
func (w *writers) leave(id string, t *turn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if t.users--; t.users == 0 {
		delete(w.byID, id)
	}
}

// shared reports whether another write of the blob is in progress, or has published its event.
func (w *writers) shared(t *turn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return t.users > 1 || t.published
}

// publish appends the event of a write. before and after are nil if there is no blob. If another write
// of the blob is in progress, the event has the current state of the store, and is omitted if the
// other write has published that already. So the last event is the last state.
func (c *Collection) publish(ctx context.Context, t *turn, before, after *Blob) error {
	if c.items == nil {
		return nil
	}
	t.publishing.Lock()
	defer t.publishing.Unlock()
	if c.writers.shared(t) {
		switch now, err := c.statStored(ctx, blobID(before, after)); {
		case err == nil:
			after = now
		case errors.Is(err, resource.ErrNotFound), errors.Is(err, resource.ErrGone):
			after = nil
		}
		if t.published && t.rev == after.revision() {
			return nil
		}
	}
	if after == nil && before == nil { // created, and deleted since: that deletion has the event
		return nil
	}
	t.published, t.rev = true, after.revision()
	switch {
	case after == nil:
		return c.items.Publish(ctx, feed.Deleted, before.ID, before.Rev, before.File(), nil)
	case before == nil:
		return c.items.Publish(ctx, feed.Created, after.ID, after.Rev, nil, after.File())
	}
	return c.items.Publish(ctx, feed.Updated, after.ID, after.Rev, before.File(), after.File())
}

// blobID returns the id of a write.
func blobID(before, after *Blob) string {
	if before != nil {
		return before.ID
	}
	return after.ID
}

// revision returns the revision, and "" for nil.
func (b *Blob) revision() resource.Rev {
	if b == nil {
		return ""
	}
	return b.Rev
}

package resource

import (
	"context"
	"time"
)

// Tombstoner is a collection that remembers what was deleted, so that asking for it again is answered with 410 (Gone)
// and not with 404. For a store that cannot, there is [WithTombstones].
type Tombstoner interface {
	// Deleted returns when the item with this id was deleted, and [ErrNotFound] if it is alive or was never there.
	Deleted(ctx context.Context, id string) (time.Time, error)
}

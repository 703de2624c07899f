package memory

// Ids that were deleted, for stores that do not remember them.

import (
	"context"
	"sync"
	"time"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/tx"
)

// Tombstones remembers the deletions of a collection in memory, for collections without a
// Tombstoner. It implements [resource.Tombstones] and is safe for concurrent use. All entries are
// lost when the process ends. A [Store] does not need it.
type Tombstones struct {
	mu sync.RWMutex
	at map[string]time.Time
}

// NewTombstones returns an empty Tombstones for one collection.
func NewTombstones() *Tombstones {
	return &Tombstones{at: map[string]time.Time{}}
}

// Mark records the deletion of an item. Inside a transaction of any engine it takes effect at the
// commit.
func (s *Tombstones) Mark(ctx context.Context, id string, at time.Time) error {
	return s.change(ctx, func() { s.at[id] = at })
}

// Unmark removes the record of a deletion, because the item exists again. Inside a transaction it
// takes effect at the commit.
func (s *Tombstones) Unmark(ctx context.Context, id string) error {
	return s.change(ctx, func() { delete(s.at, id) })
}

// change calls change after the commit of the transaction of ctx, or at once without a transaction.
// A rollback therefore leaves no trace.
func (s *Tombstones) change(ctx context.Context, change func()) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	tx.AfterCommit(ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		change()
	})
	return nil
}

// Deleted returns the time at which the item was deleted, and [resource.ErrNotFound] if it was not.
func (s *Tombstones) Deleted(ctx context.Context, id string) (time.Time, error) {
	if err := ctx.Err(); err != nil {
		return time.Time{}, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	at, ok := s.at[id]
	if !ok {
		return time.Time{}, resource.ErrNotFound
	}
	return at, nil
}

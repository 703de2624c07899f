package memory

import (
	"context"
	"sync"
	"time"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/tx"
)

// Tombstones remembers in memory what was deleted from a collection that cannot remember it itself. It is a
// [resource.Tombstones], and forgets everything when the process ends. A [Store] needs none.
type Tombstones struct {
	mu sync.RWMutex
	at map[string]time.Time
}

// NewTombstones returns an empty one, for one collection.
func NewTombstones() *Tombstones {
	return &Tombstones{at: map[string]time.Time{}}
}

// Mark notes that the item was deleted. Inside of a transaction, whatever the engine, it waits for the commit, so that
// a rollback leaves nothing behind.
func (s *Tombstones) Mark(ctx context.Context, id string, at time.Time) error {
	return s.change(ctx, func() { s.at[id] = at })
}

// Unmark forgets that there was such an item, since there is one again. It waits for a commit like Mark.
func (s *Tombstones) Unmark(ctx context.Context, id string) error {
	return s.change(ctx, func() { delete(s.at, id) })
}

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

// Deleted returns when the item was deleted, and [resource.ErrNotFound] if it was not.
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

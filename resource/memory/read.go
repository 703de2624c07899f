package memory

// Reads without a plan, and Count. Each takes the lock only until it has found the records, which
// are immutable, and copies them afterwards.

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
)

// Get returns the item with the given id; see [resource.Collection].
func (s *Store[T]) Get(ctx context.Context, id string) (resource.Item[T], error) {
	if err := s.db.startRead(ctx); err != nil {
		return resource.Item[T]{}, err
	}
	r, err := s.lookup(id)
	s.db.mu.RUnlock()
	if err != nil {
		return resource.Item[T]{}, err
	}
	return s.copyOf(r), nil
}

// GetRevision is Get without the value; see [resource.Revisioner].
func (s *Store[T]) GetRevision(ctx context.Context, id string) (resource.Revision, error) {
	return s.getRevision(ctx, id)
}

func (s *store) getRevision(ctx context.Context, id string) (resource.Revision, error) {
	if err := s.db.startRead(ctx); err != nil {
		return resource.Revision{}, err
	}
	r, err := s.lookup(id)
	s.db.mu.RUnlock()
	if err != nil {
		return resource.Revision{}, err
	}
	return r.revision(), nil
}

// revision returns the item without its value.
func (r *record) revision() resource.Revision {
	return resource.Revision{ID: r.id, Rev: r.rev, Modified: r.modified}
}

// GetForUpdate is Get in a transaction, which keeps other writers from the item until it ends; see
// [resource.Locker].
func (s *Store[T]) GetForUpdate(ctx context.Context, id string) (resource.Item[T], error) {
	if s.db.txnOf(ctx) == nil {
		return resource.Item[T]{}, errNoTransaction
	}
	return s.Get(ctx, id) // transactions are exclusive
}

var errNoTransaction = errors.New("memory: GetForUpdate outside of a transaction")

// Deleted returns the time at which the item was deleted; see [resource.Tombstoner].
func (s *Store[T]) Deleted(ctx context.Context, id string) (time.Time, error) {
	return s.deleted(ctx, id)
}

func (s *store) deleted(ctx context.Context, id string) (time.Time, error) {
	if err := s.db.startRead(ctx); err != nil {
		return time.Time{}, err
	}
	tomb := s.tombs[id]
	s.db.mu.RUnlock()
	if tomb == nil {
		return time.Time{}, resource.ErrNotFound
	}
	return tomb.at, nil
}

// GetMany returns the items with the given ids from one snapshot, in the order of ids; see
// [resource.MultiGetter].
func (s *Store[T]) GetMany(ctx context.Context, ids []string) iter.Seq2[resource.Item[T], error] {
	return func(yield func(resource.Item[T], error) bool) {
		if err := s.db.startRead(ctx); err != nil {
			yield(resource.Item[T]{}, err)
			return
		}
		found := make([]*record, 0, len(ids))
		for _, id := range ids {
			if r, ok := s.records[id]; ok {
				found = append(found, r)
			}
		}
		s.db.mu.RUnlock()
		for _, r := range found {
			if !yield(s.copyOf(r), nil) {
				return
			}
		}
	}
}

// Count returns the number of items that match q.Filter and q.Search; see [resource.Counter]. Without
// them the cost does not depend on the size of the collection.
func (s *Store[T]) Count(ctx context.Context, q query.Query) (int, error) { return s.count(ctx, q) }

func (s *store) count(ctx context.Context, q query.Query) (int, error) {
	if q.Filter.IsZero() && q.Search.IsZero() {
		if err := s.db.startRead(ctx); err != nil {
			return 0, err
		}
		defer s.db.mu.RUnlock()
		return len(s.records), nil
	}
	n := 0
	err := s.found(ctx, q.Filter, q.Search, func(hit) bool { n++; return true })
	return n, err
}

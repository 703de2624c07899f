package memory

import (
	"context"

	"github.com/stoa-go/stoa/resource"
)

// InsertMany stores all items or none; see InsertMany of [resource.Ops]. The first error is that of
// one item; package resource finds out which by inserting them one by one.
func (s *Store[T]) InsertMany(ctx context.Context, items []resource.Item[T]) error {
	records := make([]*record, len(items))
	for i := range items {
		var err error
		if records[i], err = s.newRecord(items[i].ID, items[i].Value); err != nil {
			return resource.Invalid(s.id.Name, "format")
		}
	}
	return s.db.write(ctx, func(t *txn) error { return s.addAll(t, records) })
}

// addAll adds all records, or none if it returns an error. The caller holds the locks. The records
// are created before, without the locks.
func (s *store) addAll(t *txn, records []*record) error {
	if s.references != nil {
		s.arriving = make(map[string]bool, len(records))
		for _, r := range records {
			s.arriving[r.id] = true
		}
		defer func() { s.arriving = nil }()
	}
	for i, r := range records {
		if err := s.add(t, r, false); err != nil {
			for _, added := range records[:i] {
				// add accepts only ids that are neither in use nor deleted, so this is the state
				// before.
				s.put(t, added.id, state{})
			}
			return err
		}
	}
	return nil
}

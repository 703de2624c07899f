package memory

import (
	"context"
	"errors"
	"fmt"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
)

// Create stores v under a new id; see [resource.Creator].
func (s *Store[T]) Create(ctx context.Context, v T) (resource.Item[T], error) {
	for range 16 { // an Options.NewID that repeats itself is not asked for ever
		r, err := s.record(s.newID(), v)
		if err != nil {
			return resource.Item[T]{}, fmt.Errorf("memory: new id: %w", err)
		}
		err = s.db.write(ctx, func(t *txn) error {
			err := s.add(t, r, false)
			if s.opts.NewID == nil && isUsed(err) {
				// Somebody has inserted the number since it was counted. The next one cannot be inserted before us.
				if err := s.setID(r, s.newID()); err != nil {
					return fmt.Errorf("memory: new id: %w", err)
				}
				return s.add(t, r, false)
			}
			return err
		})
		if err == nil {
			return s.copied(r), nil
		}
		if !isUsed(err) {
			return resource.Item[T]{}, err
		}
	}
	return resource.Item[T]{}, errors.New("memory: Options.NewID keeps giving ids that are in use")
}

// isUsed reports whether add failed because of the id.
func isUsed(err error) bool { return err == resource.ErrExists || err == resource.ErrGone }

// Insert stores v under an id of the caller's; see [resource.Inserter].
func (s *Store[T]) Insert(ctx context.Context, id string, v T) (resource.Item[T], error) {
	r, err := s.record(id, v)
	if err != nil {
		return resource.Item[T]{}, resource.Invalid(s.id.Name, "format")
	}
	if err := s.db.write(ctx, func(t *txn) error { return s.add(t, r, s.opts.Recreate) }); err != nil {
		return resource.Item[T]{}, err
	}
	return s.copied(r), nil
}

// Replace stores v in place of the item with revision expect; see [resource.Replacer].
func (s *Store[T]) Replace(ctx context.Context, id string, expect resource.Rev, v T) (resource.Item[T],
	error) {
	r, err := s.record(id, v)
	if err != nil {
		return resource.Item[T]{}, resource.ErrNotFound // an id that cannot be has no item
	}
	err = s.db.write(ctx, func(t *txn) error {
		old, err := s.lookup(id)
		if err != nil {
			return err
		}
		if old.item.Rev != expect {
			return resource.ErrStale
		}
		if err := s.checkUnique(r); err != nil {
			return err
		}
		s.put(t, id, state[T]{live: r})
		return nil
	})
	if err != nil {
		return resource.Item[T]{}, err
	}
	return s.copied(r), nil // since the caller may change it, and the record must not
}

// Delete removes the item with revision expect and remembers its id; see [resource.Deleter].
func (s *Store[T]) Delete(ctx context.Context, id string, expect resource.Rev) error {
	tomb := &tombstone{s.opts.Now()}
	return s.db.write(ctx, func(t *txn) error {
		old, err := s.lookup(id)
		if err != nil {
			return err
		}
		if old.item.Rev != expect {
			return resource.ErrStale
		}
		s.put(t, id, state[T]{tomb: tomb})
		return nil
	})
}

// record returns v as it will be stored under id. Everything that can be done without the lock is done here, and so is
// everything that calls methods of T or functions of Options, which might call the store. A revision may be wasted on a
// write that is refused; there are enough.
func (s *Store[T]) record(id string, v T) (*record[T], error) {
	if s.clone != nil {
		v = s.clone(v)
	}
	r := &record[T]{item: resource.Item[T]{Value: v}, keys: make([]any, len(s.indexes))}
	if err := s.setID(r, id); err != nil {
		return nil, err
	}
	for i := 1; i < len(s.indexes); i++ { // 0 is by id
		ix := s.indexes[i]
		r.keys[i] = ix.field.Get(&r.item.Value)
		if ix.unique && r.keys[i] != nil && !(ix.leavesOut && ix.field.IsZero(&r.item.Value)) {
			r.unique = append(r.unique, i)
		}
	}
	r.item.Rev = s.newRev()
	r.item.Modified = s.opts.Now()
	return r, nil
}

// setID gives a record its id, in every place that has it.
func (s *Store[T]) setID(r *record[T], id string) error {
	value := &r.item.Value
	if s.id.Text(value) != id { // SetText knows one form only: "01" is not another name of item 1
		if err := s.id.SetText(value, id); err != nil {
			return fmt.Errorf("%q: %s %w", id, s.id.Name, err)
		}
	}
	if id == "" {
		return errors.New("it is empty")
	}
	r.item.ID = id
	r.keys[0] = s.id.Get(value)
	return nil
}

// add stores the first version of an item. It is called with everything locked, and changes nothing if it fails.
func (s *Store[T]) add(t *txn, r *record[T], recreate bool) error {
	switch now := s.state(r.item.ID); {
	case now.live != nil:
		return resource.ErrExists
	case now.tomb != nil && !recreate:
		return resource.ErrGone
	}
	if err := s.checkUnique(r); err != nil {
		return err
	}
	s.countOn(r.keys[0])
	s.put(t, r.item.ID, state[T]{live: r})
	return nil
}

// checkUnique returns an error that names every unique field in which r equals another item. It is called with
// everything locked, so that of two writers with the same value the second sees the first.
func (s *Store[T]) checkUnique(r *record[T]) error {
	var taken []error
	for _, i := range r.unique {
		ix, key := s.indexes[i], r.keys[i]
		// At most one other can have the same value, and it is r itself if r replaces it.
		p := ix.Live().Seek(func(o *record[T]) bool { return query.Compare(o.keys[i], key) < 0 })
		if p == ix.Live().End() {
			continue
		}
		if o := ix.Live().At(p); query.Compare(o.keys[i], key) == 0 && o.item.ID != r.item.ID {
			taken = append(taken, resource.Taken(ix.field.Name))
		}
	}
	if len(taken) == 1 {
		return taken[0]
	}
	return errors.Join(taken...)
}

// state is what there is of an id: a live record, a tombstone, or neither.
type state[T any] struct {
	live *record[T]
	tomb *tombstone
}

func (s *Store[T]) state(id string) state[T] { return state[T]{s.records[id], s.tombs[id]} }

// lookup returns the live record of an id, or why there is none.
func (s *Store[T]) lookup(id string) (*record[T], error) {
	if r, ok := s.records[id]; ok {
		return r, nil
	}
	if _, ok := s.tombs[id]; ok {
		return nil, resource.ErrGone
	}
	return nil, resource.ErrNotFound
}

// put is the one place where anything changes. In a transaction it notes how to undo that, which is to put back what
// there was: records never change, so the old one is still as it was.
func (s *Store[T]) put(t *txn, id string, to state[T]) {
	from := s.state(id)
	if t != nil {
		t.undo = append(t.undo, func() { s.put(nil, id, from) })
	}
	for _, ix := range s.indexes {
		switch {
		// The usual change leaves most indexes in order.
		case from.live != nil && to.live != nil && ix.Compare(from.live, to.live) == 0:
			ix.Replace(from.live, to.live)
			continue
		case from.live != nil:
			ix.Remove(from.live)
		}
		if to.live != nil {
			ix.Insert(to.live)
		}
	}
	setOrDelete(s.records, id, to.live)
	setOrDelete(s.tombs, id, to.tomb)
}

func setOrDelete[V any](m map[string]*V, id string, v *V) {
	if v == nil {
		delete(m, id)
	} else {
		m[id] = v
	}
}

package memory

// Writes. Each creates an immutable record without locks, and then checks and stores it under the
// locks of db.write. put is the only function that changes the maps and indexes.

import (
	"context"
	"errors"
	"fmt"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/internal/modified"
)

// Create stores v under a new id; see [resource.Creator]. A composite id is that of v.
func (s *Store[T]) Create(ctx context.Context, v T) (resource.Item[T], error) {
	if s.id.Key != nil {
		return s.createComposite(ctx, v)
	}
	for range 16 { // limit the attempts, because Options.NewID may repeat ids
		r, err := s.newRecord(s.newID(), v)
		if err != nil {
			return resource.Item[T]{}, fmt.Errorf("memory: new id: %w", err)
		}
		err = s.db.write(ctx, func(t *txn) error {
			err := s.add(t, r, false)
			for s.opts.NewID == nil && isIDTaken(err) {
				// The number was inserted concurrently, or chosen without an effect on new ids. No
				// other one is inserted before the next attempt, because the lock is held.
				if err := s.setID(r, s.newID()); err != nil {
					return fmt.Errorf("memory: new id: %w", err)
				}
				err = s.add(t, r, false)
			}
			return err
		})
		if err == nil {
			return s.copyOf(r), nil
		}
		if !isIDTaken(err) {
			return resource.Item[T]{}, err
		}
	}
	return resource.Item[T]{}, errors.New("memory: new id: Options.NewID returned 16 ids that are in use")
}

// createComposite is Create for a composite id. It is a function of its own because v escapes.
func (s *Store[T]) createComposite(ctx context.Context, v T) (resource.Item[T], error) {
	return s.Insert(ctx, s.id.Text(&v), v)
}

// isIDTaken reports whether add failed because of the id.
func isIDTaken(err error) bool { return err == resource.ErrExists || err == resource.ErrGone }

// Insert stores v under the given id; see [resource.Inserter].
func (s *Store[T]) Insert(ctx context.Context, id string, v T) (resource.Item[T], error) {
	r, err := s.newRecord(id, v)
	if err != nil {
		return resource.Item[T]{}, resource.Invalid(s.id.Name, "format")
	}
	if err := s.db.write(ctx, func(t *txn) error { return s.add(t, r, s.opts.Recreate) }); err != nil {
		return resource.Item[T]{}, err
	}
	return s.copyOf(r), nil
}

// Replace replaces the item with revision expect by v; see [resource.Replacer].
func (s *Store[T]) Replace(ctx context.Context, id string, expect resource.Rev, v T) (resource.Item[T],
	error) {
	r, err := s.newRecord(id, v)
	if err != nil {
		return resource.Item[T]{}, resource.ErrNotFound // no item can have an invalid id
	}
	err = s.db.write(ctx, func(t *txn) error {
		old, err := s.lookup(id)
		if err != nil {
			return err
		}
		if old.rev != expect {
			return resource.ErrStale
		}
		if err := s.check(r); err != nil {
			return err
		}
		r.modified = modified.Next(r.modified, old.modified)
		s.put(t, id, state{live: r})
		return nil
	})
	if err != nil {
		return resource.Item[T]{}, err
	}
	return s.copyOf(r), nil // a copy, because the caller may change it
}

// Delete removes the item with revision expect and remembers its id; see [resource.Deleter].
func (s *Store[T]) Delete(ctx context.Context, id string, expect resource.Rev) error {
	return s.remove(ctx, id, expect)
}

func (s *store) remove(ctx context.Context, id string, expect resource.Rev) error {
	tomb := &tombstone{at: s.opts.Now()}
	return s.db.write(ctx, func(t *txn) error {
		old, err := s.lookup(id)
		if err != nil {
			return err
		}
		if old.rev != expect {
			return resource.ErrStale
		}
		if err := s.checkChildren(id); err != nil {
			return err
		}
		if s.opts.SoftDelete {
			tomb.was = old
		}
		s.put(t, id, state{tomb: tomb})
		return nil
	})
}

// Restores reports whether Options.SoftDelete is set; see [resource.Ops].
func (s *Store[T]) Restores() bool { return s.opts.SoftDelete }

// Restore makes a deleted item exist again; see [resource.Restorer]. Without Options.SoftDelete the value
// of a deleted item is no longer known, and the error is [resource.ErrNotFound].
func (s *Store[T]) Restore(ctx context.Context, id string) (resource.Item[T], error) {
	var r *record
	now := s.opts.Now()
	err := s.db.write(ctx, func(t *txn) error {
		from := s.stateOf(id)
		switch {
		case from.live != nil:
			return resource.ErrExists
		case from.tomb == nil || from.tomb.was == nil:
			return resource.ErrNotFound
		}
		restored := *from.tomb.was // a copy, because records are immutable
		r = &restored
		r.rev = s.newRev()
		r.modified = modified.Next(now, r.modified)
		if err := s.check(r); err != nil {
			return err
		}
		s.put(t, id, state{live: r})
		return nil
	})
	if err != nil {
		return resource.Item[T]{}, err
	}
	return s.copyOf(r), nil
}

// newRecord returns the record of v under id. It runs without the lock, because it calls methods of T and
// functions of Options. A write that fails afterwards wastes a revision, which does no harm.
func (s *Store[T]) newRecord(id string, v T) (*record, error) {
	if s.clone != nil {
		v = s.clone(v)
	}
	r := &recordOf[T]{value: v}
	r.record.value = &r.value
	return &r.record, s.complete(&r.record, id)
}

// complete sets the other fields of a record that has a value.
func (s *store) complete(r *record, id string) error {
	r.keys = make([]any, len(s.indexes))
	if err := s.setID(r, id); err != nil {
		return err
	}
	for i := 1; i < len(s.indexes); i++ { // 0 is by id
		ix := s.indexes[i]
		r.keys[i] = ix.field.Get(r.value)
		if ix.unique && r.keys[i] != nil && !(ix.omitsZero && ix.field.IsZero(r.value)) {
			r.unique = append(r.unique, i)
		}
	}
	for _, u := range s.uniques {
		r.lists = append(r.lists, u.valuesOf(r.value))
	}
	for _, ref := range s.references {
		r.refs = append(r.refs, ref.keyOf(r.value))
	}
	if s.words != nil {
		r.words = s.words.search.Words(func(name string) any { return s.value(r, name) })
	}
	r.rev = s.newRev()
	r.modified = s.opts.Now()
	return nil
}

// setID sets the id in the item, in its value and in the keys.
func (s *store) setID(r *record, id string) error {
	if s.id.Key != nil {
		s.id.Compose(r.value)
	}
	if s.id.Text(r.value) != id { // SetText rejects other spellings: "01" is no alias of 1
		if err := s.id.SetText(r.value, id); err != nil {
			return fmt.Errorf("%q: %s %w", id, s.id.Name, err)
		}
	}
	if id == "" {
		return errors.New("it is empty")
	}
	r.id = id
	r.keys[0] = s.id.Get(r.value)
	return nil
}

// add stores the first version of an item. The caller holds the locks. If add fails, nothing has
// changed.
func (s *store) add(t *txn, r *record, recreate bool) error {
	switch now := s.stateOf(r.id); {
	case now.live != nil:
		return resource.ErrExists
	case now.tomb != nil && !recreate:
		return resource.ErrGone
	case now.tomb != nil:
		r.modified = modified.Next(r.modified, now.tomb.at)
	}
	if err := s.check(r); err != nil {
		return err
	}
	s.raiseLastID(r.keys[0])
	s.put(t, r.id, state{live: r})
	return nil
}

// check returns the constraints that a record violates.
func (s *store) check(r *record) error {
	if err := s.checkUnique(r); err != nil || s.references == nil {
		return err
	}
	return s.checkReferences(r)
}

// checkUnique returns an error for each unique field, or list of fields, in which another item has the
// same values. The caller holds the locks, so that concurrent writers cannot both succeed.
func (s *store) checkUnique(r *record) error {
	var taken []error
	for _, i := range r.unique {
		ix, key := s.indexes[i], r.keys[i]
		// At most one record has the value; if r replaces it, there is no conflict.
		p := ix.Live().Seek(func(o *record) bool { return query.Compare(o.keys[i], key) < 0 })
		if p == ix.Live().End() {
			continue
		}
		if o := ix.Live().At(p); query.Compare(o.keys[i], key) == 0 && o.id != r.id {
			taken = append(taken, resource.Taken(ix.field.Name))
		}
	}
	for i, u := range s.uniques {
		if u.isTaken(r, i) {
			taken = append(taken, resource.Taken(u.fields[0].Name))
		}
	}
	if len(taken) == 1 {
		return taken[0]
	}
	return errors.Join(taken...)
}

// wordList returns the words of a record, which may be nil.
func (r *record) wordList() []string {
	if r == nil {
		return nil
	}
	return r.words
}

// state is the state of an id: a live record, a tombstone, or neither.
type state struct {
	live *record
	tomb *tombstone
}

func (s *store) stateOf(id string) state { return state{s.records[id], s.tombs[id]} }

// lookup returns the live record of an id; ErrGone if it was deleted, and otherwise ErrNotFound.
func (s *store) lookup(id string) (*record, error) {
	if r, ok := s.records[id]; ok {
		return r, nil
	}
	if _, ok := s.tombs[id]; ok {
		return nil, resource.ErrGone
	}
	return nil, resource.ErrNotFound
}

// put sets the state of an id in the maps and all indexes; all writes use it. In a transaction it
// adds an undo that restores the previous state, which is possible because records are immutable.
func (s *store) put(t *txn, id string, to state) {
	from := s.stateOf(id)
	if t != nil {
		t.undo = append(t.undo, func() { s.put(nil, id, from) })
	}
	for _, ix := range s.indexes {
		switch {
		// usually the position in the index does not change
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
	for i, u := range s.uniques {
		u.change(from.live, to.live, i)
	}
	if s.words != nil {
		s.words.change(id, from.live.wordList(), to.live.wordList(), to.live)
	}
	setOrDelete(s.records, id, to.live)
	setOrDelete(s.tombs, id, to.tomb)
}

// setOrDelete keeps nil out of the maps: the length of records is the number of items.
func setOrDelete[V any](m map[string]*V, id string, v *V) {
	if v == nil {
		delete(m, id)
	} else {
		m[id] = v
	}
}

package main

// The store that both sides use, and its item type. It does the least that a correct store must do,
// so that the measured time is that of the HTTP handlers.

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strconv"
	"sync"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
)

// place is the item type: eight fields, with constraints on the writable ones.
type place struct {
	ID         int64   `json:"id" readOnly:"true"`
	Name       string  `json:"name" required:"true" minLength:"1" maxLength:"200"`
	Country    string  `json:"country" required:"true" pattern:"^[A-Z]{2}$"`
	Kind       string  `json:"kind"`
	Admin      string  `json:"admin"`
	Population int64   `json:"population" minimum:"0"`
	Lat        float64 `json:"lat" minimum:"-90" maximum:"90"`
	Lon        float64 `json:"lon" minimum:"-180" maximum:"180"`
}

// row is a stored place. The entity tag for the handler by hand is formatted on write, not on read, and so
// is the id for Stoa.
type row struct {
	place place
	id    string
	rev   resource.Rev
	etag  string
}

// mapStore is a map with a lock, and a sorted slice of the ids. Both peers use it, so that they
// differ in the HTTP handlers only. It implements [resource.Collection], Creator, Replacer, MultiGetter,
// Revisioner and RevisionLister.
type mapStore struct {
	mu   sync.RWMutex
	rows map[int64]*row // rows are immutable; a write replaces the pointer
	ids  []int64        // ascending
	revs uint64
}

// newMapStore returns a store of n places.
func newMapStore(n int) *mapStore {
	s := &mapStore{rows: map[int64]*row{}}
	for i := range n {
		s.add(samplePlace(i))
	}
	return s
}

// samplePlace returns a place. Its coordinates have as many digits as real ones, because formatting
// digits takes time.
func samplePlace(i int) place {
	return place{
		Name: "Ankh-Morpork " + strconv.Itoa(i), Country: "GR", Kind: "PPLA", Admin: "23",
		Population: 22_315_474 - int64(i), Lat: 31.22222 + float64(i%50), Lon: 121.45806 - float64(i%50),
	}
}

// find returns a stored place. The row is immutable, so it may be read without the lock.
func (s *mapStore) find(id int64) (*row, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	found, ok := s.rows[id]
	return found, ok
}

// first returns the first n places.
func (s *mapStore) first(n int) []place {
	s.mu.RLock()
	defer s.mu.RUnlock()
	n = min(n, len(s.ids))
	found := make([]place, n)
	for i, id := range s.ids[:n] {
		found[i] = s.rows[id].place
	}
	return found
}

// add stores a new place with the next id.
func (s *mapStore) add(p place) *row {
	s.mu.Lock()
	defer s.mu.Unlock()
	p.ID = int64(len(s.ids) + 1)
	s.ids = append(s.ids, p.ID)
	return s.put(p)
}

// swap stores p if the stored place has revision expect.
func (s *mapStore) swap(p place, expect resource.Rev) (*row, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch old, ok := s.rows[p.ID]; {
	case !ok:
		return nil, resource.ErrNotFound
	// The comparison and the write are under one lock, which is what makes conditional writes safe.
	case old.rev != expect:
		return nil, resource.ErrStale
	}
	return s.put(p), nil
}

// replace stores p, whatever is stored under its id. It is for the peers of Stoa.
func (s *mapStore) replace(p place) (*row, error) {
	for {
		found, ok := s.find(p.ID)
		if !ok {
			return nil, resource.ErrNotFound
		}
		stored, err := s.swap(p, found.rev)
		if !errors.Is(err, resource.ErrStale) {
			return stored, err
		}
	}
}

// put must be called with the lock held.
// put stores p with a new revision.
func (s *mapStore) put(p place) *row {
	s.revs++
	rev := strconv.FormatUint(s.revs, 10)
	id := strconv.FormatInt(p.ID, 10)
	stored := &row{place: p, id: id, rev: resource.Rev(rev), etag: `"` + rev + `"`}
	s.rows[p.ID] = stored
	return stored
}

// item returns the row in the form that Stoa reads.
func (r *row) item() resource.Item[place] {
	return resource.Item[place]{ID: r.id, Rev: r.rev, Value: r.place}
}

// revision returns the row without its value.
func (r *row) revision() resource.Revision { return resource.Revision{ID: r.id, Rev: r.rev} }

// InMemory declares that reads need no limit of time.
func (s *mapStore) InMemory() bool { return true }

// lookup returns the row with an id.
func (s *mapStore) lookup(id string) (*row, error) {
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return nil, resource.ErrNotFound
	}
	found, ok := s.find(n)
	if !ok {
		return nil, resource.ErrNotFound
	}
	return found, nil
}

// Get implements [resource.Collection].
func (s *mapStore) Get(_ context.Context, id string) (resource.Item[place], error) {
	found, err := s.lookup(id)
	if err != nil {
		return resource.Item[place]{}, err
	}
	return found.item(), nil
}

// GetRevision implements [resource.Revisioner].
func (s *mapStore) GetRevision(_ context.Context, id string) (resource.Revision, error) {
	found, err := s.lookup(id)
	if err != nil {
		return resource.Revision{}, err
	}
	return found.revision(), nil
}

// GetMany implements [resource.MultiGetter].
func (s *mapStore) GetMany(_ context.Context, ids []string) iter.Seq2[resource.Item[place], error] {
	return func(yield func(resource.Item[place], error) bool) {
		for _, id := range ids {
			if found, err := s.lookup(id); err == nil && !yield(found.item(), nil) {
				return
			}
		}
	}
}

// List implements [resource.Collection].
func (s *mapStore) List(_ context.Context, q query.Query) iter.Seq2[resource.Item[place], error] {
	return list(s, q, (*row).item)
}

// ListRevisions implements [resource.RevisionLister].
func (s *mapStore) ListRevisions(_ context.Context, q query.Query) iter.Seq2[resource.Revision, error] {
	return list(s, q, (*row).revision)
}

// list returns a page in the form that convert makes of a row. It sorts by id; no other sort is declared.
func list[Item any](s *mapStore, q query.Query, convert func(*row) Item) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		s.mu.RLock()
		defer s.mu.RUnlock()
		from, after := 0, int64(0)
		// The cursor has one value, the id after which the page begins.
		if q.After != nil {
			after, _ = q.After[0].(int64)
			from, _ = slices.BinarySearch(s.ids, after+1)
		}
		ids := s.ids[from:]
		if q.Limit > 0 && q.Limit < len(ids) {
			ids = ids[:q.Limit]
		}
		for _, id := range ids {
			if !yield(convert(s.rows[id]), nil) {
				return
			}
		}
	}
}

// Create implements [resource.Creator].
func (s *mapStore) Create(_ context.Context, p place) (resource.Item[place], error) {
	return s.add(p).item(), nil
}

// Replace implements [resource.Replacer].
func (s *mapStore) Replace(
	_ context.Context, id string, expect resource.Rev, p place,
) (resource.Item[place], error) {
	if strconv.FormatInt(p.ID, 10) != id {
		return resource.Item[place]{}, resource.ErrNotFound
	}
	stored, err := s.swap(p, expect)
	if err != nil {
		return resource.Item[place]{}, err
	}
	return stored.item(), nil
}

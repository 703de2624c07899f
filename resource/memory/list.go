package memory

// Lists. scan.go chooses an index and reads it.

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory/internal/sorted"
	"github.com/stoa-go/stoa/resource/schema"
)

// List returns the items that q selects; see [resource.Collection]. They are from one snapshot,
// taken when the iteration begins. No lock is held during the iteration, so the consumer may call
// the store. In the order of the id or of another index, the memory used does not depend on the
// number of items.
func (s *Store[T]) List(ctx context.Context, q query.Query) iter.Seq2[resource.Item[T], error] {
	return func(yield func(resource.Item[T], error) bool) {
		w := scan{store: s.store, ctx: ctx, q: q}
		w.emit = func(r *record) bool {
			it := s.copyOf(r)
			it.Keys = w.keysOf(r)
			return yield(it, nil)
		}
		if err := w.run(); err != nil {
			yield(resource.Item[T]{}, err)
		}
	}
}

// ListRevisions is List without the values; see [resource.RevisionLister].
func (s *Store[T]) ListRevisions(ctx context.Context, q query.Query) iter.Seq2[resource.Revision, error] {
	return s.listRevisions(ctx, q)
}

func (s *store) listRevisions(ctx context.Context, q query.Query) iter.Seq2[resource.Revision, error] {
	return func(yield func(resource.Revision, error) bool) {
		w := scan{store: s, ctx: ctx, q: q, emit: func(r *record) bool {
			return yield(r.revision(), nil)
		}}
		if err := w.run(); err != nil {
			yield(resource.Revision{}, err)
		}
	}
}

// ListByKeys returns the items that q selects for each of keys; see [resource.BatchLister]. They
// are from one snapshot. With an index on the field it reads the result only, and otherwise each
// item once. With q.Links it reads the items by id, after the links.
func (s *Store[T]) ListByKeys(
	ctx context.Context, field string, keys []string, q query.Query,
) iter.Seq2[resource.Item[T], error] {
	return func(yield func(resource.Item[T], error) bool) {
		w := scan{store: s.store, ctx: ctx, q: q}
		w.emit = func(r *record) bool {
			it := s.copyOf(r)
			it.Keys = w.keysOf(r)
			return yield(it, nil)
		}
		var err error
		if q.Links != nil {
			err = w.runByLinks(field, keys, func(key string, r *record) bool {
				it := s.copyOf(r)
				it.Keys = append(w.keysOf(r), key)
				return yield(it, nil)
			})
		} else {
			err = w.runByKeys(field, keys)
		}
		if err != nil {
			yield(resource.Item[T]{}, err)
		}
	}
}

// runByKeys executes the query for each key of a field.
func (w *scan) runByKeys(field string, keys []string) error {
	f := w.store.typ.Field(field)
	if f == nil {
		return fmt.Errorf("memory: %v has no field %q", w.store.typ.GoType, field)
	}
	if i := w.store.indexOf(field); i >= 0 {
		return w.runByIndex(i, parseKeys(f, keys))
	}
	return w.runByScan(f, parseKeys(f, keys))
}

// CountByKeys returns the number of items that q.Filter selects for each of keys; see
// [resource.BatchCounter]. They are from one snapshot. It reads what ListByKeys would read.
func (s *Store[T]) CountByKeys(
	ctx context.Context, field string, keys []string, q query.Query,
) (map[string]int, error) {
	return s.countByKeys(ctx, field, keys, q)
}

func (s *store) countByKeys(
	ctx context.Context, field string, keys []string, q query.Query,
) (map[string]int, error) {
	if q.Links != nil {
		return s.countByLinks(ctx, field, keys, q)
	}
	f := s.typ.Field(field)
	if f == nil {
		return nil, fmt.Errorf("memory: %v has no field %q", s.typ.GoType, field)
	}
	values := parseKeys(f, keys)
	counts := make([]int, len(values))
	w := scan{store: s, ctx: ctx, q: query.Query{Filter: q.Filter}, emit: func(r *record) bool {
		if i, found := slices.BinarySearchFunc(values, f.Get(r.value), query.Compare); found {
			counts[i]++
		}
		return true
	}}
	if i := s.indexOf(field); i >= 0 {
		if err := w.runByIndex(i, values); err != nil {
			return nil, err
		}
	} else if err := w.run(); err != nil {
		return nil, err
	}
	out := make(map[string]int, len(keys))
	for _, key := range keys {
		if v, err := f.Parse(key); err == nil {
			i, _ := slices.BinarySearchFunc(values, v, query.Compare)
			out[key] = counts[i]
		}
	}
	return out, nil
}

// parseKeys returns the sorted, distinct values that keys represent. A key that is not valid for
// the field has no items and is skipped. Keys that parse as the same value are one: an item must
// not occur twice in the result.
func parseKeys(f *schema.Field, keys []string) []any {
	values := make([]any, 0, len(keys))
	for _, key := range keys {
		if v, err := f.Parse(key); err == nil {
			values = append(values, v)
		}
	}
	slices.SortFunc(values, query.Compare)
	return slices.CompactFunc(values, func(a, b any) bool { return query.Compare(a, b) == 0 })
}

// runByIndex executes the query for each value, using one snapshot of the field's index.
func (w *scan) runByIndex(i int, values []any) error {
	if !w.normalize() {
		return w.ctx.Err()
	}
	if err := w.snapshot(func() plan { return plan{index: i, sortAll: true, order: w.q.Sort} }); err != nil {
		return err
	}
	// this filter limits the range to one run of the index
	filter, field := w.q.Filter, w.store.indexes[i].field.Name
	for _, value := range values {
		w.q.Filter = query.And(query.Where(field, query.Eq, value), filter)
		if w.execute(); w.stopped || w.err != nil {
			break
		}
	}
	return w.err
}

// runByScan reads every item once, groups the items by value, and sorts each group. One scan per
// value would be slow if there are many keys.
func (w *scan) runByScan(f *schema.Field, values []any) error {
	if !w.normalize() {
		return w.ctx.Err()
	}
	if err := w.snapshot(func() plan { return plan{sortAll: true, order: w.q.Sort} }); err != nil {
		return err
	}
	// Values are sorted for binary search. A map would compare times with == instead of
	// query.Compare.
	groups := make([][]*record, len(values))
	for r := range w.view.Between(sorted.Place{}, w.view.End(), false) {
		g, found := slices.BinarySearchFunc(values, f.Get(r.value), query.Compare)
		if found && w.matches(r) {
			groups[g] = append(groups[g], r)
		}
		if w.err != nil {
			return w.err
		}
	}
	for _, group := range groups {
		w.left = w.q.Limit
		if w.emitSorted(group, w.q.After); w.stopped || w.err != nil {
			break
		}
	}
	return w.err
}

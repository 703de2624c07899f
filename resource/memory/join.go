package memory

// Filters, sort keys and groups through relations to other collections of this package. scan.go calls join
// before it takes its snapshot: the keys of the related items that match, and the values of their fields,
// are read first, and are then looked up. aggregate.go and search.go read the values in the same way.

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strconv"

	"github.com/stoa-go/stoa/query"
)

// related is another collection as the Target of a query.Join.
type related interface {
	// keysOf returns the values of fields in the items that match f, sorted and distinct.
	keysOf(ctx context.Context, fields []string, f query.Filter) (keySet, error)
	// valuesOf returns the values of field in the items that match f, by the values of fields, which no two
	// items share.
	valuesOf(ctx context.Context, fields []string, f query.Filter, field string) (*valueMap, error)
	// valuesBy returns the distinct values of field in the items that match f, for each key of the field by.
	valuesBy(ctx context.Context, by string, keys []string, f query.Filter, field string) (
		map[string][]any, error)
}

// Joins reports whether lists can read the items of another collection, which must be a [Store]; see
// [resource.Joiner]. They are read before the items of the list, in a snapshot of their own. The memory
// used depends on the number of related items that match.
func (s *Store[T]) Joins(j *query.Join) bool {
	_, ok := j.Target.(related)
	return ok
}

// keySet is a sorted list of keys, each with one value per field.
type keySet [][]any

func compareKeys(a, b []any) int { return slices.CompareFunc(a, b, query.Compare) }

func (k keySet) has(key []any) bool {
	_, found := slices.BinarySearchFunc(k, key, compareKeys)
	return found
}

// keysOf implements related.
func (s *store) keysOf(ctx context.Context, fields []string, f query.Filter) (keySet, error) {
	var keys keySet
	w := scan{store: s, ctx: ctx, q: query.Query{Filter: f}, emit: func(r *record) bool {
		if key := s.keyIn(r, fields); key != nil {
			keys = append(keys, key)
		}
		return true
	}}
	if err := w.run(); err != nil {
		return nil, err
	}
	slices.SortFunc(keys, compareKeys)
	return slices.CompactFunc(keys, func(a, b []any) bool { return compareKeys(a, b) == 0 }), nil
}

// valueMap has a value for each key. The keys are sorted.
type valueMap struct {
	keys   keySet
	values []any
}

func (m *valueMap) Len() int           { return len(m.keys) }
func (m *valueMap) Less(i, j int) bool { return compareKeys(m.keys[i], m.keys[j]) < 0 }
func (m *valueMap) Swap(i, j int) {
	m.keys[i], m.keys[j] = m.keys[j], m.keys[i]
	m.values[i], m.values[j] = m.values[j], m.values[i]
}

// of returns the value of a key, and nil if there is none.
func (m *valueMap) of(key []any) any {
	i, found := slices.BinarySearchFunc(m.keys, key, compareKeys)
	if key == nil || !found {
		return nil
	}
	return m.values[i]
}

// valuesOf implements related.
func (s *store) valuesOf(
	ctx context.Context, fields []string, f query.Filter, field string,
) (*valueMap, error) {
	m := &valueMap{}
	w := scan{store: s, ctx: ctx, q: query.Query{Filter: f}, emit: func(r *record) bool {
		if key := s.keyIn(r, fields); key != nil {
			m.keys, m.values = append(m.keys, key), append(m.values, query.Canonical(s.value(r, field)))
		}
		return true
	}}
	if err := w.run(); err != nil {
		return nil, err
	}
	if !sort.IsSorted(m) {
		sort.Sort(m)
	}
	return m, nil
}

// computed are values that are no fields of a record, by the names that queries have for them.
type computed map[string]func(*record) any

// joinSort returns the values of the sort keys that are fields of related items.
func (s *store) joinSort(ctx context.Context, sort []query.Order) (computed, error) {
	var values computed
	for _, key := range sort {
		if key.Joined == nil {
			continue
		}
		fn, err := s.joinField(ctx, key.Field, key.Joined)
		if err != nil {
			return nil, err
		}
		if values == nil {
			values = make(computed)
		}
		values[key.Field] = fn
	}
	return values, nil
}

// joinField returns the function that returns the value of a field of the related item, or nil if there is
// none. path is the name of the field.
func (s *store) joinField(
	ctx context.Context, path string, field *query.JoinedField,
) (func(*record) any, error) {
	j := field.Join
	to, ok := j.Target.(related)
	if !ok {
		return nil, fmt.Errorf("memory: cannot read %s of a %T", path, j.Target)
	}
	m, err := to.valuesOf(ctx, j.By, field.Filter, field.Field)
	if err != nil {
		return nil, err
	}
	return func(r *record) any { return m.of(s.keyIn(r, j.Field)) }, nil
}

// keysOf returns Item.Keys of an item. value returns its fields by name.
func keysOf(sort []query.Order, value func(name string) any) (keys []any) {
	for _, key := range sort {
		if key.Joined != nil || key.Field == query.Rank {
			keys = append(keys, value(key.Field))
		}
	}
	return keys
}

// of returns a value of a record for package query.
func (c computed) of(s *store, r *record, name string) any {
	if fn := c[name]; fn != nil {
		return fn(r)
	}
	return s.value(r, name)
}

// keyIn returns the values of fields of a record, and nil if one of them is null.
func (s *store) keyIn(r *record, fields []string) []any {
	key := make([]any, len(fields))
	for i, name := range fields {
		if key[i] = query.Canonical(s.value(r, name)); key[i] == nil {
			return nil
		}
	}
	return key
}

// fewKeys is the number of keys up to which an In replaces the search in a keySet, because it can use
// an index.
const fewKeys = 64

// join reads the values of sort keys, and replaces the conditions on related items of the filter by
// conditions on the record.
func (w *scan) join() (err error) {
	if w.joined, err = w.store.joinSort(w.ctx, w.q.Sort); err != nil || !hasJoin(w.q.Filter) {
		return err
	}
	f, err := w.q.Filter.Map(func(term query.Filter) (query.Filter, error) {
		j, ok := term.Value.(*query.Join)
		if term.Op != query.SomeOp || !ok || len(term.Filters) != 1 {
			return term, nil
		}
		to, ok := j.Target.(related)
		if !ok {
			return term, nil // matches nothing
		}
		keys, err := to.keysOf(w.ctx, j.By, term.Filters[0])
		if err != nil {
			return term, err
		}
		if len(j.Field) == 1 && len(keys) <= fewKeys {
			values := make([]any, len(keys))
			for i, key := range keys {
				values[i] = key[0]
			}
			return query.Filter{Op: query.In, Field: j.Field[0], Value: values}, nil
		}
		name := "\x00" + strconv.Itoa(len(w.joined))
		if w.joined == nil {
			w.joined = make(computed)
		}
		w.joined[name] = func(r *record) any {
			key := w.store.keyIn(r, j.Field)
			return key != nil && keys.has(key)
		}
		return query.Filter{Op: query.Eq, Field: name, Value: true}, nil
	})
	w.q.Filter = f
	return err
}

// hasJoin reports whether a filter has a condition on related items.
func hasJoin(f query.Filter) bool {
	return f.Op == query.SomeOp || slices.ContainsFunc(f.Filters, hasJoin)
}

// field returns a value of the current record for query.Match.
func (w *scan) field(name string) any {
	return w.joined.of(w.store, w.current, name)
}

// keysOf returns Item.Keys of a record.
func (w *scan) keysOf(r *record) []any {
	if w.joined == nil {
		return nil
	}
	return keysOf(w.q.Sort, func(name string) any { return w.joined.of(w.store, r, name) })
}

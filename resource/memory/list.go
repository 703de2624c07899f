package memory

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

// List returns the items q asks for; see [resource.Collection]. They are those of one moment: what is written after the
// iteration has begun does not show, however long that takes. No lock is held meanwhile, so the consumer is free to call
// the store. In the order of the id or of another index even an export of everything needs hardly any memory.
func (s *Store[T]) List(ctx context.Context, q query.Query) iter.Seq2[resource.Item[T], error] {
	return func(yield func(resource.Item[T], error) bool) {
		w := walk[T]{store: s, ctx: ctx, q: q, emit: func(r *record[T]) bool {
			return yield(s.copied(r), nil)
		}}
		if err := w.run(); err != nil {
			yield(resource.Item[T]{}, err)
		}
	}
}

// ListByKeys returns the items that q asks for, for each of keys; see [resource.BatchLister]. All of them are of one moment.
// With an index on the field it reads only what it returns, else every item once.
func (s *Store[T]) ListByKeys(
	ctx context.Context, field string, keys []string, q query.Query,
) iter.Seq2[resource.Item[T], error] {
	return func(yield func(resource.Item[T], error) bool) {
		f := s.typ.Field(field)
		if f == nil {
			yield(resource.Item[T]{}, fmt.Errorf("memory: %v has no field %q", s.typ.GoType, field))
			return
		}
		w := walk[T]{store: s, ctx: ctx, q: q, emit: func(r *record[T]) bool {
			return yield(s.copied(r), nil)
		}}
		var err error
		if i := s.indexOf(field); i >= 0 {
			err = w.runByIndex(i, parseKeys(f, keys))
		} else {
			err = w.runByScan(f, parseKeys(f, keys))
		}
		if err != nil {
			yield(resource.Item[T]{}, err)
		}
	}
}

// parseKeys returns the values of a field that keys are the text of, in order. A text that cannot be one of its values
// has no items.
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

// runByIndex answers the query once for each value, from one snapshot of the index by the field.
func (w *walk[T]) runByIndex(i int, values []any) error {
	if !w.prepare() {
		return w.ctx.Err()
	}
	if err := w.take(func() plan { return plan{index: i, whole: true, rest: w.q.Sort} }); err != nil {
		return err
	}
	// The limits of this filter are those of one value, which is one run of the index.
	filter, field := w.q.Filter, w.store.indexes[i].field.Name
	for _, value := range values {
		w.q.Filter = query.And(query.Where(field, query.Eq, value), filter)
		if w.walk(); w.stopped || w.err != nil {
			break
		}
	}
	return w.err
}

// runByScan looks at every item once, puts it to the others of the same value, and then sorts each group. One scan for
// all values: a scan for each would make a page of a hundred relations a hundred times as expensive.
func (w *walk[T]) runByScan(f *schema.Field, values []any) error {
	if !w.prepare() {
		return w.ctx.Err()
	}
	if err := w.take(func() plan { return plan{whole: true, rest: w.q.Sort} }); err != nil {
		return err
	}
	// values is sorted, so that a search in it tells the group: unlike a map, query.Compare knows which times are equal.
	groups := make([][]*record[T], len(values))
	for r := range w.view.Between(sorted.Place{}, w.view.End(), false) {
		g, found := slices.BinarySearchFunc(values, f.Get(&r.item.Value), query.Compare)
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

package memory

// Lists and counts by keys of links, which are items of another collection. list.go calls it.

import (
	"context"
	"fmt"
	"slices"

	"github.com/stoa-go/stoa/query"
)

// valuesBy implements related.
func (s *store) valuesBy(
	ctx context.Context, by string, keys []string, f query.Filter, field string,
) (map[string][]any, error) {
	values := make(map[string][]any, len(keys))
	key := s.typ.Field(by)
	w := scan{store: s, ctx: ctx, q: query.Query{Filter: f}, emit: func(r *record) bool {
		if v := query.Canonical(s.value(r, field)); v != nil {
			text := key.Text(r.value)
			values[text] = append(values[text], v)
		}
		return true
	}}
	if err := w.runByKeys(by, keys); err != nil {
		return nil, err
	}
	for text, of := range values {
		slices.SortFunc(of, query.Compare)
		values[text] = slices.CompactFunc(of, func(a, b any) bool { return query.Compare(a, b) == 0 })
	}
	return values, nil
}

// runByLinks executes the query for the items to which the links with each key lead. The links are read
// before the items, which are in one snapshot. emit replaces that of w.
func (w *scan) runByLinks(field string, keys []string, emit func(key string, r *record) bool) error {
	links := w.q.Links
	to, ok := links.Join.Target.(related)
	if !ok {
		return fmt.Errorf("memory: cannot read links of a %T", links.Join.Target)
	}
	ids, err := to.valuesBy(w.ctx, field, keys, links.Filter, links.Join.By[0])
	if err != nil {
		return err
	}
	if !w.normalize() {
		return w.ctx.Err()
	}
	if err := w.snapshot(func() plan { return plan{sortAll: true, order: w.q.Sort} }); err != nil {
		return err
	}
	for _, key := range keys {
		var linked []*record
		for _, id := range ids[key] {
			from, end := w.rangeOf(w.view, 0, limits{id, id, true, true})
			if from.Before(end) && w.matches(w.view.At(from)) {
				linked = append(linked, w.view.At(from))
			}
			if w.err != nil {
				return w.err
			}
		}
		w.emit = func(r *record) bool { return emit(key, r) }
		w.left = w.q.Limit
		if w.emitSorted(linked, nil); w.stopped || w.err != nil {
			break
		}
	}
	return w.err
}

// countByLinks counts the items to which the links with each key lead.
func (s *store) countByLinks(
	ctx context.Context, field string, keys []string, q query.Query,
) (map[string]int, error) {
	counts := make(map[string]int, len(keys))
	w := scan{store: s, ctx: ctx, q: query.Query{Filter: q.Filter, Links: q.Links}}
	err := w.runByLinks(field, keys, func(key string, _ *record) bool {
		counts[key]++
		return true
	})
	return counts, err
}

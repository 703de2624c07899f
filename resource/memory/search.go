package memory

// Full-text search. It reads the items that the filter or the index of words selects, whichever are fewer,
// and compares their words.

import (
	"context"
	"iter"
	"slices"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory/internal/sorted"
)

// hit is a record that a search has found.
type hit struct {
	record *record
	rank   float64
}

// Search returns the items that q.Filter and q.Search select; see [resource.Searcher] and
// [Options.Search].
func (s *Store[T]) Search(ctx context.Context, q query.Query) iter.Seq2[resource.Item[T], error] {
	return func(yield func(resource.Item[T], error) bool) {
		var hits []hit
		values, err := s.joinSort(ctx, q.Sort)
		if err == nil {
			keep := func(h hit) bool { hits = append(hits, h); return true }
			err = s.found(ctx, q.Filter, q.Search, keep)
		}
		if err != nil {
			yield(resource.Item[T]{}, err)
			return
		}
		byRank := isByRank(q)
		field := func(h *hit, name string) any {
			if name == query.Rank {
				return h.rank
			}
			return values.of(s.store, h.record, name)
		}
		page := query.Query{Sort: q.Sort, After: q.After, Limit: q.Limit}
		for _, h := range query.Select(page, hits, field) {
			if err := ctx.Err(); err != nil {
				yield(resource.Item[T]{}, err)
				return
			}
			it := s.copyOf(h.record)
			if byRank || values != nil {
				it.Keys = keysOf(q.Sort, func(name string) any { return field(&h, name) })
			}
			if !yield(it, nil) {
				return
			}
		}
	}
}

// found calls fn with each record that a filter and a search select, in any order, until it returns false.
// The lock is not held.
func (s *store) found(
	ctx context.Context, f query.Filter, search query.Search, fn func(hit) bool,
) error {
	w := scan{store: s, ctx: ctx, q: query.Query{Filter: f}}
	value := func(field string) any { return s.value(w.current, field) } // one closure for all records
	w.emit = func(r *record) bool {
		w.current = r
		rank, ok := search.Match(value)
		return !ok || fn(hit{r, rank})
	}
	w.normalize()
	byWords := !search.IsZero() && s.words.covers(search)
	var words sorted.View[*wordEntry]
	choose := func() plan {
		if byWords {
			words = s.words.Snapshot()
		}
		p := w.choosePlan()
		p.order = nil // any order will do
		return p
	}
	if err := w.snapshot(choose); err != nil {
		return err
	}
	if byWords {
		from, to := w.rangeOf(w.view, w.index, limitsOf(f, s.indexes[w.index].field.Name))
		if ranges, n := rangesOf(words, search); n <= w.view.Count(from, to) {
			return w.emitWords(words, ranges)
		}
	}
	w.execute()
	return w.err
}

// emitWords emits the records of some ranges of the index of words, each once.
func (w *scan) emitWords(words sorted.View[*wordEntry], ranges []wordRange) error {
	seen := map[*record]bool{}
	for _, part := range ranges {
		for e := range words.Between(part.from, part.to, false) {
			if part.prefix || len(ranges) > 1 {
				if seen[e.record] {
					continue
				}
				seen[e.record] = true
			}
			if w.matches(e.record) && !w.emit(e.record) || w.err != nil {
				return w.err
			}
		}
	}
	return nil
}

// Search runs q with a Search on items, as [List] does for other queries. It makes the method Search of a
// small collection one line.
func Search[T any](items []resource.Item[T], q query.Query) iter.Seq2[resource.Item[T], error] {
	return func(yield func(resource.Item[T], error) bool) {
		field := fieldOf[T]()
		for it := range List(items, q) {
			if isByRank(q) {
				rank, _ := q.Search.Match(func(name string) any { return field(&it, name) })
				it.Keys = []any{rank}
			}
			if !yield(it, nil) {
				return
			}
		}
	}
}

// isByRank reports whether a search is sorted by rank.
func isByRank(q query.Query) bool {
	return slices.ContainsFunc(q.Sort, func(o query.Order) bool { return o.Field == query.Rank })
}

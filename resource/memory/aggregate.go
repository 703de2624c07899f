package memory

// Groups and their aggregates, which package query computes.

import (
	"cmp"
	"context"
	"iter"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
)

// Aggregate groups the items that match a.Filter and a.Search; see [resource.Aggregator]. It reads the
// items that match a.Filter, and no others if an index selects them. More groups, aggregates and
// different values than [query.MaxSummary] are an error, which the client receives (400).
func (s *Store[T]) Aggregate(ctx context.Context, a query.Aggregation) iter.Seq2[query.Group, error] {
	return s.aggregate(ctx, a)
}

func (s *store) aggregate(ctx context.Context, a query.Aggregation) iter.Seq2[query.Group, error] {
	return func(yield func(query.Group, error) bool) {
		values := make(computed)
		for path, field := range a.Joined {
			fn, err := s.joinField(ctx, path, field)
			if err != nil {
				yield(query.Group{}, err)
				return
			}
			values[path] = fn
		}
		sum := query.NewSummary(a)
		var current *record
		var full error
		value := func(field string) any { return values.of(s, current, field) }
		err := s.found(ctx, a.Filter, a.Search, func(h hit) bool {
			current = h.record
			full = sum.Add(value)
			return full == nil
		})
		var groups []query.Group
		if err = cmp.Or(err, full); err == nil {
			groups, err = sum.Groups(ctx)
		}
		yieldAll(groups, err, yield)
	}
}

// Aggregate runs a on items. It makes the Aggregate method of a small collection one line, and supports
// whatever [query.Support] can declare. See [List] for the id.
func Aggregate[T any](items []resource.Item[T], a query.Aggregation) iter.Seq2[query.Group, error] {
	return func(yield func(query.Group, error) bool) {
		groups, err := query.Summarize(a, items, fieldOf[T]())
		yieldAll(groups, err, yield)
	}
}

func yieldAll(groups []query.Group, err error, yield func(query.Group, error) bool) {
	if err != nil {
		yield(query.Group{}, err)
		return
	}
	for _, g := range groups {
		if !yield(g, nil) {
			return
		}
	}
}

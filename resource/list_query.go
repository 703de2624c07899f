package resource

// The query of a list in the names of the collection: conversion, relations, and the filters of the policy.
// Count is here because it has nothing else. Called by files list_*.go and relation_*.go, and by protocols.
// It calls relation_filter.go.

import (
	"context"
	"errors"
	"slices"

	"github.com/stoa-go/stoa/query"
)

// Count returns the number of items that f selects and the caller may see. If [Description].Counts
// is false, it returns an internal error.
func (r *Resource) Count(ctx context.Context, f query.Filter) (int, error) {
	return r.CountFound(ctx, query.Query{Filter: f})
}

// CountFound is [Resource.Count] for q.Filter and q.Search. The other fields of q are ignored.
func (r *Resource) CountFound(ctx context.Context, q query.Query) (int, error) {
	ctx = r.inCatalog(ctx)
	if !r.Describe().Counts {
		return 0, r.wrap(OpList, "", errNoCount)
	}
	q, err := r.storeQuery(ctx, query.Query{Filter: q.Filter, Search: q.Search})
	if err != nil {
		return 0, r.wrap(OpList, "", err)
	}
	var n int
	err = r.core.limited(ctx, func(ctx context.Context) (err error) {
		n, err = r.core.ops.count(ctx, q)
		return err
	})
	if err != nil {
		return 0, r.wrap(OpList, "", err)
	}
	return n, nil
}

var errNoCount = errors.New("the collection does not support counting")

// storeFilter converts a filter from the names of this projection to those of the collection, and its
// operands to the kinds of the fields.
func (r *Resource) storeFilter(f query.Filter) (query.Filter, error) {
	f, err := r.projection.filterToStore(f)
	if err == nil {
		f, err = r.core.withOperands(f)
	}
	return f, err
}

// storeQuery converts a query from the names of this projection to those of the collection. It adds
// the filters of the projection and the caller's scope.
func (r *Resource) storeQuery(ctx context.Context, q query.Query) (query.Query, error) {
	f, err := r.storeFilter(q.Filter)
	if err == nil {
		f, err = r.resolveRelations(ctx, f)
	}
	if err != nil {
		return q, err
	}
	q.Filter = f
	if len(r.projection.where) > 0 {
		q.Filter = query.And(append([]query.Filter{f}, r.projection.where...)...)
	}
	scope, err := r.core.scopeOf(ctx)
	if err != nil {
		return q, err
	}
	if q.Filter, err = r.core.keyFilter(query.And(q.Filter, scope)); err != nil {
		return q, err
	}
	if q.Search, err = r.storeSearch(q.Search); err != nil {
		return q, err
	}
	q.Sort, err = r.storeSort(ctx, q.Sort)
	return q, err
}

// storeSort converts sort keys from the names of this projection to those of the collection.
func (r *Resource) storeSort(ctx context.Context, sort []query.Order) ([]query.Order, error) {
	stored := sort
	copied := false
	for i, key := range sort {
		switch {
		case key.Field == query.Rank:
			continue
		case isPath(key.Field, r.projection.typ):
			var err error
			if key, err = r.joinedKey(ctx, pathSort, key, stored[:i]); err != nil {
				return nil, err
			}
		case r.projection.storeNames == nil:
			continue
		default:
			key.Field = r.projection.storeNames[key.Field]
		}
		if !copied {
			stored, copied = slices.Clone(sort), true
		}
		stored[i] = key
	}
	return stored, nil
}

// storeSearch converts the search of a query. A view that lacks a searched field has no search, because
// the result would reveal the field.
func (r *Resource) storeSearch(s query.Search) (query.Search, error) {
	if s.IsZero() {
		return s, nil
	}
	support := query.Support{Search: r.Describe().Query.Search}
	if err := support.Check(query.Query{Search: s}, ""); err != nil {
		return s, err
	}
	s.Fields = r.core.query.Search
	return s, nil
}

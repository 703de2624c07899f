package main

import (
	"context"
	"errors"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
)

// saga holds the stores of all resources.
type saga struct {
	characters resource.Ops[Character]
	planets    resource.Ops[Planet]
	species    resource.Ops[Species]
	films      resource.Ops[Film]
	reviews    resource.Ops[Review]
}

// newSaga stores the data in memory.
func newSaga(ctx context.Context) (*saga, error) {
	s := &saga{}
	var errs [5]error
	s.characters, errs[0] = facts(ctx, characters(), func(v Character) string { return v.ID })
	s.planets, errs[1] = facts(ctx, planets(), func(v Planet) string { return v.ID })
	s.species, errs[2] = facts(ctx, species(), func(v Species) string { return v.ID })
	s.films, errs[3] = facts(ctx, films(), func(v Film) string { return string(v.ID) })
	s.reviews, errs[4] = opinions(ctx, reviews())
	return s, errors.Join(errs[:]...)
}

// facts returns a read-only store with these items.
func facts[T any](ctx context.Context, items []T, id func(T) string) (resource.Ops[T], error) {
	store := memory.New[T](nil)
	for _, item := range items {
		if _, err := store.Insert(ctx, id(item), item); err != nil {
			return resource.Ops[T]{}, err
		}
	}
	return resource.Ops[T]{
		Get:        store.Get,
		List:       store.List,
		Count:      store.Count,
		GetMany:    store.GetMany,
		ListByKeys: store.ListByKeys,
	}, nil
}

// opinions returns a store of reviews, which assigns the ids.
func opinions(ctx context.Context, items []Review) (resource.Ops[Review], error) {
	store := memory.New(&memory.Options[Review]{Index: []string{"episode"}})
	for _, item := range items {
		if _, err := store.Create(ctx, item); err != nil {
			return resource.Ops[Review]{}, err
		}
	}
	ops := resource.OpsOf(store)
	ops.Insert, ops.InsertMany = nil, nil
	return ops, nil
}

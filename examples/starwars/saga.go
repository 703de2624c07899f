package main

// The stores. Facts cannot be changed, so their collections have no writes.

import (
	"context"
	"errors"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
)

// saga holds the stores of all resources. They are [resource.Ops], so that tests can count calls
// and a program can leave capabilities out.
type saga struct {
	characters resource.Ops[Character]
	planets    resource.Ops[Planet]
	species    resource.Ops[Species]
	films      resource.Ops[Film]
	reviews    resource.Ops[Review]
}

// newSaga stores the data in memory. To use a database, return other stores here: relations and
// fields do not depend on the kind.
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

// facts returns a read-only store with these items. Without Create, Replace and Delete there are no
// mutations in GraphQL and no POST, PUT, PATCH and DELETE in REST. GetMany and ListByKeys keep the
// batched calls of relations.
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

// opinions returns a store of reviews. Clients may create, change and delete them, but not choose
// their ids, so Insert is removed. The index serves ListByKeys of the relation by episode.
func opinions(ctx context.Context, items []Review) (resource.Ops[Review], error) {
	// Ids are integers, so the store counts them.
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

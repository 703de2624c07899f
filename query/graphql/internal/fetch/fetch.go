// Package fetch asks a catalog for what the fields of a GraphQL schema show: it turns coerced arguments into calls of
// resources, lookups, commands and custom functions.
//
// It is for query/graphql/internal/exec, and for the resolvers of graphqltest/oracle. Arguments are as package
// coerce makes them. Errors are those of the catalog; what to tell clients of them is business of package gqlerror.
//
// Who may see and do what is nowhere asked here. Every way to an item is a method of [resource.Resource], which asks.
package fetch

import (
	"context"

	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/problem"
)

// Fetcher asks one catalog, within the catalog's limits. It is safe for concurrent use.
type Fetcher struct {
	limits resource.Limits
}

// New returns a Fetcher for a catalog.
func New(c *resource.Catalog) *Fetcher { return &Fetcher{limits: c.Limits()} }

// Item asks for the one item of a field with Source Get or Lookup. There may be none: nil. That is so as well for what
// the caller may not see, for what was deleted, and for an id that no item can have.
func (x *Fetcher) Item(ctx context.Context, f *model.Field, args map[string]any) (*resource.Entry, error) {
	var e resource.Entry
	var err error
	if f.Source == model.Lookup {
		var in any
		if in, err = x.input(f.Lookup.Input(), f.Args, args); err != nil {
			return nil, err
		}
		e, err = f.Lookup.Find(ctx, in, f.Resource)
		err = located(err, f.Args, "")
	} else {
		id, _ := args["id"].(string)
		e, err = f.Resource.Get(ctx, id)
	}
	switch {
	case err == nil:
		return &e, nil
	case isAbsent(err):
		return nil, nil
	}
	return nil, err
}

// isAbsent reports whether an error says no more than that there is no item.
func isAbsent(err error) bool {
	kind := resource.Problem(err).Kind
	return kind == problem.NotFound || kind == problem.Gone
}

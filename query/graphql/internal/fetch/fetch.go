// Package fetch resolves the fields of a GraphQL schema against a catalog. It converts coerced
// arguments to calls of resources, lookups, commands and custom functions.
//
// Package exec calls it, and so do the resolvers of graphqltest/oracle. Arguments have the form
// that package coerce returns. Errors are those of the catalog; package gqlerror converts them for
// clients.
//
// This package contains no authorization. All access is by methods of [resource.Resource], which
// authorize.
package fetch

import (
	"context"

	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/problem"
)

// Fetcher resolves fields of one catalog, within the catalog's limits. It is safe for concurrent
// use.
type Fetcher struct {
	limits resource.Limits // of the catalog, with defaults
}

// New returns a Fetcher for c. It reads the limits once, because they do not change after the
// catalog is created.
func New(c *resource.Catalog) *Fetcher { return &Fetcher{limits: c.Limits()} }

// Item returns the item of a field with Source Get or Lookup. It returns nil if there is no such
// item, if it was deleted, or if the caller is not allowed to see it. The response does not
// distinguish these cases, so it does not reveal that a hidden item exists.
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
		// The schema requires the id, so it is present.
		var id string
		if id, _, err = itemID(f, args); err != nil {
			return nil, err
		}
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

// isAbsent reports whether err means that the item does not exist or was deleted. resource.Problem
// also recognizes errors that a lookup of the application has wrapped.
func isAbsent(err error) bool {
	kind := resource.Problem(err).Kind
	return kind == problem.NotFound || kind == problem.Gone
}

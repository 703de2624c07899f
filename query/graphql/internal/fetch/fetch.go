// Package fetch asks a catalog for what the fields of a GraphQL schema show: it turns coerced arguments into calls of
// resources, lookups, commands and custom functions.
//
// It is for query/graphql/internal/exec, and for the resolvers that graphql-go's executor is given. Arguments are as package
// coerce makes them. Errors are those of the catalog; what to tell clients of them is package fault's business.
package fetch

import (
	"context"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/resource"
)

// Fetcher asks one catalog, within the catalog's limits. It is safe for concurrent use.
type Fetcher struct {
	limits resource.Limits
}

// New returns a Fetcher for a catalog.
func New(c *resource.Catalog) *Fetcher { return &Fetcher{limits: c.Limits()} }

// Connection is a page of a list. Release its Page when done.
type Connection struct {
	Page resource.Page
	// Filter is what the list was asked for, so that all of it can be counted.
	Filter query.Filter
}

// List asks for the page that the arguments of a field with Source List name. Columns are the JSON names of the members
// that will be looked at, nil for all.
func (x *Fetcher) List(ctx context.Context, f *model.Field, args map[string]any, columns []string) (*Connection, error) {
	panic("not written yet")
}

// Item asks for the one item of a field with Source Get or Lookup. There may be none: nil.
func (x *Fetcher) Item(ctx context.Context, f *model.Field, args map[string]any) (*resource.Entry, error) {
	panic("not written yet")
}

// Write does what a field with Source Create, Replace, Patch or Delete says, and returns the item, which for Delete is as
// it was.
func (x *Fetcher) Write(ctx context.Context, f *model.Field, args map[string]any) (*resource.Entry, error) {
	panic("not written yet")
}

// Invoke calls the function of a field with Source Invoke or Custom. The value is a pointer to the Go type that the field
// shows, and nil for nothing.
func (x *Fetcher) Invoke(ctx context.Context, f *model.Field, args map[string]any) (any, error) {
	panic("not written yet")
}

// Compute calls the function of a field with Source Computed for all items of a level. The values are pointers, as those
// of Invoke, one for each item.
func (x *Fetcher) Compute(ctx context.Context, f *model.Field, items []any, args map[string]any) ([]any, error) {
	panic("not written yet")
}

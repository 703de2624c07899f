package oracle

// The Resolve functions of the schema that Schema makes. They call package fetch and the catalog,
// as package exec does, but for one item at a time.

import (
	"errors"
	"reflect"
	"strings"

	"github.com/graphql-go/graphql"

	"github.com/stoa-go/stoa/query/graphql/internal/fetch"
	"github.com/stoa-go/stoa/query/graphql/internal/gqlerror"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
)

// edge is the source value of the fields of an edge. It refers to its item by index, because the
// cursor depends on the page.
type edge struct {
	*fetch.Connection
	item int
}

// failure is an error with extensions in the form that graphql-go reports. It implements the
// interface gqlerrors.ExtendedError of graphql-go.
type failure struct{ told *gqlerror.Error }

// Error returns the message for clients.
func (f failure) Error() string { return f.told.Message }

// Extensions returns the code of the error.
func (f failure) Extensions() map[string]any { return map[string]any{"code": f.told.Code} }

// errNoCatalog is the error of fields that need a catalog, if Schema was called without one. Such a
// schema is for tests of types, introspection and validation.
var errNoCatalog = errors.New("graphql: the schema was made without a catalog")

// resolver returns the Resolve function of a field. The source value is a *resource.Entry for items
// of a resource, a *fetch.Connection for connections and PageInfo, an edge for edges, a
// *feed.Change[resource.Entry] for the subscription root and for changes, and a pointer to a Go
// value otherwise. Errors are converted as package exec does, so that codes can be compared.
func (c *converter) resolver(parent *model.Type, f *model.Field) graphql.FieldResolveFn {
	return func(p graphql.ResolveParams) (any, error) {
		v, err := c.resolve(parent, f, p)
		if err != nil {
			return nil, failure{gqlerror.Of(err)}
		}
		return v, nil
	}
}

// resolve returns the value of a field by the source that the model gives for it.
func (c *converter) resolve(parent *model.Type, f *model.Field, p graphql.ResolveParams) (any, error) {
	switch f.Source {
	// Sources that need no catalog are first. They also work in a schema that was made without one.
	case model.Member:
		return member(f, p.Source)
	// The tag depends on the revision that the store assigned, so it differs between two worlds.
	case model.ETag:
		return parent.Resource.ETag(p.Source.(*resource.Entry)), nil
	case model.Nodes, model.Edges, model.PageInfo, model.HasNext, model.HasPrevious, model.StartCursor,
		model.EndCursor:
		return ofConnection(f, p.Source.(*fetch.Connection)), nil
	// The store counts each time. Connection.Count, which package exec uses, caches the number.
	case model.TotalCount:
		if c := p.Source.(*fetch.Connection); c.Related {
			return c.Page.TotalOf(0), nil
		}
		return parent.Resource.CountFound(p.Context, p.Source.(*fetch.Connection).Query)
	// Without a position the list remains valid, and only this field has an error.
	case model.EventCursor:
		c := p.Source.(*fetch.Connection)
		return c.EventCursor.String(), c.EventCursorErr
	case model.Watch, model.ChangeKind, model.ChangeID, model.ChangeItem, model.ChangeCursor:
		return ofChange(f, p.Source.(*feed.Change[resource.Entry])), nil
	// The source of a node is an entry in the page, as for nodes.
	case model.Node:
		e := p.Source.(edge)
		return &e.Page.Entries[e.item], nil
	case model.Cursor:
		e := p.Source.(edge)
		return cursor(e.Connection, e.item), nil
	}
	if c.catalog == nil {
		return nil, errNoCatalog
	}
	switch f.Source {
	case model.Related, model.Computed:
		return c.ofItem(parent, f, p)
	case model.RelatedPage:
		return orNone(c.ofPage(parent, f, p))
	}
	return c.ofRoot(f, p)
}

// member reads a field of a Go value. The value is read by reflection and not encoded by package
// schema, which package exec uses.
func member(f *model.Field, source any) (any, error) {
	if e, ok := source.(*resource.Entry); ok {
		source = e.Value
	}
	// A member with omitempty or omitzero is null in place of its zero value.
	if f.ZeroNull && f.Member.IsZero(source) {
		return nil, nil
	}
	v, err := reflect.ValueOf(source).Elem().FieldByIndexErr(f.Member.Index)
	if err != nil {
		return nil, nil // in a nil embedded struct
	}
	return shown(f.Type, v)
}

// ofConnection resolves the fields that a page determines. They need no further access to the
// store.
func ofConnection(f *model.Field, c *fetch.Connection) any {
	last := len(c.Page.Entries) - 1
	switch f.Source {
	case model.Nodes:
		return pointers(c.Page.Entries)
	case model.Edges:
		edges := make([]any, last+1)
		for i := range edges {
			edges[i] = edge{c, i}
		}
		return edges
	case model.HasNext:
		return c.Page.Next != ""
	case model.HasPrevious:
		return c.Page.Prev != ""
	case model.StartCursor:
		return cursor(c, 0)
	case model.EndCursor:
		return cursor(c, last)
	}
	return c // PageInfo
}

// ofChange resolves the fields of a change. A kind is written in uppercase, as the enum ChangeKind
// has it. After is nil for a deletion.
func ofChange(f *model.Field, c *feed.Change[resource.Entry]) any {
	switch f.Source {
	case model.ChangeKind:
		return strings.ToUpper(c.Kind.String())
	case model.ChangeCursor:
		return c.Cursor.String()
	case model.ChangeID:
		return c.ID
	case model.ChangeItem:
		if c.After == nil {
			return nil
		}
		return c.After
	}
	return c
}

// cursor returns the cursor of an item, or nil if the page is empty or the item has no cursor. In
// natural order only items with a token of the store have one.
func cursor(c *fetch.Connection, item int) any {
	if len(c.Page.Entries) == 0 {
		return nil
	}
	if text := c.Page.Cursor(item); text != "" {
		return text
	}
	return nil
}

// pointers returns the entries as values that graphql-go passes to resolvers.
func pointers(entries []resource.Entry) []any {
	list := make([]any, len(entries))
	for i := range entries {
		list[i] = &entries[i]
	}
	return list
}

// ofItem resolves relations and computed fields. It does not release pages, because graphql-go does
// not report when the response has been written. The garbage collector frees them. args of a
// computed field are coerced by graphql-go. Follow checks the policy of the target, so a hidden
// item is not found.
func (c *converter) ofItem(parent *model.Type, f *model.Field, p graphql.ResolveParams) (any, error) {
	item := p.Source.(*resource.Entry)
	if f.Source == model.Computed {
		// A list of one item: package exec passes all items of a list.
		values, err := c.fetch.Compute(p.Context, f, []any{item.Value}, p.Args)
		if err != nil {
			return nil, err
		}
		return shown(f.Type, reflect.ValueOf(values[0]))
	}
	// One call for one item: the N+1 queries that package exec avoids.
	page, err := parent.Resource.Follow(p.Context, f.Relation, []resource.Entry{*item}, nil)
	if err != nil {
		return nil, err
	}
	found := []any{}
	// Entries has no order and each item once. Ends has the order of the relation, with repeats.
	for _, i := range page.Ends(0) {
		found = append(found, &page.Entries[i])
	}
	switch {
	case f.Type.Elem != nil:
		return found, nil
	// A relation to one item is null if the item does not exist or is hidden.
	case len(found) > 0:
		return found[0], nil
	}
	return nil, nil
}

// ofPage resolves pages of related items, for one item. The entries of the result are in its order.
func (c *converter) ofPage(
	parent *model.Type, f *model.Field, p graphql.ResolveParams,
) (*fetch.Connection, error) {
	item := p.Source.(*resource.Entry)
	all, err := c.fetch.RelatedPage(p.Context, f, p.Args, parent.Resource, []resource.Entry{*item},
		fetch.Selected{Items: true, Total: f.Resource.Describe().Counts, EventCursor: f.Resource.Watches()})
	if err != nil {
		return nil, err
	}
	page := all.Page
	ends, next := all.Of(0)
	page.Entries = make([]resource.Entry, len(ends))
	for i, end := range ends {
		page.Entries[i] = all.Page.Entries[end]
	}
	if page.Next = ""; next {
		page.Next = "more"
	}
	return &fetch.Connection{Page: page, Related: true, EventCursor: all.EventCursor,
		EventCursorErr: all.EventCursorErr}, nil
}

// ofRoot resolves the fields of queries and mutations. Mutations have no transaction here.
func (c *converter) ofRoot(f *model.Field, p graphql.ResolveParams) (any, error) {
	switch f.Source {
	case model.List:
		// Only a resource with a feed has the field eventCursor.
		if f.Resource.Watches() {
			return orNone(c.fetch.WatchedList(p.Context, f, p.Args, nil))
		}
		// nil means all members: graphql-go does not report which are selected.
		return orNone(c.fetch.List(p.Context, f, p.Args, nil))
	case model.Get, model.Lookup:
		return orNone(c.fetch.Item(p.Context, f, p.Args))
	case model.Create, model.Replace, model.Patch, model.Delete, model.Restore, model.Link, model.Unlink:
		return orNone(c.fetch.Write(p.Context, f, p.Args))
	}
	// The remaining sources are commands and custom fields.
	v, err := c.fetch.Invoke(p.Context, f, p.Args)
	if err != nil {
		return nil, err
	}
	if f.Command != nil && f.Command.Output() == nil || f.Custom != nil && f.Custom.Out == nil {
		return true, nil // a command or field without a result
	}
	return shown(f.Type, reflect.ValueOf(v))
}

// orNone returns an untyped nil for a nil pointer. Otherwise graphql-go would not detect null. A
// nil pointer in an interface is not nil in Go.
func orNone[T any](v *T, err error) (any, error) {
	if v == nil || err != nil {
		return nil, err
	}
	return v, nil
}

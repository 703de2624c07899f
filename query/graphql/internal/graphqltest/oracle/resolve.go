package oracle

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

// edge is the parent of the fields of an edge.
type edge struct {
	*fetch.Connection
	item int
}

// failure is an error with what graphql-go shows as extensions.
type failure struct{ told *gqlerror.Error }

// Error returns what clients are told.
func (f failure) Error() string { return f.told.Message }

// Extensions has the code.
func (f failure) Extensions() map[string]any { return map[string]any{"code": f.told.Code} }

// errNoCatalog is of a schema that was made without one.
var errNoCatalog = errors.New("graphql: the schema was made without a catalog")

// resolver returns the function of a field. Parents are: *resource.Entry for the items of a resource, *fetch.Connection for
// connections and for PageInfo, edge for edges, *feed.Change[resource.Entry] for the root of subscriptions and for changes,
// and pointers to Go values for everything else.
func (c *converter) resolver(parent *model.Type, f *model.Field) graphql.FieldResolveFn {
	return func(p graphql.ResolveParams) (any, error) {
		v, err := c.resolve(parent, f, p)
		if err != nil {
			return nil, failure{gqlerror.Of(err)}
		}
		return v, nil
	}
}

func (c *converter) resolve(parent *model.Type, f *model.Field, p graphql.ResolveParams) (any, error) {
	switch f.Source {
	case model.Member:
		return member(f, p.Source)
	case model.Tag:
		return parent.Resource.ETag(p.Source.(*resource.Entry)), nil
	case model.Nodes, model.Edges, model.PageInfo, model.HasNext, model.HasPrevious, model.StartCursor,
		model.EndCursor:
		return ofConnection(f, p.Source.(*fetch.Connection)), nil
	case model.TotalCount:
		return parent.Resource.Count(p.Context, p.Source.(*fetch.Connection).Filter)
	case model.Place:
		c := p.Source.(*fetch.Connection)
		return c.Place.String(), c.PlaceErr
	case model.Watch, model.ChangeKind, model.ChangeID, model.ChangeItem, model.ChangeCursor:
		return ofChange(f, p.Source.(*feed.Change[resource.Entry])), nil
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
	if f.Source == model.Related || f.Source == model.Computed {
		return c.ofItem(parent, f, p)
	}
	return c.ofRoot(f, p)
}

// member reads a field of a Go value.
func member(f *model.Field, source any) (any, error) {
	if e, ok := source.(*resource.Entry); ok {
		source = e.Value
	}
	if f.ZeroNull && f.Member.IsZero(source) {
		return nil, nil
	}
	v, err := reflect.ValueOf(source).Elem().FieldByIndexErr(f.Member.Index)
	if err != nil {
		return nil, nil // in an embedded struct that is not there
	}
	return shown(f.Type, v)
}

// ofConnection is what the page knows.
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
	return c // the page info
}

// ofChange is what a change knows.
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

// cursor is null where the page has no item, or the item no cursor.
func cursor(c *fetch.Connection, item int) any {
	if len(c.Page.Entries) == 0 {
		return nil
	}
	if text := c.Page.Cursor(item); text != "" {
		return text
	}
	return nil
}

func pointers(entries []resource.Entry) []any {
	list := make([]any, len(entries))
	for i := range entries {
		list[i] = &entries[i]
	}
	return list
}

// ofItem is what depends on an item and on more than the item. Pages are not released, since nobody says when the answer
// is written; they are garbage then.
func (c *converter) ofItem(parent *model.Type, f *model.Field, p graphql.ResolveParams) (any, error) {
	item := p.Source.(*resource.Entry)
	if f.Source == model.Computed {
		values, err := c.fetch.Compute(p.Context, f, []any{item.Value}, p.Args)
		if err != nil {
			return nil, err
		}
		return shown(f.Type, reflect.ValueOf(values[0]))
	}
	page, err := c.catalog.Follow(p.Context, parent.Resource, f.Relation, []resource.Entry{*item}, nil)
	if err != nil {
		return nil, err
	}
	found := []any{}
	for _, i := range page.Ends(0) {
		found = append(found, &page.Entries[i])
	}
	switch {
	case f.Type.Elem != nil:
		return found, nil
	case len(found) > 0:
		return found[0], nil
	}
	return nil, nil
}

// ofRoot is what queries and mutations start with.
func (c *converter) ofRoot(f *model.Field, p graphql.ResolveParams) (any, error) {
	switch f.Source {
	case model.List:
		if f.Resource.Watches() {
			return orNone(c.fetch.WatchedList(p.Context, f, p.Args, nil))
		}
		return orNone(c.fetch.List(p.Context, f, p.Args, nil))
	case model.Get, model.Lookup:
		return orNone(c.fetch.Item(p.Context, f, p.Args))
	case model.Create, model.Replace, model.Patch, model.Delete:
		return orNone(c.fetch.Write(p.Context, f, p.Args))
	}
	v, err := c.fetch.Invoke(p.Context, f, p.Args)
	if err != nil {
		return nil, err
	}
	if f.Command != nil && f.Command.Output() == nil || f.Custom != nil && f.Custom.Out == nil {
		return true, nil // it is done, and gives nothing
	}
	return shown(f.Type, reflect.ValueOf(v))
}

// orNone keeps a nil pointer from becoming an interface that holds one.
func orNone[T any](v *T, err error) (any, error) {
	if v == nil || err != nil {
		return nil, err
	}
	return v, nil
}

package fetch

// Pages of related items. exec calls RelatedPage for a field with Source RelatedPage.

import (
	"context"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/resource"
)

// Selected is what an operation selects from pages of related items.
type Selected struct {
	Columns []string // the members of the items; nil means all
	Items   bool     // nodes, edges or pageInfo
	Total   bool     // totalCount
	// EventCursor reads the position of the feed before the items.
	EventCursor bool
}

// RelatedPage returns the pages of the related items of all parents, which are items of r, in one
// Connection. [Connection.Of] returns the items of a parent. An argument after is an error if there are
// several parents.
func (x *Fetcher) RelatedPage(
	ctx context.Context, f *model.Field, args map[string]any, r *resource.Resource,
	parents []resource.Entry, s Selected,
) (*Connection, error) {
	var bad violations
	q := resource.RelatedQuery{Total: s.Total, NoItems: !s.Items, Query: query.Query{Fields: s.Columns,
		Filter: x.filter(f, args, &bad), Sort: order(args["orderBy"], &bad)}}
	limit, at := position(f.Resource.Describe(), args, &bad)
	if err := bad.err(); err != nil {
		return nil, err
	}
	if args["first"] == nil {
		limit = f.Limit
	}
	q.Query.Limit, q.After = max(limit, 1), at.After // a limit of 0 is that of the relation
	c := &Connection{Related: true, Empty: limit == 0}
	if s.EventCursor {
		c.EventCursor, c.EventCursorErr = f.Resource.Position(ctx, 0)
	}
	var err error
	if c.Page, err = r.FollowPages(ctx, f.Relation, parents, q); err != nil {
		return nil, cursorArgument(err, at)
	}
	if at.After != "" { // the item of the cursor precedes the page
		c.Page.Prev = at.After
	}
	return c, nil
}

// Of returns the indexes in Page.Entries of the items of a parent, and whether more items follow them.
func (c *Connection) Of(parent int) (ends []int32, next bool) {
	ends, next = c.Page.Ends(parent), c.Page.MoreOf(parent)
	if c.Empty {
		return nil, next || len(ends) > 0
	}
	return ends, next
}

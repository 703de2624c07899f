package fetch

// Lists and their counts. exec calls List for a field with Source List, and Count for the field
// totalCount. Errors in arguments are collected in violations, so that a client sees several.

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/problem"
)

// Connection is a page of a list. The caller releases Page when it is done. Only Count may be
// called concurrently.
type Connection struct {
	// Page has the items. If the limit is 0, its Next and Prev are not valid cursors; they are
	// non-empty if there are items after or before the page.
	Page resource.Page
	// Query is the query of the list, of which Count uses the filter and the search.
	Query query.Query
	// EventCursor is the cursor for a subscription that continues the list, or EventCursorErr is
	// the reason why there is none. Only [Fetcher.WatchedList] sets them.
	EventCursor    feed.Cursor
	EventCursorErr error
	// Related reports that Page has the items of several parents; see [Connection.Of]. Empty reports that
	// the limit is 0, although Page has items.
	Related, Empty bool

	mu      sync.Mutex // guards the fields below
	counted bool
	total   int
	err     error
}

// Count returns the number of items in the list on all pages. r is the resource of the page. The
// store counts once per Connection, because a document may select the count under many aliases, and
// counting may read all items. Concurrent calls are safe. Later calls wait for the first one and
// return its result, including an error.
func (c *Connection) Count(ctx context.Context, r *resource.Resource) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.counted {
		c.total, c.err = r.CountFound(ctx, c.Query)
		c.counted = true // not set if CountFound panics; the next call panics too
	}
	return c.total, c.err
}

// List returns the page for the arguments of a field with Source List. columns has the JSON names
// of the members that are selected; nil means all. The core does not compare the limit with the
// maximum page size, so position does.
func (x *Fetcher) List(ctx context.Context, f *model.Field, args map[string]any,
	columns []string) (*Connection, error) {
	var bad violations
	q := query.Query{Fields: columns, Filter: x.filter(f, args, &bad), Sort: order(args["orderBy"], &bad)}
	q.Search = search(args, &bad)
	limit, at := position(f.Resource.Describe(), args, &bad)
	if err := bad.err(); err != nil {
		return nil, err
	}
	q.Limit = max(limit, 1) // Resource.List has a default for 0
	page, err := f.Resource.List(ctx, q, at)
	if err != nil {
		return nil, cursorArgument(err, at)
	}
	if limit == 0 {
		empty(&page, at.Before != "" || at.AtEnd)
	}
	return &Connection{Page: page, Query: q}, nil
}

// search parses the argument search.
func search(args map[string]any, bad *violations) query.Search {
	text, _ := args["search"].(string)
	s, err := query.ParseSearch(text)
	if e, ok := errors.AsType[*query.Error](err); ok {
		bad.add("search", e.Code, e.Detail)
	}
	return s
}

// empty removes the one item from a page with limit 0, and sets Next or Prev. List has read one
// item, because Resource.List has no limit of 0. It shows whether the page has a next or previous
// one.
func empty(p *resource.Page, backward bool) {
	if len(p.Entries) == 0 {
		return
	}
	there := p.Last // any non-empty text
	if there == "" {
		there = "more"
	}
	if backward {
		p.Prev = there
	} else {
		p.Next = there
	}
	p.Entries = p.Entries[:0]
}

// position returns the limit and the position of a page. The limit may be 0. The arguments are
// those of cursor connections of Relay, but a combination of both directions is an error. Its
// result would depend on the order in which first and last are applied.
func position(
	p *resource.Description, args map[string]any, bad *violations,
) (limit int, at resource.Position) {
	first, hasFirst := args["first"].(int)
	last, hasLast := args["last"].(int)
	after, hasAfter := args["after"].(string)
	before, hasBefore := args["before"].(string)
	for _, pair := range [...]struct {
		both      bool
		one, with string
	}{{hasFirst && hasLast, "last", "first"}, {hasFirst && hasBefore, "before", "first"},
		{hasLast && hasAfter, "after", "last"}, {hasAfter && hasBefore, "before", "after"}} {
		if pair.both {
			bad.add(pair.one, "conflict", "cannot be used together with "+pair.with)
			return 0, at
		}
	}
	if hasAfter && after == "" || hasBefore && before == "" { // Resource.List would ignore an empty cursor
		name := "after"
		if hasBefore {
			name = "before"
		}
		bad.add(name, "invalidCursor", "must not be empty")
	}
	at = resource.Position{After: after, Before: before, AtEnd: hasLast && !hasBefore}
	switch {
	case hasFirst:
		return size("first", first, p.MaxPageSize, bad), at
	case hasLast:
		return size("last", last, p.MaxPageSize, bad), at
	}
	// Without first and last, the page is a forward one of the default size.
	return p.PageSize, at
}

// size checks a page size. A value above the maximum is an error: a client that requests n items
// takes a page with fewer for the last one.
func size(name string, n, most int, bad *violations) int {
	if n < 0 || n > most {
		bad.add(name, "range", fmt.Sprintf("must be a number from 0 to %d", most))
	}
	return n
}

// cursorArgument adds to an error about a cursor which argument contains it. The core has one
// position and does not know the name of its argument. The error is copied, because it may be
// shared.
func cursorArgument(err error, at resource.Position) error {
	d := resource.Problem(err)
	if d.Kind != problem.InvalidCursor || len(d.Errors) != 1 {
		return err
	}
	bad := *d
	v := d.Errors[0]
	v.Parameter = "after"
	if at.Before != "" {
		v.Parameter = "before"
	}
	bad.Errors = []problem.Violation{v}
	return &bad
}

// maxSort is the maximum number of sort keys, as in REST. Stores may need an index for each
// combination of keys.
const maxSort = 4

// order converts the argument orderBy. The schema allows only fields that the resource can sort by.
// The core appends the id, so the order is always total.
func order(given any, bad *violations) []query.Order {
	list, _ := given.([]any)
	if len(list) > maxSort {
		bad.add("orderBy", "tooMany", fmt.Sprintf("can have at most %d fields", maxSort))
		return nil
	}
	var keys []query.Order
	for i, one := range list {
		key, _ := one.(map[string]any)
		field, _ := key["field"].(string)
		// The search is quadratic, but there are at most maxSort keys.
		for _, before := range keys {
			if before.Field == field {
				bad.add(fmt.Sprintf("orderBy[%d].field", i), "duplicate",
					"the field is in orderBy twice")
			}
		}
		keys = append(keys, query.Order{Field: field, Desc: key["direction"] == "DESC"})
	}
	return keys
}

// violations collects errors in arguments. They become one problem, in which each has a path such
// as orderBy[1].field.
type violations []problem.Violation

// maxViolations limits the number of errors in a response. A filter can have hundreds of operands,
// each with an error of its own.
const maxViolations = 20

// add adds an error, unless the maximum is reached.
func (c *violations) add(argument, code, detail string) {
	// Callers continue after an error, so the limit is applied in this method.
	if len(*c) < maxViolations {
		*c = append(*c, problem.Violation{Parameter: argument, Code: code, Detail: detail})
	}
}

// err returns the problem for the collected errors, or nil if there are none.
func (c violations) err() error {
	if len(c) == 0 {
		return nil
	}
	d := problem.New(problem.InvalidParameter, "An argument is not valid.")
	d.Errors = c
	return d
}

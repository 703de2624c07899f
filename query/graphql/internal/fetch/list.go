package fetch

import (
	"context"
	"fmt"
	"sync"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/problem"
)

// Connection is a page of a list. Release its Page when done.
type Connection struct {
	// Page has the items. If no items were asked for, its Next and Prev are no cursors to use: they tell, by being there,
	// whether something follows, and whether something is in front.
	Page resource.Page
	// Filter is what the list was asked for, so that all of it can be counted.
	Filter query.Filter
	// Place is where the changes of the list go on, or PlaceErr why that is not known. Only [Fetcher.WatchedList] sets them.
	Place    feed.Cursor
	PlaceErr error

	mu      sync.Mutex // guards what follows
	counted bool
	total   int
	err     error
}

// Count returns how many items of r, which the page is of, the list has on all pages together. They are counted once,
// however many ask, at the same time too: a document can ask for it under thousands of aliases, and to count may be to read
// all items that there are.
func (c *Connection) Count(ctx context.Context, r *resource.Resource) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.counted {
		c.total, c.err = r.Count(ctx, c.Filter)
		c.counted = true // and not where it has panicked, which is for everybody to see
	}
	return c.total, c.err
}

// List asks for the page that the arguments of a field with Source List name. Columns are the JSON names of the members
// that will be looked at, nil for all.
func (x *Fetcher) List(ctx context.Context, f *model.Field, args map[string]any,
	columns []string) (*Connection, error) {
	var bad complaints
	q := query.Query{Fields: columns, Filter: x.filter(f, args, &bad), Sort: order(args["orderBy"], &bad)}
	limit, at := window(f.Resource.Policy(), args, &bad)
	if err := bad.err(); err != nil {
		return nil, err
	}
	q.Limit = max(limit, 1) // as zero would not be zero there
	page, err := f.Resource.List(ctx, q, at)
	if err != nil {
		return nil, cursorArgument(err, at)
	}
	if limit == 0 {
		empty(&page, at.Before != "" || at.AtEnd)
	}
	return &Connection{Page: page, Filter: q.Filter}, nil
}

// empty takes the one item off a page that was to have none.
func empty(p *resource.Page, backward bool) {
	if len(p.Entries) == 0 {
		return
	}
	there := p.Last // any text will do
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

// window reads which part of a list is wanted. The limit is as asked for, zero included.
func window(p resource.Policy, args map[string]any, bad *complaints) (limit int, at resource.Position) {
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
			bad.add(pair.one, "conflict", "cannot be given together with "+pair.with)
			return 0, at
		}
	}
	if hasAfter && after == "" || hasBefore && before == "" { // which List would take for none
		name := "after"
		if hasBefore {
			name = "before"
		}
		bad.add(name, "invalidCursor", "an empty text is no cursor")
	}
	at = resource.Position{After: after, Before: before, AtEnd: hasLast && !hasBefore}
	switch {
	case hasFirst:
		return size("first", first, p.MaxPageSize, bad), at
	case hasLast:
		return size("last", last, p.MaxPageSize, bad), at
	}
	return p.PageSize, at
}

// size refuses a number that is too large instead of lowering it: a client that counts on it takes a shorter page for the
// last one.
func size(name string, n, most int, bad *complaints) int {
	if n < 0 || n > most {
		bad.add(name, "range", fmt.Sprintf("must be a number from 0 to %d", most))
	}
	return n
}

// cursorArgument says in an error about a cursor which argument held it.
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

// maxSort is how many keys a list can be sorted by, as on every other door.
const maxSort = 4

// order reads what a list is to be sorted by.
func order(given any, bad *complaints) []query.Order {
	list, _ := given.([]any)
	if len(list) > maxSort {
		bad.add("orderBy", "tooMany", fmt.Sprintf("can have at most %d fields", maxSort))
		return nil
	}
	var keys []query.Order
	for i, one := range list {
		key, _ := one.(map[string]any)
		field, _ := key["field"].(string)
		for _, before := range keys {
			if before.Field == field {
				bad.add(fmt.Sprintf("orderBy[%d].field", i), "duplicate",
					"the list is sorted by this field already")
			}
		}
		keys = append(keys, query.Order{Field: field, Desc: key["direction"] == "DESC"})
	}
	return keys
}

// complaints are what is wrong with arguments.
type complaints []problem.Violation

// maxComplaints bounds what an answer lists.
const maxComplaints = 20

func (c *complaints) add(argument, code, detail string) {
	if len(*c) < maxComplaints {
		*c = append(*c, problem.Violation{Parameter: argument, Code: code, Detail: detail})
	}
}

// err returns what a client has to know, nil for nothing.
func (c complaints) err() error {
	if len(c) == 0 {
		return nil
	}
	d := problem.New(problem.InvalidParameter, "An argument is not valid.")
	d.Errors = c
	return d
}

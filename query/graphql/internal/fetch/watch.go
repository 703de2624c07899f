package fetch

import (
	"context"
	"iter"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
)

// WatchedList is List for somebody who will listen to what happens to the list: the place to listen from is found before
// the items are read, so that whatever is not among them comes behind it.
func (x *Fetcher) WatchedList(ctx context.Context, f *model.Field, args map[string]any,
	columns []string) (*Connection, error) {
	place, failed := f.Resource.Position(ctx)
	c, err := x.List(ctx, f, args, columns)
	if err != nil {
		return nil, err
	}
	c.Place, c.PlaceErr = place, failed
	return c, nil
}

// Watching is what the arguments of a field with Source Watch ask to be told of.
type Watching struct {
	of     *resource.Resource
	id     string // of one item, if one is set
	one    bool
	filter query.Filter
	after  feed.Cursor
}

// Watching reads the arguments of a field with Source Watch. last is the text of a place that goes before the argument
// after, empty for none. It asks nobody.
func (x *Fetcher) Watching(f *model.Field, args map[string]any, last string) (*Watching, error) {
	var bad complaints
	w := &Watching{of: f.Resource, filter: x.filter(f, args, &bad)}
	if w.id, w.one = args["id"].(string); w.one && args["filter"] != nil {
		bad.add("filter", "conflict", "cannot be given together with id")
	}
	name, given := "after", last != ""
	if given {
		name = "Last-Event-ID"
	} else {
		last, given = args["after"].(string)
	}
	if given {
		var err error
		if w.after, err = feed.ParseCursor(last); err != nil {
			bad.add(name, "invalidCursor", "is no cursor of a change")
		}
	}
	return w, bad.err()
}

// Begin finds the place to listen from now, and not when Changes is asked for the first change: who is told that it is
// subscribed may go and change something at once. A place that cannot be found is looked for again then.
func (w *Watching) Begin(ctx context.Context) {
	if w.after.IsZero() {
		w.after, _ = w.of.Position(ctx)
	}
}

// Changes yields what it is asked to be told of, as [resource.Resource.Watch] does.
func (w *Watching) Changes(ctx context.Context) iter.Seq2[*feed.Change[resource.Entry], error] {
	if w.one {
		return w.of.WatchItem(ctx, w.id, w.after)
	}
	return w.of.Watch(ctx, w.after, w.filter)
}

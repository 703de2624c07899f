package fetch

// Subscriptions, and lists that one continues. exec calls Watching and Begin when a subscription
// starts, and Changes while it runs.

import (
	"context"
	"errors"
	"iter"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/problem"
)

// WatchedList is List with a cursor for a subscription that continues the list. It reads the cursor
// before the items, so that a change that is not in the list follows the cursor. A change between
// the two reads may be in both. An error of the feed only affects the field eventCursor.
func (x *Fetcher) WatchedList(ctx context.Context, f *model.Field, args map[string]any,
	columns []string) (*Connection, error) {
	cursor, failed := f.Resource.Position(ctx, 0)
	c, err := x.List(ctx, f, args, columns)
	if err != nil {
		return nil, err
	}
	c.EventCursor, c.EventCursorErr = cursor, failed
	return c, nil
}

// Watching is a subscription to the changes of a resource. It is used by one goroutine, because
// Begin modifies it.
type Watching struct {
	of     *resource.Resource
	id     string // of the single item, if one is set
	one    bool
	filter query.Filter // zero if id is set
	after  feed.Cursor  // start of the subscription; zero until Begin if the client gave no cursor
}

// Watching returns the subscription for the arguments of a field with Source Watch. last is a
// cursor that takes precedence over the argument after; it is empty if there is none. Watching does
// not access the feed.
func (x *Fetcher) Watching(f *model.Field, args map[string]any, last string) (*Watching, error) {
	var bad violations
	w := &Watching{of: f.Resource, filter: x.filter(f, args, &bad)}
	if hasRelation(w.filter) {
		bad.add("filter", "unsupportedFilter", "a subscription cannot be filtered through relations")
	}
	var err error
	if w.id, w.one, err = itemID(f, args); err != nil {
		return nil, err
	}
	if w.one && args["filter"] != nil {
		bad.add("filter", "conflict", "cannot be used together with id")
	}
	name, given := "after", last != ""
	if given {
		name = "Last-Event-ID"
	} else {
		last, given = args["after"].(string)
	}
	if given {
		if w.after, err = feed.ParseCursor(last); err != nil {
			bad.add(name, "invalidCursor", "is not a valid cursor of a change")
		}
	}
	return w, bad.err()
}

// Begin fixes the start of the subscription at the current position, unless it has a cursor.
// Without Begin, Changes starts at the position of its first read, and a change between the
// response to the client and this read would be lost. The error means that the position is not
// available at the moment. After other failures Changes determines the position.
func (w *Watching) Begin(ctx context.Context) (err error) {
	if w.after.IsZero() {
		w.after, err = w.of.Position(ctx, 0)
	}
	if err == nil || errors.Is(err, feed.ErrClosed) || resource.Problem(err).Kind != problem.Unavailable {
		return nil
	}
	return err
}

// Changes yields the changes, as [resource.Resource.Watch] does. Authorization is checked for each
// change, so the caller may lose access while it runs.
func (w *Watching) Changes(ctx context.Context) iter.Seq2[*feed.Change[resource.Entry], error] {
	if w.one {
		return w.of.WatchItem(ctx, w.id, w.after)
	}
	return w.of.Watch(ctx, w.after, w.filter)
}

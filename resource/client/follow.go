package client

// The changes of a resource, from a stream that is opened again when it ends.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"mime"
	"net/http"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/feed/eventstream"
	"github.com/stoa-go/stoa/resource/problem"
)

// Kind is the kind of a Change.
type Kind string

// The kinds of changes.
const (
	Created Kind = "created"
	Updated Kind = "updated"
	// Deleted has a value with the id only.
	Deleted Kind = "deleted"
	// Reset precedes a new list of all items. The consumer discards what it has.
	Reset Kind = "reset"
	// Listed is an item of that list.
	Listed Kind = "listed"
	// Bookmark has a cursor and no value. It ends a list, and moves the cursor of an idle consumer,
	// so that the cursor does not expire.
	Bookmark Kind = "bookmark"
)

// Change is one change of a resource.
type Change[E any] struct {
	Kind Kind
	// Value is the item after the change. It is the zero value for Reset and Bookmark.
	Value E
	// Cursor is the position after the change. A consumer that stores it with the effect of the
	// change, in one transaction, sees each change once. It is empty for Reset and Listed, because a
	// list that was interrupted cannot be continued.
	Cursor string
}

// Follow returns the changes after a cursor, until ctx ends or the server refuses. It connects again
// when the stream ends, and continues after the last change.
//
// If cursor is empty, or so old that the server no longer has the changes after it, Follow first
// lists all items: a Reset, a Listed for each item, and a Bookmark. A change that was made while the
// list was read may follow although the list has it. A nil filter selects all items; otherwise an
// item that leaves the filter is a Deleted.
//
// A response that is no stream of events, such as the page of a proxy, is an error and not a stream
// that has ended.
func (r *Resource[E]) Follow(
	ctx context.Context, cursor string, filter *query.Filter,
) iter.Seq2[Change[E], error] {
	return func(yield func(Change[E], error) bool) {
		f := &follower[E]{resource: r, cursor: cursor, yield: yield}
		if filter != nil {
			f.query.Filter = *filter
		}
		if err := f.run(ctx); err != nil && !errors.Is(err, errStopped) {
			yield(Change[E]{}, err)
		}
	}
}

// errStopped ends a follower after its consumer has left the loop.
var errStopped = errors.New("client: the consumer stopped")

// follower is one call of Follow.
type follower[E any] struct {
	resource *Resource[E]
	query    query.Query
	cursor   string
	yield    func(Change[E], error) bool
	failures int           // streams without an event, in a row
	retry    time.Duration // that the server has asked for
}

func (f *follower[E]) run(ctx context.Context) error {
	for {
		if f.cursor == "" {
			if err := f.listItems(ctx); err != nil {
				return err
			}
		}
		err := f.stream(ctx)
		var d *problem.Details
		if errors.As(err, &d) && d.Kind == problem.CursorExpired {
			// The items are listed after a delay, because the next cursor may have expired as well.
			f.cursor, err = "", &lost{err}
		}
		f.failures++
		delay, temporary := f.resource.client.delay(f.failures, err)
		if !temporary { // also errStopped, although the consumer may have ended ctx before
			return err
		}
		if err := wait(ctx, max(delay, min(f.retry, f.resource.client.opts.MaxWait))); err != nil {
			return err
		}
	}
}

// emit passes a change to the consumer. ctx is that of the consumer, which may have ended it.
func (f *follower[E]) emit(ctx context.Context, c Change[E]) error {
	if c.Cursor != "" {
		f.cursor = c.Cursor
	}
	if !f.yield(c, nil) {
		return errStopped
	}
	return ctx.Err()
}

// listItems emits all items.
func (f *follower[E]) listItems(ctx context.Context) error {
	if err := f.emit(ctx, Change[E]{Kind: Reset}); err != nil {
		return err
	}
	cursor, position := "", ""
	for {
		page, err := f.resource.page(ctx, f.query, position, true)
		if err != nil {
			return err
		}
		if cursor == "" {
			cursor = page.Cursor // changes after the first page was read follow
		}
		if cursor == "" {
			return fmt.Errorf("client: GET %s: the resource has no feed: the response has no Event-Cursor",
				f.resource.path)
		}
		for _, item := range page.Items {
			if err := f.emit(ctx, Change[E]{Kind: Listed, Value: item}); err != nil {
				return err
			}
		}
		if position = page.Next; position == "" {
			return f.emit(ctx, Change[E]{Kind: Bookmark, Cursor: cursor})
		}
	}
}

// stream emits the changes of one stream. Its error is never nil.
func (f *follower[E]) stream(ctx context.Context) error {
	c := f.resource.client
	resp, err := c.doWatched(ctx, f.resource.listing(f.query.Values()), func(h http.Header) {
		h.Set("Accept", eventstream.ContentType)
		h.Set("Last-Event-ID", f.cursor)
	})
	if err != nil {
		return fmt.Errorf("client: GET %s: %w", f.resource.path, err)
	}
	defer resp.Body.Close()
	media := resp.Header.Get("Content-Type")
	if resp.StatusCode != http.StatusOK {
		content, _ := io.ReadAll(io.LimitReader(resp.Body, maxContent))
		return fmt.Errorf("client: GET %s: %w", f.resource.path, refusal(resp, content))
	} else if parsed, _, _ := mime.ParseMediaType(media); parsed != eventstream.ContentType {
		return fmt.Errorf("client: GET %s: the response has type %q, want %s",
			f.resource.path, media, eventstream.ContentType)
	}
	body := resp.Body.(*watched)
	events := eventstream.NewReader(body, &eventstream.ReaderOptions{Max: maxContent, Positions: true})
	for {
		event, err := events.Next()
		f.retry = events.Retry()
		if err != nil {
			return &lost{err}
		}
		body.timer.Stop() // the consumer may take its time
		if err := f.event(ctx, event); err != nil {
			return err
		}
		body.timer.Reset(c.opts.Silence)
	}
}

// event emits one event.
func (f *follower[E]) event(ctx context.Context, e eventstream.Event) error {
	change := Change[E]{Kind: Kind(e.Name), Cursor: e.ID}
	switch {
	case e.Data == nil && e.ID == "expired": // the server no longer has the changes after the last one
		return problem.New(problem.CursorExpired, "")
	case e.Data == nil:
		change.Kind = Bookmark
	default:
		if err := json.Unmarshal(e.Data, &change.Value); err != nil {
			return fmt.Errorf("client: GET %s: decode an event: %w", f.resource.path, err)
		}
	}
	f.failures = 0
	return f.emit(ctx, change)
}

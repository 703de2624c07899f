package client

// The changes of a resource, from a stream that is opened again when it ends.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
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
	failures int           // streams without a change, in a row
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
		switch delay, temporary := f.resource.client.delay(max(f.failures, 1), err); {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.As(err, &d) && d.Kind == problem.CursorExpired:
			f.cursor = ""
		case !temporary:
			return err
		default:
			f.failures++
			if err := wait(ctx, max(delay, min(f.retry, f.resource.client.opts.MaxWait))); err != nil {
				return err
			}
		}
	}
}

func (f *follower[E]) emit(c Change[E]) error {
	if c.Cursor != "" {
		f.cursor = c.Cursor
	}
	if !f.yield(c, nil) {
		return errStopped
	}
	return nil
}

// listItems emits all items.
func (f *follower[E]) listItems(ctx context.Context) error {
	if err := f.emit(Change[E]{Kind: Reset}); err != nil {
		return err
	}
	cursor, position := "", ""
	for {
		page, err := f.resource.Page(ctx, f.query, position)
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
			if err := f.emit(Change[E]{Kind: Listed, Value: item}); err != nil {
				return err
			}
		}
		if position = page.Next; position == "" {
			return f.emit(Change[E]{Kind: Bookmark, Cursor: cursor})
		}
	}
}

// stream emits the changes of one stream. Its error is never nil.
func (f *follower[E]) stream(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c := f.resource.client
	resp, err := c.do(ctx, f.resource.listing(f.query.Values()), func(h http.Header) {
		h.Set("Accept", eventstream.ContentType)
		h.Set("Last-Event-ID", f.cursor)
	})
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		content, _ := io.ReadAll(io.LimitReader(resp.Body, maxContent))
		return fmt.Errorf("client: GET %s: %w", f.resource.path, details(resp, content))
	}
	timer := time.AfterFunc(c.opts.Silence, cancel)
	defer timer.Stop()
	events := eventstream.NewReader(&watched{resp.Body, timer, c.opts.Silence},
		&eventstream.ReaderOptions{Max: maxContent, Positions: true})
	for {
		event, err := events.Next()
		f.retry = events.Retry()
		if err != nil {
			return &lost{err}
		}
		timer.Stop() // the consumer may take its time
		if err := f.event(event); err != nil {
			return err
		}
		timer.Reset(c.opts.Silence)
	}
}

// event emits one event.
func (f *follower[E]) event(e eventstream.Event) error {
	f.failures = 0
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
	return f.emit(change)
}

// watched is a body that resets a timer when data arrive.
type watched struct {
	body    io.Reader
	timer   *time.Timer
	silence time.Duration
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.body.Read(p)
	if n > 0 {
		w.timer.Reset(w.silence)
	}
	return n, err
}

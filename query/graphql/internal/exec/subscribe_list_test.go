package exec_test

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/stoa-go/stoa/query/graphql/internal/exec"
	"github.com/stoa-go/stoa/query/graphql/internal/gqlerror"
	"github.com/stoa-go/stoa/resource/feed"
)

// Subscriptions of the library. Tests append changes to the log, so that they control what happens
// when.
//
// countedLog counts calls of Head.

// countedLog counts how often the feed asks for its end.
type countedLog struct {
	*feed.Memory
	asked atomic.Int64
}

func (l *countedLog) Head(ctx context.Context) (feed.Cursor, error) {
	l.asked.Add(1)
	return l.Memory.Head(ctx)
}

// begin opens the feed.
func (w *world) begin(t testing.TB) {
	t.Helper()
	w.events = &countedLog{Memory: feed.NewMemory(nil)}
	w.feed = feed.New(w.events, &feed.Options{Logger: slog.New(slog.NewTextHandler(w, nil))})
	t.Cleanup(func() { w.feed.Close() })
	w.mark(t)
}

// mark records the current position of the feed.
func (w *world) mark(t testing.TB) {
	t.Helper()
	at, err := w.events.Memory.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w.cursors = append(w.cursors, at.String())
}

// happens appends a change of a book; nil means that it does not exist.
func (w *world) happens(t testing.TB, before, after *book) {
	t.Helper()
	e := &feed.Event{Kind: feed.Updated, Collection: "books"}
	write := func(b *book) []byte {
		if b == nil {
			return nil
		}
		e.ID, e.Rev = strconv.FormatInt(b.ID, 10), "r"+strconv.FormatInt(b.Pages, 10)
		doc, err := json.Marshal(b)
		if err != nil {
			t.Fatal(err)
		}
		return doc
	}
	e.Before, e.After = write(before), write(after)
	switch {
	case before == nil:
		e.Kind = feed.Created
	case after == nil:
		e.Kind = feed.Deleted
	}
	if err := w.feed.Append(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	w.mark(t)
}

// life appends the creation, change and deletion of a book. It follows the first of w.cursors.
func (w *world) life(t testing.TB) {
	t.Helper()
	first := book{ID: 4, Title: "Fourth", Genre: "novel", AuthorID: "ann", Pages: 10, Moods: []string{"sad"},
		Cover: &cover{"red"}}
	second := first
	second.Pages, second.AuthorID, second.Genre = 20, "bob", "poems"
	w.happens(t, nil, &first)
	w.happens(t, &first, &second)
	w.happens(t, &second, nil)
}

// subscribe starts a subscription. An empty last means that the arguments decide.
func (w *world) subscribe(ctx context.Context, t testing.TB, document, variables,
	last string) iter.Seq2[exec.Message, error] {
	t.Helper()
	all := w.listen(ctx, t, document, variables, last)
	return func(yield func(exec.Message, error) bool) {
		for m, err := range all {
			if (m.JSON != nil || err != nil) && !yield(m, err) {
				return
			}
		}
	}
}

// listen is subscribe including bookmarks.
func (w *world) listen(ctx context.Context, t testing.TB, document, variables,
	last string) iter.Seq2[exec.Message, error] {
	t.Helper()
	messages, errs := w.engine.Subscribe(ctx, w.plan(t, document), vars(t, variables), last)
	if errs != nil {
		t.Fatalf("refused: %s", gqlerror.List(nil, errs))
	}
	return messages
}

// messages returns n messages about all changes, or fewer if there is an error, which is then the
// last. Cursors are replaced by @0 and so on.
func (w *world) messages(ctx context.Context, t testing.TB, n int, document, variables string) []string {
	t.Helper()
	var out []string
	for m, err := range w.subscribe(ctx, t, document, variables, w.cursors[0]) {
		if err != nil {
			return append(out, ended(err))
		}
		out = append(out, w.named(string(m.JSON)))
		if len(out) == n {
			break
		}
	}
	return out
}

// named replaces cursors by names.
func (w *world) named(text string) string {
	for i, cursor := range w.cursors {
		text = strings.ReplaceAll(text, cursor, "@"+strconv.Itoa(i))
	}
	return text
}

// ended returns the text of a final error.
func ended(err error) string {
	if e, ok := err.(*gqlerror.Error); ok {
		return fmt.Sprintf("%v %s: %s", e.Path, e.Code, e.Message)
	}
	return err.Error()
}

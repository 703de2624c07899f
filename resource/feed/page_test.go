package feed_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stoa-go/stoa/resource/feed"
)

// paged is a log that ends its pages at PageBytes, as a database does.
type paged struct{ *feed.Memory }

func (p paged) Tail(ctx context.Context, after feed.Cursor, max int) ([]*feed.Event, feed.Cursor, error) {
	events, end, err := p.Memory.Tail(ctx, after, max)
	if events = cut(events); len(events) > 0 {
		end = events[len(events)-1].Cursor
	}
	return events, end, err
}

func (p paged) Read(ctx context.Context, after, until feed.Cursor, max int) ([]*feed.Event, error) {
	events, err := p.Memory.Read(ctx, after, until, max)
	return cut(events), err
}

func cut(events []*feed.Event) []*feed.Event {
	bytes := 0
	for i, e := range events {
		if bytes += len(e.Before) + len(e.After); bytes >= feed.PageBytes {
			return events[:i+1]
		}
	}
	return events
}

// TestLargeEvents: a subscriber that is older than the ring receives all events although pages end
// early.
func TestLargeEvents(t *testing.T) {
	t.Parallel()
	const n = 10
	log := paged{feed.NewMemory(nil)}
	start, err := log.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	content := make([]byte, feed.PageBytes/2)
	for i := range n {
		if err := log.Append(t.Context(),
			&feed.Event{Kind: feed.Created, Collection: "c", ID: fmt.Sprint(i), After: content}); err != nil {
			t.Fatal(err)
		}
	}
	changes := feed.New(log, &feed.Options{BufferEvents: 1})
	defer changes.Close()
	got := 0
	for e, err := range changes.Watch(t.Context(), start, "c") {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind == feed.Bookmark {
			continue
		}
		if e.ID != fmt.Sprint(got) {
			t.Fatalf("got event %s, want %d", e.ID, got)
		}
		if got++; got == n {
			break
		}
	}
}

package feed_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/tx"
)

// created returns an event for the item with id n.
func created(collection string, n int) *feed.Event {
	return &feed.Event{Kind: feed.Created, Collection: collection, ID: strconv.Itoa(n)}
}

// add appends events for the items from to to-1.
func add(t testing.TB, log feed.Log, collection string, from, to int) {
	t.Helper()
	for n := from; n < to; n++ {
		if err := log.Append(context.Background(), created(collection, n)); err != nil {
			t.Fatal(err)
		}
	}
}

func head(t testing.TB, log feed.Log) feed.Cursor {
	t.Helper()
	c, err := log.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string]*feed.MemoryOptions{"events": {Events: 10}, "bytes": {Bytes: 4000}} {
		log := feed.NewMemory(opts)
		start := head(t, log)
		add(t, log, "a", 0, 10)
		tenth := head(t, log)
		if _, _, err := log.Tail(t.Context(), start, 100); err != nil {
			t.Errorf("%s: an event was dropped at the limit: %v", name, err)
		}
		add(t, log, "a", 10, 20)
		if _, _, err := log.Tail(t.Context(), start, 100); !errors.Is(err, feed.ErrExpired) {
			t.Errorf("%s: Tail from the start: %v, want ErrExpired", name, err)
		}
		if events, _, err := log.Tail(t.Context(), tenth, 100); err != nil || len(events) != 10 {
			t.Errorf("%s: Tail from the tenth: %d events, %v, want 10", name, len(events), err)
		}
	}
}

// TestMemoryKeepsTheNewest: the newest event is kept even if it exceeds the limit, because readers
// continue after it.
func TestMemoryKeepsTheNewest(t *testing.T) {
	t.Parallel()
	log := feed.NewMemory(&feed.MemoryOptions{Bytes: 1})
	add(t, log, "a", 0, 3)
	at := head(t, log)
	add(t, log, "a", 3, 4)
	if events, _, err := log.Tail(t.Context(), at, 100); err != nil || len(events) != 1 ||
		events[0].ID != "3" {
		t.Errorf("Tail: %v, %v, want the newest", events, err)
	}
}

func TestMemoriesHaveEpochs(t *testing.T) {
	t.Parallel()
	if a, b := head(t, feed.NewMemory(nil)), head(t,
		feed.NewMemory(nil)); a.Epoch == b.Epoch || a.Epoch == 0 ||
		b.Epoch == 0 {
		t.Errorf("the epochs of two are %d and %d", a.Epoch, b.Epoch)
	}
}

// silent is a runner that does not report how its transactions end, as after a lost connection.
type silent struct{ scopes []*tx.Scope }

func (s *silent) InTx(ctx context.Context, fn func(ctx context.Context) error) error {
	ctx, scope := tx.Begin(ctx, s)
	s.scopes = append(s.scopes, scope)
	return fn(ctx)
}

// TestUnknownOutcomeExpiresCursors: all cursors expire, because events may be missing, and again if
// a late commit adds them.
func TestUnknownOutcomeExpiresCursors(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		runner := &silent{}
		log := feed.NewMemory(&feed.MemoryOptions{Runner: runner, Wait: time.Minute})
		add(t, log, "a", 0, 1)
		first := head(t, log)
		runner.InTx(t.Context(), func(ctx context.Context) error {
			return log.Append(ctx, &feed.Event{Collection: "a", ID: "unknown"})
		})
		add(t, log, "a", 1, 2)
		time.Sleep(59 * time.Second)
		if events, _, err := log.Tail(t.Context(), first, 10); err != nil || len(events) > 0 {
			t.Errorf("Tail within the minute: %d events, %v, want none", len(events), err)
		}
		time.Sleep(time.Second)
		if events, _, err := log.Tail(t.Context(), first, 10); !errors.Is(err, feed.ErrExpired) {
			t.Errorf("Tail after a minute: %d events, %v, want ErrExpired", len(events), err)
		}
		second := head(t, log)
		add(t, log, "a", 2, 3)
		if events, _, err := log.Tail(t.Context(), second, 10); err != nil || len(events) != 1 {
			t.Errorf("Tail in the new epoch: %d events, %v, want 1", len(events), err)
		}
		runner.scopes[0].Commit()
		if _, _, err := log.Tail(t.Context(), second, 10); !errors.Is(err, feed.ErrExpired) {
			t.Errorf("Tail after the late commit: %v, want ErrExpired", err)
		}
	})
}

// TestRollbacksTakeNoSpace: a rolled back event occupies no memory and no position.
func TestRollbacksTakeNoSpace(t *testing.T) {
	t.Parallel()
	db := memory.NewDB()
	log := feed.NewMemory(&feed.MemoryOptions{Runner: db, Bytes: 10_000})
	add(t, log, "a", 0, 3)
	start := head(t, log)
	for range 1000 {
		db.InTx(t.Context(), func(ctx context.Context) error {
			log.Append(ctx, &feed.Event{Collection: "a", ID: "x", After: make([]byte, 1000)})
			return errors.New("undo")
		})
	}
	add(t, log, "a", 3, 6)
	events, _, err := log.Tail(t.Context(), start, 10)
	if err != nil || len(events) != 3 || events[0].Cursor.Seq != start.Seq+1 {
		t.Errorf("Tail: %d events, %v, want 3 right after the start", len(events), err)
	}
}

func ExampleNewMemory() {
	db := memory.NewDB() // the runner of the collections
	log := feed.NewMemory(&feed.MemoryOptions{Runner: db})
	ctx := context.Background()
	start, _ := log.Head(ctx)
	for _, end := range []error{nil, errors.New("out of stock")} {
		db.InTx(ctx, func(ctx context.Context) error {
			log.Append(ctx,
				&feed.Event{Kind: feed.Created, Collection: "orders", ID: fmt.Sprintf("ends with %v", end)})
			return end
		})
	}
	events, _, _ := log.Tail(ctx, start, 10)
	for _, e := range events {
		fmt.Println(e.Kind, e.Collection, e.ID)
	}
	// Output:
	// created orders ends with <nil>
}

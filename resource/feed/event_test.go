package feed_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stoa-go/stoa/resource/feed"
)

// TestMemoOnce: made runs once per key, with concurrent callers.
func TestMemoOnce(t *testing.T) {
	t.Parallel()
	type key struct{ n int }
	var e feed.Event
	var made [20]atomic.Int32
	var wg sync.WaitGroup
	for range 32 {
		wg.Go(func() {
			for n := range made {
				got := e.Memo(key{n}, func() any { made[n].Add(1); return n * n })
				if got != n*n {
					t.Errorf("Memo of %d: %v, want %d", n, got, n*n)
				}
			}
		})
	}
	wg.Wait()
	for n := range made {
		if got := made[n].Load(); got != 1 {
			t.Errorf("%d was made %d times, want 1", n, got)
		}
	}
}

func TestMemoKeys(t *testing.T) {
	t.Parallel()
	var e feed.Event
	type mine string
	for _, key := range []any{"a", mine("a"), 1, int64(1), [2]string{"a", "b"}} {
		if got := e.Memo(key, func() any { return key }); got != key {
			t.Errorf("Memo of %T %v is that of %T %v", key, key, got, got)
		}
	}
	if got := e.Memo("nothing", func() any { return nil }); got != nil {
		t.Errorf("Memo of nil: %v", got)
	}
	if got := e.Memo("nothing", func() any { return 1 }); got != nil {
		t.Errorf("Memo of nil was made twice: %v", got)
	}
}

// TestMemoBound: the number of cached values is limited, and Memo is correct beyond the limit.
func TestMemoBound(t *testing.T) {
	t.Parallel()
	var e feed.Event
	made := 0
	for range 3 {
		for n := range 100 {
			if got := e.Memo(n, func() any { made++; return n }); got != n {
				t.Errorf("Memo of %d: %v", n, got)
			}
		}
	}
	if want := 64 + 3*36; made != want {
		t.Errorf("made ran %d times, want %d: 64 of 100 keys are cached", made, want)
	}
}

func TestMemoPanic(t *testing.T) {
	t.Parallel()
	var e feed.Event
	func() {
		defer func() {
			if recover() == nil {
				t.Error("Memo recovered the panic")
			}
		}()
		e.Memo("a", func() any { panic("no") })
	}()
	if got := e.Memo("a", func() any { return 1 }); got != 1 {
		t.Errorf("Memo after a panic: %v, want what the next one made", got)
	}
}

func TestMemoDoesNotAllocate(t *testing.T) {
	var e feed.Event
	type key struct{ s *string }
	k := any(key{new(string)})
	e.Memo("first", func() any { return 1 })
	e.Memo(k, func() any { return 1 })
	if n := testing.AllocsPerRun(100, func() { e.Memo(k, func() any { return 1 }) }); n > 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

func TestKind(t *testing.T) {
	t.Parallel()
	for kind, want := range map[feed.Kind]string{feed.Bookmark: "bookmark", feed.Created: "created", feed.Updated: "updated",
		feed.Deleted: "deleted", 4: "unknown kind"} {
		if got := kind.String(); got != want {
			t.Errorf("Kind %d is %q, want %q", kind, got, want)
		}
	}
}

// kept is a cached value with a method Forget.
type kept struct{ feed.Change[int] }

// has reports whether values are cached.
func (k *kept) has() bool {
	made := false
	k.Memo("frame", func() any { return 1 })
	k.Memo("frame", func() any { made = true; return 2 })
	return !made
}

// TestForget: only the newest eighth of the ring caches such values, also if they are added later.
func TestForget(t *testing.T) {
	in(t, feed.Options{BufferEvents: 32, BookmarkInterval: -1}, func(t *testing.T, f *feed.Feed, log *spy) {
		at := head(t, log)
		events := make([]*feed.Event, 0, 24)
		early := func(e *feed.Event) *kept { return e.Memo("early", func() any { return &kept{} }).(*kept) }
		collect := func(from feed.Cursor, n int) {
			for e, err := range f.Watch(t.Context(), from, "a") {
				if err != nil {
					t.Fatal(err)
				}
				if e.Kind == feed.Bookmark {
					continue
				}
				if early(e); len(events) < cap(events) {
					events = append(events, e)
				}
				if n--; n == 0 {
					break
				}
			}
			// the ring calls Forget after it has added the next events, which may be received
			// earlier
			synctest.Wait()
		}
		if _, err := f.Position(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		add(t, log, "a", 0, 4)
		collect(at, 4)
		for i, e := range events {
			if !early(e).has() {
				t.Errorf("event %d of 4 has dropped its values", i)
			}
		}
		add(t, log, "a", 4, 24)
		collect(events[3].Cursor, 20)
		for i, e := range events {
			late := e.Memo("late", func() any { return &kept{} }).(*kept)
			if want := i >= 20; early(e).has() != want || late.has() != want {
				t.Errorf("event %d of 24 caches the early value %t, the late one %t, want %t", i,
					early(e).has(), late.has(), want)
			}
		}
	})
}

package feed_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stoa-go/stoa/resource/feed"
)

// store is a collection with its own change stream of collection "a". Changes of other collections
// move its cursors.
type store struct {
	*feed.Memory
	running, asked atomic.Int64 // open streams, and streams ever opened
	spoil          atomic.Pointer[spoiler]
}

// spoiler replaces the nth event of a stream.
type spoiler func(after feed.Cursor, n int, e *feed.Event) (*feed.Event, error)

func newStore() *store { return &store{Memory: feed.NewMemory(nil)} }

func (s *store) spoils(spoil spoiler) { s.spoil.Store(&spoil) }

// watch implements the contract of Watcher. If a spoiler is set, it is applied to each event.
func (s *store) watch(ctx context.Context, after feed.Cursor) iter.Seq2[*feed.Event, error] {
	return func(yield func(*feed.Event, error) bool) {
		s.asked.Add(1)
		s.running.Add(1)
		defer s.running.Add(-1)
		n := 0
		for e, err := range s.stream(ctx, after) {
			if spoil := s.spoil.Load(); spoil != nil && err == nil {
				e, err = (*spoil)(after, n, e)
			}
			if n++; e == nil && err == nil || !yield(e, err) {
				return
			}
		}
	}
}

func (s *store) stream(ctx context.Context, at feed.Cursor) iter.Seq2[*feed.Event, error] {
	return func(yield func(*feed.Event, error) bool) {
		if at.IsZero() {
			at, _ = s.Head(ctx)
		}
		begin, caughtUp := at, false
		for first := true; ; first = false {
			events, end, err := s.Tail(ctx, at, 10)
			switch {
			case ctx.Err() != nil:
				return
			case err != nil:
				yield(nil, err)
				return
			case first && !yield(&feed.Event{Cursor: at}, nil):
				return
			}
			for _, e := range events {
				if e.Collection == "a" && !yield(e, nil) {
					return
				}
			}
			at = end
			if len(events) > 0 {
				continue
			}
			if !caughtUp && at != begin && !yield(&feed.Event{Cursor: at}, nil) {
				return
			}
			caughtUp = true
			select {
			case <-time.After(10 * time.Millisecond):
			case <-ctx.Done():
				return
			}
		}
	}
}

// upon runs a test with a Feed of a store with its own change stream. After Close no stream of the
// store may be open.
func upon(t *testing.T, opts feed.Options, fn func(t *testing.T, f *feed.Feed, s *store)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		f := feed.New(feed.FromWatch(s.watch), quiet(opts))
		fn(t, f, s)
		f.Close()
		if n := s.running.Load(); n != 0 {
			t.Errorf("%d streams of the store run on", n)
		}
	})
}

// TestFromWatch: subscribers share one stream of the store.
func TestFromWatch(t *testing.T) {
	upon(t, feed.Options{BookmarkInterval: -1}, func(t *testing.T, f *feed.Feed, s *store) {
		done := make(chan *got)
		for range 20 {
			go func() { done <- take(f.Watch(t.Context(), feed.Cursor{}, "a"), 30) }()
		}
		synctest.Wait()
		for n := range 30 {
			add(t, s, "a", n, n+1)
			add(t, s, "b", n, n+1)
		}
		for range 20 {
			g := <-done
			g.want(t, "< "+numbers(0, 30), "of many")
		}
		if n := s.running.Load(); n != 1 {
			t.Errorf("%d streams run, want one", n)
		}
	})
}

// TestFromWatchIsPrompt: changes arrive immediately, independent of PollInterval.
func TestFromWatchIsPrompt(t *testing.T) {
	upon(t, feed.Options{PollInterval: time.Hour}, func(t *testing.T, f *feed.Feed, s *store) {
		at, err := f.Position(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		add(t, s, "a", 0, 100)
		take(f.Watch(t.Context(), at, "a"), 100).want(t, "< "+numbers(0, 100), "at once")
		if took := time.Since(begin); took > 100*time.Millisecond {
			t.Errorf("it took %v", took)
		}
	})
}

// TestFromWatchEveryPosition starts at each cursor, with rings of all sizes, and with a store with
// or without changes of other collections.
func TestFromWatchEveryPosition(t *testing.T) {
	t.Parallel()
	const n = 30
	for _, size := range []int{1, 2, 7, 29, 30, 31, 100} {
		for _, quiet := range []bool{true, false} {
			t.Run(fmt.Sprint(size, quiet), func(t *testing.T) {
				upon(
					t,
					feed.Options{BufferEvents: size, BookmarkInterval: -1},
					func(t *testing.T, f *feed.Feed, s *store) {
						places := []feed.Cursor{head(t, s)}
						f.Position(t.Context())
						synctest.Wait() // the ring starts here
						for i := range n {
							if !quiet {
								add(t, s, "b", i, i+1)
							}
							add(t, s, "a", i, i+1)
							places = append(places, head(t, s))
						}
						if !quiet {
							add(t, s, "b", n, n+1)
							// the position has no change, and the store has reported none
							places = append(places, head(t, s))
						}
						time.Sleep(time.Second)
						for i, at := range places[:n] {
							g := take(f.Watch(t.Context(), at, "a"), n-i)
							g.want(t, "< "+numbers(i, n), "from position "+strconv.Itoa(i))
						}
						add(t, s, "a", n, n+1)
						time.Sleep(time.Second)
						take(f.Watch(t.Context(), places[len(places)-1], "a"),
							1).want(t, "< "+strconv.Itoa(n), "from the last cursor")
					},
				)
			})
		}
	}
}

// TestFromWatchOfAQuietStore: the store is past the cursor and has no newer change. Watch returns
// the first bookmark without waiting for one.
func TestFromWatchOfAQuietStore(t *testing.T) {
	upon(t, feed.Options{}, func(t *testing.T, f *feed.Feed, s *store) {
		old := head(t, s)
		add(t, s, "a", 0, 3)
		add(t, s, "b", 0, 100)
		done := make(chan *got)
		// the ring starts after all of these
		go func() { done <- take(f.Watch(t.Context(), old, "a"), 4) }()
		time.Sleep(time.Second)
		add(t, s, "a", 3, 4)
		(<-done).want(t, "< 0 1 2 3", "a returning subscriber")
	})
}

// TestFromWatchBookmarks: bookmarks of the store are delivered, so that cursors do not expire.
func TestFromWatchBookmarks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		at := feed.Cursor{Epoch: 7, Seq: 100}
		f := feed.New(
			feed.FromWatch(func(ctx context.Context, after feed.Cursor) iter.Seq2[*feed.Event, error] {
				return func(yield func(*feed.Event, error) bool) {
					if after.IsZero() {
						after = at
					}
					for yield(&feed.Event{Cursor: after, Collection: "a"}, nil) {
						select {
						case <-time.After(time.Minute):
							after.Seq += 10
						case <-ctx.Done():
							return
						}
					}
				}
			}),
			quiet(feed.Options{BookmarkInterval: -1}),
		)
		defer f.Close()
		n := 0
		for e, err := range f.Watch(t.Context(), feed.Cursor{}, "a") {
			if err != nil || e.Kind != feed.Bookmark || e.Cursor.Seq != uint64(100+10*n) {
				t.Fatalf("%+v, %v, want the %dth bookmark", e, err, n)
			}
			if n++; n == 5 {
				break
			}
		}
		if p, err := f.Position(t.Context()); err != nil || p.Seq != 140 {
			t.Errorf("Position: %v, %v, want that of the last bookmark", p, err)
		}
	})
}

// TestFromWatchFaults: temporary errors are retried without loss, and violations of the contract
// expire all cursors.
func TestFromWatchFaults(t *testing.T) {
	t.Parallel()
	fails := errors.New("the store is unavailable")
	back := feed.Cursor{Epoch: 1, Seq: 1, Mark: 1}
	tests := []struct {
		name    string
		spoil   func(e *feed.Event) (*feed.Event, error)
		expires bool
	}{
		{"an error", func(*feed.Event) (*feed.Event, error) { return nil, fails }, false},
		{"an end", func(*feed.Event) (*feed.Event, error) { return nil, nil }, false},
		{"a panic", func(*feed.Event) (*feed.Event, error) { panic("store") }, false},
		{"expired", func(*feed.Event) (*feed.Event, error) { return nil, feed.ErrExpired }, true},
		{"another epoch", func(e *feed.Event) (*feed.Event, error) {
			return &feed.Event{Kind: feed.Created, Collection: "a", Cursor: back}, nil
		}, true},
		{"no cursor", func(e *feed.Event) (*feed.Event, error) {
			return &feed.Event{Kind: feed.Created, Collection: "a"}, nil
		}, true},
		{"back", func(e *feed.Event) (*feed.Event, error) {
			at := e.Cursor
			at.Seq--
			return &feed.Event{Kind: feed.Created, Collection: "a", Cursor: at}, nil
		}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			upon(t, feed.Options{}, func(t *testing.T, f *feed.Feed, s *store) {
				var spoiled atomic.Bool
				s.spoils(func(_ feed.Cursor, _ int, e *feed.Event) (*feed.Event, error) {
					// Temporary errors occur once, violations on each attempt.
					if e.ID == "2" && (spoiled.CompareAndSwap(false, true) || tt.expires) {
						return tt.spoil(e)
					}
					return e, nil
				})
				done := make(chan *got)
				go func() { done <- take(f.Watch(t.Context(), feed.Cursor{}, "a"), 6) }()
				synctest.Wait()
				add(t, s, "a", 0, 6)
				g := <-done
				switch {
				case !tt.expires:
					g.want(t, "< "+numbers(0, 6), "the waiting subscriber")
				case !errors.Is(g.err, feed.ErrExpired):
					t.Errorf("the subscriber: %s, %v, want ErrExpired", g, g.err)
				}
				if !spoiled.Load() {
					t.Error("the spoiler did not run")
				}
				synctest.Wait() // the position moves after its event is delivered
				at, err := f.Position(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				add(t, s, "a", 6, 8)
				if g := take(f.Watch(t.Context(), at, "a"), 2); g.err != nil ||
					!slices.Contains(g.items, "7") {
					t.Errorf("a later subscriber: %s, %v", g, g.err)
				}
			})
		})
	}
}

// TestFromWatchBadBeginnings: a stream that does not start at the requested cursor is rejected.
func TestFromWatchBadBeginnings(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		first *feed.Event
		want  error
	}{
		{
			"with a change",
			&feed.Event{Kind: feed.Created, Collection: "a", Cursor: feed.Cursor{Epoch: 1, Seq: 5}},
			feed.ErrExpired,
		},
		{"without a cursor", &feed.Event{}, feed.ErrExpired},
		{"with the end", nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			upon(t, feed.Options{}, func(t *testing.T, f *feed.Feed, s *store) {
				s.spoils(func(feed.Cursor, int, *feed.Event) (*feed.Event, error) { return tt.first, nil })
				if at, err := f.Position(t.Context()); err == nil ||
					tt.want != nil && !errors.Is(err, tt.want) {
					t.Errorf("Position: %v, %v", at, err)
				}
				s.spoil.Store(nil)
				add(t, s, "a", 0, 1)
				if _, err := f.Position(t.Context()); err != nil {
					t.Errorf("Position of a valid stream: %v", err)
				}
			})
		})
	}
	t.Run("at another cursor", func(t *testing.T) {
		upon(t, feed.Options{BufferEvents: 1}, func(t *testing.T, f *feed.Feed, s *store) {
			start := head(t, s)
			add(t, s, "a", 0, 9)
			f.Position(t.Context())
			s.spoils(func(after feed.Cursor, n int, e *feed.Event) (*feed.Event, error) {
				if n == 0 && after == start {
					return &feed.Event{Cursor: head(t, s)}, nil
				}
				return e, nil
			})
			if g := take(f.Watch(t.Context(), start, "a"), 1); !errors.Is(g.err, feed.ErrExpired) {
				t.Errorf("%s, %v, want ErrExpired: it skips what is between", g, g.err)
			}
		})
	})
}

// TestFromWatchCloses: Close succeeds while the store has changes that no subscriber reads.
func TestFromWatchCloses(t *testing.T) {
	for range 20 {
		t.Run("", func(t *testing.T) {
			upon(t, feed.Options{}, func(t *testing.T, f *feed.Feed, s *store) {
				f.Position(t.Context())
				received := make(chan *got)
				go func() { received <- take(f.Watch(t.Context(), feed.Cursor{}, "a"), 100) }()
				synctest.Wait()
				add(t, s, "a", 0, 1000)
				<-received
			})
		})
	}
}

func TestFromWatchForeignCursors(t *testing.T) {
	upon(t, feed.Options{}, func(t *testing.T, f *feed.Feed, s *store) {
		add(t, s, "a", 0, 3)
		now, err := f.Position(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		forged, ahead := now, now
		forged.Mark++
		ahead.Seq += 10
		for _, at := range []feed.Cursor{{Epoch: 1, Seq: 1, Mark: 1}, forged, ahead} {
			if g := take(f.Watch(t.Context(), at, "a"), 1); !errors.Is(g.err, feed.ErrExpired) {
				t.Errorf("from %v: %s, %v, want ErrExpired", at, g, g.err)
			}
		}
	})
}

func TestFromWatchRefuses(t *testing.T) {
	upon(t, feed.Options{}, func(t *testing.T, f *feed.Feed, s *store) {
		if err := f.Append(t.Context(), &feed.Event{Collection: "a"}); err == nil {
			t.Error("Append to a store with its own change stream succeeded")
		}
		if f.Transactions() != nil {
			t.Error("Transactions is not nil")
		}
		defer func() {
			if recover() == nil {
				t.Error("FromWatch(nil) did not panic")
			}
		}()
		feed.FromWatch(nil)
	})
}

// TestBranch: a branch ends with its parent, or earlier.
func TestBranch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		parent := feed.New(feed.NewMemory(nil), quiet(feed.Options{}))
		log := feed.NewMemory(nil)
		first, second := parent.Branch(log), parent.Branch(log)
		done := make(chan *got)
		for _, f := range []*feed.Feed{first, second} {
			go func() { done <- take(f.Watch(t.Context(), feed.Cursor{}, "a"), 10) }()
		}
		synctest.Wait()
		first.Close()
		if g := <-done; g.err != feed.ErrClosed {
			t.Errorf("of a branch that was closed: %v, want ErrClosed", g.err)
		}
		at, err := second.Position(t.Context())
		add(t, log, "a", 0, 1)
		if take(second.Watch(t.Context(), at, "a"), 1).want(t, "< 0", "of the other branch"); err != nil {
			t.Error(err)
		}
		parent.Close()
		if g := <-done; g.err != feed.ErrClosed {
			t.Errorf("of a branch after its parent was closed: %v, want ErrClosed", g.err)
		}
		if g := take(parent.Branch(log).Watch(t.Context(), feed.Cursor{}, "a"), 1); g.err != feed.ErrClosed {
			t.Errorf("of a branch of a closed feed: %v, want ErrClosed", g.err)
		}
	})
}

func ExampleFromWatch() {
	// The store has a stream of its own, which watch converts to events.
	const epoch = 1 // of the store's data
	watch := func(ctx context.Context, after feed.Cursor) iter.Seq2[*feed.Event, error] {
		return func(yield func(*feed.Event, error) bool) {
			if after.IsZero() {
				after = feed.Cursor{Epoch: epoch, Seq: 41}
			}
			more := yield(&feed.Event{Kind: feed.Bookmark, Cursor: after}, nil)
			if more && after.Seq < 42 {
				yield(
					&feed.Event{
						Kind:       feed.Created,
						Collection: "orders",
						ID:         "7",
						Cursor:     feed.Cursor{Epoch: epoch, Seq: 42},
					},
					nil,
				)
			}
			<-ctx.Done() // no further changes
		}
	}
	f := feed.New(feed.FromWatch(watch), nil)
	defer f.Close()
	for e, err := range f.Watch(context.Background(), feed.Cursor{Epoch: epoch, Seq: 41}, "orders") {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%v %q\n", e.Kind, e.ID)
		if e.Kind == feed.Created {
			break
		}
	}
	// Output:
	// bookmark ""
	// created "7"
}

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

// store is one that tells its changes by itself: those of collection "a" in its log. What it does beside that moves its places
// on, too.
type store struct {
	*feed.Memory
	running, asked atomic.Int64 // streams: now, and ever
	spoil          atomic.Pointer[spoiler]
}

// spoiler has a hand in the nth event of a stream.
type spoiler func(after feed.Cursor, n int, e *feed.Event) (*feed.Event, error)

func newStore() *store { return &store{Memory: feed.NewMemory(nil)} }

func (s *store) spoils(spoil spoiler) { s.spoil.Store(&spoil) }

// watch does what a Watcher does. spoil, if there is one, has a hand in the nth of each stream.
func (s *store) watch(ctx context.Context, after feed.Cursor) iter.Seq2[*feed.Event, error] {
	return func(yield func(*feed.Event, error) bool) {
		s.asked.Add(1)
		s.running.Add(1)
		defer s.running.Add(-1)
		n := 0
		for e, err := range s.told(ctx, after) {
			if spoil := s.spoil.Load(); spoil != nil && err == nil {
				e, err = (*spoil)(after, n, e)
			}
			if n++; e == nil && err == nil || !yield(e, err) {
				return
			}
		}
	}
}

func (s *store) told(ctx context.Context, at feed.Cursor) iter.Seq2[*feed.Event, error] {
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

// upon runs a test with a Feed of a store that tells by itself. Nothing of the store may run when it is closed.
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

// TestFromWatch: however many listen, the store is listened to once.
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

// TestFromWatchIsPrompt: what the store tells is heard at once, however much of it there is.
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

// TestFromWatchEveryPlace begins at each place, in rings of all sizes, with a store that is quiet or has gone on elsewhere.
func TestFromWatchEveryPlace(t *testing.T) {
	t.Parallel()
	const n = 30
	for _, size := range []int{1, 2, 7, 29, 30, 31, 100} {
		for _, quiet := range []bool{true, false} {
			t.Run(fmt.Sprint(size, quiet), func(t *testing.T) {
				upon(t, feed.Options{BufferEvents: size, BookmarkInterval: -1}, func(t *testing.T, f *feed.Feed, s *store) {
					places := []feed.Cursor{head(t, s)}
					f.Position(t.Context())
					synctest.Wait() // the ring begins here
					for i := range n {
						if !quiet {
							add(t, s, "b", i, i+1)
						}
						add(t, s, "a", i, i+1)
						places = append(places, head(t, s))
					}
					if !quiet {
						add(t, s, "b", n, n+1)
						places = append(places, head(t, s)) // nothing is there, and nothing was told of it
					}
					time.Sleep(time.Second)
					for i, at := range places[:n] {
						g := take(f.Watch(t.Context(), at, "a"), n-i)
						g.want(t, "< "+numbers(i, n), "from place "+strconv.Itoa(i))
					}
					add(t, s, "a", n, n+1)
					time.Sleep(time.Second)
					take(f.Watch(t.Context(), places[len(places)-1], "a"), 1).want(t, "< "+strconv.Itoa(n), "from the last place")
				})
			})
		}
	}
}

// TestFromWatchOfAQuietStore: it has gone on since the place, and has nothing to tell. Whoever listens is not left waiting.
func TestFromWatchOfAQuietStore(t *testing.T) {
	upon(t, feed.Options{}, func(t *testing.T, f *feed.Feed, s *store) {
		old := head(t, s)
		add(t, s, "a", 0, 3)
		add(t, s, "b", 0, 100)
		done := make(chan *got)
		go func() { done <- take(f.Watch(t.Context(), old, "a"), 4) }() // the ring begins behind all that
		time.Sleep(time.Second)
		add(t, s, "a", 3, 4)
		(<-done).want(t, "< 0 1 2 3", "who comes back")
	})
}

// TestFromWatchBookmarks of the store are told, so that cursors do not grow old.
func TestFromWatchBookmarks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		at := feed.Cursor{Epoch: 7, Seq: 100}
		f := feed.New(feed.FromWatch(func(ctx context.Context, after feed.Cursor) iter.Seq2[*feed.Event, error] {
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
		}), quiet(feed.Options{BookmarkInterval: -1}))
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

// TestFromWatchFaults: what passes is tried again, so that nothing is missing, and after what breaks a promise everybody lists
// anew.
func TestFromWatchFaults(t *testing.T) {
	t.Parallel()
	fails := errors.New("the store is away")
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
		{"no place", func(e *feed.Event) (*feed.Event, error) {
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
				var spoilt atomic.Bool
				s.spoils(func(_ feed.Cursor, _ int, e *feed.Event) (*feed.Event, error) {
					// What passes passes; what is broken is so for whoever asks.
					if e.ID == "2" && (spoilt.CompareAndSwap(false, true) || tt.expires) {
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
					g.want(t, "< "+numbers(0, 6), "who has waited")
				case !errors.Is(g.err, feed.ErrExpired):
					t.Errorf("who listened: %s, %v, want ErrExpired", g, g.err)
				}
				if !spoilt.Load() {
					t.Error("nothing was spoilt")
				}
				synctest.Wait() // the position moves after the event that moves it, which may be heard of before that
				at, err := f.Position(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				add(t, s, "a", 6, 8)
				if g := take(f.Watch(t.Context(), at, "a"), 2); g.err != nil || !slices.Contains(g.items, "7") {
					t.Errorf("who comes then: %s, %v", g, g.err)
				}
			})
		})
	}
}

// TestFromWatchBadBeginnings: a stream that does not begin where it was asked to is none to go on with.
func TestFromWatchBadBeginnings(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		first *feed.Event
		want  error
	}{
		{"with a change", &feed.Event{Kind: feed.Created, Collection: "a", Cursor: feed.Cursor{Epoch: 1, Seq: 5}}, feed.ErrExpired},
		{"nowhere", &feed.Event{}, feed.ErrExpired},
		{"with the end", nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			upon(t, feed.Options{}, func(t *testing.T, f *feed.Feed, s *store) {
				s.spoils(func(feed.Cursor, int, *feed.Event) (*feed.Event, error) { return tt.first, nil })
				if at, err := f.Position(t.Context()); err == nil || tt.want != nil && !errors.Is(err, tt.want) {
					t.Errorf("Position: %v, %v", at, err)
				}
				s.spoil.Store(nil)
				add(t, s, "a", 0, 1)
				if _, err := f.Position(t.Context()); err != nil {
					t.Errorf("Position, when it is as it has to be: %v", err)
				}
			})
		})
	}
	t.Run("elsewhere", func(t *testing.T) {
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

// TestFromWatchCloses while the store has something to tell that nobody takes any more.
func TestFromWatchCloses(t *testing.T) {
	for range 20 {
		t.Run("", func(t *testing.T) {
			upon(t, feed.Options{}, func(t *testing.T, f *feed.Feed, s *store) {
				f.Position(t.Context())
				listeners := make(chan *got)
				go func() { listeners <- take(f.Watch(t.Context(), feed.Cursor{}, "a"), 100) }()
				synctest.Wait()
				add(t, s, "a", 0, 1000)
				<-listeners
			})
		})
	}
}

func TestFromWatchForeignPlaces(t *testing.T) {
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
			t.Error("Append to a store that tells by itself was taken")
		}
		if f.Transactions() != nil {
			t.Error("it has transactions")
		}
		defer func() {
			if recover() == nil {
				t.Error("FromWatch(nil) did not panic")
			}
		}()
		feed.FromWatch(nil)
	})
}

// TestBranch: it ends with its trunk, or before.
func TestBranch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		trunk := feed.New(feed.NewMemory(nil), quiet(feed.Options{}))
		log := feed.NewMemory(nil)
		first, second := trunk.Branch(log), trunk.Branch(log)
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
		trunk.Close()
		if g := <-done; g.err != feed.ErrClosed {
			t.Errorf("of a branch whose trunk was closed: %v, want ErrClosed", g.err)
		}
		if g := take(trunk.Branch(log).Watch(t.Context(), feed.Cursor{}, "a"), 1); g.err != feed.ErrClosed {
			t.Errorf("of a branch of what was closed: %v, want ErrClosed", g.err)
		}
	})
}

func ExampleFromWatch() {
	// The store has a stream of its own, of which this is the form that Feed needs.
	const epoch = 1 // of the store's memory
	watch := func(ctx context.Context, after feed.Cursor) iter.Seq2[*feed.Event, error] {
		return func(yield func(*feed.Event, error) bool) {
			if after.IsZero() {
				after = feed.Cursor{Epoch: epoch, Seq: 41}
			}
			more := yield(&feed.Event{Kind: feed.Bookmark, Cursor: after}, nil)
			if more && after.Seq < 42 {
				yield(&feed.Event{Kind: feed.Created, Collection: "orders", ID: "7", Cursor: feed.Cursor{Epoch: epoch, Seq: 42}}, nil)
			}
			<-ctx.Done() // nothing more happens
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

package feed_test

import (
	"context"
	"errors"
	"io"
	"iter"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stoa-go/stoa/resource/feed"
)

// spy is a log that counts calls and can be made to fail.
type spy struct {
	*feed.Memory
	fails           atomic.Bool
	tails, reads    atomic.Int64
	reading, atOnce atomic.Int64 // now, and the maximum
	slow            time.Duration
	deaf            bool // Wake returns nil
}

var errLog = errors.New("the log has failed")

func newSpy() *spy { return &spy{Memory: feed.NewMemory(nil)} }

func (s *spy) Head(ctx context.Context) (feed.Cursor, error) {
	if s.fails.Load() {
		return feed.Cursor{}, errLog
	}
	return s.Memory.Head(ctx)
}

func (s *spy) Tail(ctx context.Context, after feed.Cursor, max int) ([]*feed.Event, feed.Cursor, error) {
	s.tails.Add(1)
	if s.fails.Load() {
		return nil, feed.Cursor{}, errLog
	}
	return s.Memory.Tail(ctx, after, max)
}

func (s *spy) Read(ctx context.Context, after, until feed.Cursor, max int) ([]*feed.Event, error) {
	s.reads.Add(1)
	defer s.reading.Add(-1)
	for n := s.reading.Add(1); ; {
		if most := s.atOnce.Load(); n <= most || s.atOnce.CompareAndSwap(most, n) {
			break
		}
	}
	if s.slow > 0 {
		select {
		case <-time.After(s.slow):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if s.fails.Load() {
		return nil, errLog
	}
	return s.Memory.Read(ctx, after, until, max)
}

func (s *spy) Wake() <-chan struct{} {
	if s.deaf {
		return nil
	}
	return s.Memory.Wake()
}

// quiet returns options with a Logger that discards its output.
func quiet(o feed.Options) *feed.Options {
	o.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	return &o
}

// got is what a subscriber received. "<" is a bookmark.
type got struct {
	items []string
	last  feed.Cursor
	err   error
}

func (g *got) String() string { return strings.Join(g.items, " ") }

// take receives until there are n events, not counting bookmarks, or an error.
func take(seq iter.Seq2[*feed.Event, error], n int) *got {
	g := &got{}
	for e, err := range seq {
		if err != nil {
			g.err = err
			return g
		}
		g.last = e.Cursor
		if e.Kind == feed.Bookmark {
			g.items = append(g.items, "<")
		} else {
			g.items = append(g.items, e.ID)
			n--
		}
		if n <= 0 {
			return g
		}
	}
	return g
}

// numbers returns the ids of the events that add appends.
func numbers(from, to int) string {
	var text strings.Builder
	for n := from; n < to; n++ {
		if n > from {
			text.WriteByte(' ')
		}
		text.WriteString(strconv.Itoa(n))
	}
	return text.String()
}

func (g *got) want(t *testing.T, want string, what string) {
	t.Helper()
	if g.String() != want || g.err != nil {
		t.Errorf("%s: %s, %v, want %s", what, g, g.err, want)
	}
}

// in runs a test with fake time and a Feed of an empty log, which it closes at the end.
func in(t *testing.T, opts feed.Options, fn func(t *testing.T, f *feed.Feed, log *spy)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log := newSpy()
		f := feed.New(log, quiet(opts))
		defer f.Close()
		fn(t, f, log)
	})
}

func TestListenFromNow(t *testing.T) {
	in(t, feed.Options{}, func(t *testing.T, f *feed.Feed, log *spy) {
		add(t, log, "a", 0, 5)
		done := make(chan *got)
		go func() { done <- take(f.Watch(t.Context(), feed.Cursor{}, "a"), 3) }()
		synctest.Wait()
		add(t, log, "b", 0, 2)
		add(t, log, "a", 5, 8)
		(<-done).want(t, "< 5 6 7", "from now on")
	})
}

// TestWatchFromEveryPosition starts at each cursor, with rings of all sizes. No event is missing or
// repeated, from the ring, from the log, or from both.
func TestWatchFromEveryPosition(t *testing.T) {
	t.Parallel()
	const n = 30
	for _, size := range []int{1, 2, 7, 29, 30, 31, 100} {
		t.Run(strconv.Itoa(size), func(t *testing.T) {
			in(t, feed.Options{BufferEvents: size}, func(t *testing.T, f *feed.Feed, log *spy) {
				start := head(t, log)
				places := []feed.Cursor{start}
				f.Position(t.Context())
				synctest.Wait() // the ring starts here
				for i := range n {
					add(t, log, "b", i, i+1)
					add(t, log, "a", i, i+1)
					places = append(places, head(t, log))
				}
				synctest.Wait()
				for i, at := range places[:n] {
					g := take(f.Watch(t.Context(), at, "a"), n-i)
					g.want(t, "< "+numbers(i, n), "from position "+strconv.Itoa(i))
					if g.last != places[n] {
						t.Errorf("from position %d: the last cursor is %+v, want %+v", i, g.last, places[n])
					}
				}
			})
		})
	}
}

// TestRingIsEnough: a cursor in the ring, or directly before it, needs no read of the log.
func TestRingIsEnough(t *testing.T) {
	in(t, feed.Options{BufferEvents: 10}, func(t *testing.T, f *feed.Feed, log *spy) {
		start := head(t, log)
		f.Position(t.Context())
		synctest.Wait()
		var places []feed.Cursor
		for n := range 30 {
			add(t, log, "a", n, n+1)
			synctest.Wait()
			places = append(places, head(t, log))
		}
		for n := 19; n < 29; n++ { // the ring has 20 to 29
			take(f.Watch(t.Context(), places[n], "a"), 29-n).want(t, "< "+numbers(n+1, 30), "from the ring")
		}
		if n := log.reads.Load(); n != 0 {
			t.Errorf("the log was read %d times, want never", n)
		}
		take(f.Watch(t.Context(), places[18], "a"),
			11).want(t, "< "+numbers(19, 30), "from one before the ring")
		take(f.Watch(t.Context(), start, "a"), 30).want(t, "< "+numbers(0, 30), "from the start")
		if n := log.reads.Load(); n != 2 {
			t.Errorf("the log was read %d times, want twice", n)
		}
	})
}

func TestRingIsBoundedByBytes(t *testing.T) {
	in(t, feed.Options{BufferBytes: 100_000}, func(t *testing.T, f *feed.Feed, log *spy) {
		at, _ := f.Position(t.Context())
		synctest.Wait()
		for range 20 {
			log.Append(t.Context(),
				&feed.Event{Kind: feed.Updated, Collection: "a", ID: "x", After: make([]byte, 30_000)})
		}
		synctest.Wait()
		take(f.Watch(t.Context(), at, "a"), 20).want(t, "<"+strings.Repeat(" x", 20), "from before")
		if n := log.reads.Load(); n != 1 {
			t.Errorf("the log was read %d times, want once: the ring has three of twenty", n)
		}
	})
}

// TestSubscribersLeaveAndReturn is a model test: subscribers leave and return at random, the ring
// is too small for them, and some are slow. Each receives all events, once and in order.
func TestSubscribersLeaveAndReturn(t *testing.T) {
	in(t, feed.Options{BufferEvents: 16, MaxReads: 2}, func(t *testing.T, f *feed.Feed, log *spy) {
		start := head(t, log)
		const n = 600
		var wg sync.WaitGroup
		for l := range 20 {
			wg.Go(func() {
				at, seen := start, 0
				for round := 1; seen < n; round++ {
					left := 1 + (l*7+round*13)%40
					for e, err := range f.Watch(t.Context(), at, "a") {
						if err != nil {
							t.Errorf("subscriber %d: %v", l, err)
							return
						}
						if at = e.Cursor; e.Kind == feed.Bookmark {
							continue
						}
						if e.ID != strconv.Itoa(seen) {
							t.Errorf("subscriber %d got %s, want %d", l, e.ID, seen)
							return
						}
						if l%3 == 0 && seen%50 == 0 {
							time.Sleep(50 * time.Millisecond)
						}
						if seen++; seen == n || left == 0 {
							break
						}
						left--
					}
				}
			})
		}
		for i := range n {
			add(t, log, "a", i, i+1)
			add(t, log, "b", i, i+1)
			if i%10 == 0 {
				time.Sleep(time.Millisecond)
			}
		}
		wg.Wait()
		if most := log.atOnce.Load(); most > 2 {
			t.Errorf("%d read the log at once, want at most 2", most)
		}
		if n := feed.Listening(f, "a"); n != 0 {
			t.Errorf("%d subscribers that have left are still registered", n)
		}
	})
}

func TestReadsAreBounded(t *testing.T) {
	in(t, feed.Options{BufferEvents: 10, MaxReads: 3}, func(t *testing.T, f *feed.Feed, log *spy) {
		log.slow = time.Second
		start := head(t, log)
		add(t, log, "a", 0, 600)
		f.Position(t.Context())
		// the ring starts here; a cursor ahead of it would be checked by a read of the log
		synctest.Wait()
		begin := time.Now()
		var wg sync.WaitGroup
		for range 12 {
			wg.Go(
				func() {
					take(f.Watch(t.Context(), start, "a"),
						600).want(t, "< "+numbers(0, 600), "older than the ring")
				},
			)
		}
		wg.Wait()
		if most := log.atOnce.Load(); most != 3 {
			t.Errorf("%d read the log at once, want 3", most)
		}
		// Three pages each: 256, 256 and 88.
		if d := time.Since(begin); d != 12*time.Second {
			t.Errorf("it took %v, want 12 s: 36 reads of a second, three at a time", d)
		}
	})
}

func TestOthersAreNotWoken(t *testing.T) {
	in(t, feed.Options{}, func(t *testing.T, f *feed.Feed, log *spy) {
		ctx, leave := context.WithCancel(t.Context())
		for _, name := range []string{"a", "b"} {
			go take(f.Watch(ctx, feed.Cursor{}, name), 100)
		}
		synctest.Wait()
		a, b := feed.WakeOf(f, "a"), feed.WakeOf(f, "b")
		add(t, log, "b", 0, 1)
		synctest.Wait()
		if feed.WakeOf(f, "a") != a {
			t.Error("an event of b woke the subscribers of a")
		}
		if feed.WakeOf(f, "b") == b {
			t.Error("an event of b did not wake the subscribers of b")
		}
		leave()
	})
}

func TestCursorsThatCannotGoOn(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(c feed.Cursor) feed.Cursor
	}{
		{"another epoch", func(c feed.Cursor) feed.Cursor { c.Epoch++; return c }},
		{"another mark, in the ring", func(c feed.Cursor) feed.Cursor { c.Mark++; return c }},
		{"another mark, older than the ring", func(c feed.Cursor) feed.Cursor { c.Seq -= 10; return c }},
		{"the future", func(c feed.Cursor) feed.Cursor { c.Seq += 100; return c }},
		{"the far future", func(c feed.Cursor) feed.Cursor { c.Seq = 1<<64 - 1; return c }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in(t, feed.Options{BufferEvents: 5}, func(t *testing.T, f *feed.Feed, log *spy) {
				add(t, log, "a", 0, 20)
				f.Position(t.Context())
				synctest.Wait()
				add(t, log, "a", 20, 30)
				synctest.Wait()
				if g := take(f.Watch(t.Context(), tt.change(head(t, log)), "a"),
					1); !errors.Is(g.err, feed.ErrExpired) ||
					len(g.items) > 0 {
					t.Errorf("Watch: %s, %v, want ErrExpired and nothing before it", g, g.err)
				}
			})
		})
	}
}

func TestPurgedCursor(t *testing.T) {
	in(t, feed.Options{BufferEvents: 5}, func(t *testing.T, f *feed.Feed, log *spy) {
		at, _ := f.Position(t.Context())
		add(t, log, "a", 0, 20)
		synctest.Wait()
		log.Purge(t.Context(), time.Now().Add(time.Hour), 0, 3)
		if g := take(f.Watch(t.Context(), at, "a"), 1); !errors.Is(g.err, feed.ErrExpired) {
			t.Errorf("Watch: %s, %v, want ErrExpired", g, g.err)
		}
	})
}

// TestPurgedWhileReading: the events before the error are complete.
func TestPurgedWhileReading(t *testing.T) {
	in(t, feed.Options{BufferEvents: 5}, func(t *testing.T, f *feed.Feed, log *spy) {
		at, _ := f.Position(t.Context())
		add(t, log, "a", 0, 1000)
		synctest.Wait()
		seen := 0
		for e, err := range f.Watch(t.Context(), at, "a") {
			if err != nil {
				if !errors.Is(err, feed.ErrExpired) || seen != 256 {
					t.Errorf("after %d events: %v, want ErrExpired after one page", seen, err)
				}
				return
			}
			if e.Kind == feed.Bookmark {
				continue
			}
			if e.ID != strconv.Itoa(seen) {
				t.Fatalf("got %s, want %d", e.ID, seen)
			}
			if seen++; seen == 100 {
				log.Purge(t.Context(), time.Now().Add(time.Hour), 0, 500)
			}
		}
		t.Error("there was no error")
	})
}

// TestAheadOfTheRing: another process has delivered events that this one has not read yet.
func TestAheadOfTheRing(t *testing.T) {
	in(
		t,
		feed.Options{PollInterval: time.Hour, BookmarkInterval: -1},
		func(t *testing.T, f *feed.Feed, log *spy) {
			log.deaf = true
			f.Position(t.Context())
			synctest.Wait()
			add(t, log, "a", 0, 5)
			ahead := head(t, log)
			begin := time.Now()
			done := make(chan *got)
			go func() { done <- take(f.Watch(t.Context(), ahead, "a"), 1) }()
			synctest.Wait()
			if d := time.Since(begin); d != 0 {
				t.Errorf("it took %v, want no waiting for the next poll", d)
			}
			add(t, log, "a", 5, 6)
			time.Sleep(time.Hour)
			(<-done).want(t, "< 5", "ahead")
		},
	)
}

func TestBookmarks(t *testing.T) {
	in(t, feed.Options{BookmarkInterval: 30 * time.Second}, func(t *testing.T, f *feed.Feed, log *spy) {
		type mark struct {
			after time.Duration
			at    feed.Cursor
			id    string
		}
		var marks []mark
		begin := time.Now()
		ctx, leave := context.WithCancel(t.Context())
		over := make(chan struct{})
		go func() {
			defer close(over)
			for e, err := range f.Watch(ctx, feed.Cursor{}, "a") {
				if err != nil {
					t.Error(err)
				}
				marks = append(marks, mark{time.Since(begin), e.Cursor, e.ID})
			}
		}()
		synctest.Wait()
		start := head(t, log)
		add(t, log, "b", 0, 3)
		other := head(t, log)
		time.Sleep(70 * time.Second) // bookmarks at 30 and 60
		add(t, log, "a", 0, 1)       // an event at 70
		event := head(t, log)
		time.Sleep(60 * time.Second) // and at 90 and 120
		leave()
		<-over
		want := []mark{
			{0, start, ""},
			{30 * time.Second, other, ""},
			{60 * time.Second, other, ""},
			{70 * time.Second, event, "0"},
			{90 * time.Second, event, ""},
			{120 * time.Second, event, ""},
		}
		if len(marks) != len(want) {
			t.Fatalf("got %v, want %v", marks, want)
		}
		for i := range want {
			if marks[i] != want[i] {
				t.Errorf("%d: %v, want %v", i, marks[i], want[i])
			}
		}
		take(f.Watch(t.Context(), marks[1].at, "a"), 1).want(t, "< 0", "from a bookmark")
	})
}

func TestNoBookmarks(t *testing.T) {
	in(t, feed.Options{BookmarkInterval: -1}, func(t *testing.T, f *feed.Feed, log *spy) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		take(f.Watch(ctx, feed.Cursor{}, "a"), 1).want(t, "<", "in an hour") // except the first
	})
}

func TestContextEnds(t *testing.T) {
	in(t, feed.Options{BufferEvents: 1, MaxReads: 1}, func(t *testing.T, f *feed.Feed, log *spy) {
		log.slow = time.Hour
		start := head(t, log)
		f.Position(t.Context())
		synctest.Wait()
		add(t, log, "a", 0, 10)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan *got)
		for _, at := range []feed.Cursor{{}, start, start} { // waiting, reading, and waiting to read
			go func() { done <- take(f.Watch(ctx, at, "a"), 10) }()
		}
		synctest.Wait()
		cancel()
		for range 3 {
			if g := <-done; g.err != nil {
				t.Errorf("%s, %v, want no error", g, g.err)
			}
		}
		if n := feed.Listening(f, "a"); n != 0 {
			t.Errorf("%d subscribers are still registered", n)
		}
	})
}

// TestContextEndsWhileBusy: the end of ctx is noticed also if events are always available.
func TestContextEndsWhileBusy(t *testing.T) {
	in(t, feed.Options{}, func(t *testing.T, f *feed.Feed, log *spy) {
		at, _ := f.Position(t.Context())
		synctest.Wait()
		add(t, log, "a", 0, 100)
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		n := 0
		for e, err := range f.Watch(ctx, at, "a") {
			if err != nil {
				t.Error(err)
			}
			if e.ID == "9" {
				cancel()
			}
			n++
		}
		if n != 11 {
			t.Errorf("%d events, want 11: a bookmark, ten events and no more", n)
		}
	})
}

func TestWatchIsUsedTwice(t *testing.T) {
	in(t, feed.Options{}, func(t *testing.T, f *feed.Feed, log *spy) {
		at, _ := f.Position(t.Context())
		add(t, log, "a", 0, 3)
		seq := f.Watch(t.Context(), at, "a")
		take(seq, 2).want(t, "< 0 1", "the first time")
		take(seq, 3).want(t, "< 0 1 2", "the second time")
		take(seq, 0).want(t, "<", "with a break at the first bookmark")
	})
}

func TestTwoFeedsOverOneLog(t *testing.T) {
	in(t, feed.Options{}, func(t *testing.T, f *feed.Feed, log *spy) {
		g := feed.New(log, quiet(feed.Options{BufferEvents: 2}))
		defer g.Close()
		at, _ := f.Position(t.Context())
		done := make(chan *got)
		for _, f := range []*feed.Feed{f, g} {
			go func() { done <- take(f.Watch(t.Context(), at, "a"), 20) }()
		}
		for n := range 20 {
			add(t, log, "a", n, n+1)
			time.Sleep(10 * time.Millisecond)
		}
		for range 2 {
			(<-done).want(t, "< "+numbers(0, 20), "one of two")
		}
	})
}

func TestPurge(t *testing.T) {
	in(
		t,
		feed.Options{Retention: time.Hour, PollInterval: time.Minute},
		func(t *testing.T, f *feed.Feed, log *spy) {
			at, _ := f.Position(t.Context())
			for n := range 2500 {
				log.Append(t.Context(), &feed.Event{Collection: "a", ID: strconv.Itoa(n)})
			}
			old := head(t, log)
			time.Sleep(59 * time.Minute)
			add(t, log, "a", 0, 2)
			if _, err := log.Read(t.Context(), at, old, 1); err != nil {
				t.Errorf("within the hour: %v", err)
			}
			time.Sleep(3 * time.Minute)
			if _, err := log.Read(t.Context(), at, old, 1); !errors.Is(err, feed.ErrExpired) {
				t.Errorf("after it: %v, want ErrExpired", err)
			}
			if events, err := log.Read(t.Context(), old, head(t, log), 10); err != nil || len(events) != 2 {
				t.Errorf("of the newer events: %d events, %v, want 2", len(events), err)
			}
		},
	)
}

// TestPurgeByNumber: cursors older than the newest MaxEvents expire, and newer ones do not,
// independent of their age.
func TestPurgeByNumber(t *testing.T) {
	for name, keep := range map[string]time.Duration{"kept forever": -1, "kept for a day": 0} {
		t.Run(name, func(t *testing.T) {
			in(
				t,
				feed.Options{
					BufferEvents:     5,
					Retention:        keep,
					MaxEvents:        100,
					PollInterval:     time.Hour,
					BookmarkInterval: -1,
				},
				func(t *testing.T, f *feed.Feed, log *spy) {
					at, _ := f.Position(t.Context())
					add(t, log, "a", 0, 2000)
					old := head(t, log)
					add(t, log, "a", 2000, 2100)
					synctest.Wait()
					take(f.Watch(t.Context(), at, "a"), 3).want(t, "< 0 1 2", "before anything is purged")
					time.Sleep(2 * time.Minute)
					if g := take(f.Watch(t.Context(), at, "a"), 1); !errors.Is(g.err, feed.ErrExpired) ||
						len(g.items) > 0 {
						t.Errorf("before the newest 100: %s, %v, want ErrExpired and nothing before it", g,
							g.err)
					}
					take(f.Watch(t.Context(), old, "a"),
						100).want(t, "< "+numbers(2000, 2100), "among the newest 100")
				},
			)
		})
	}
}

func TestKeptForever(t *testing.T) {
	in(
		t,
		feed.Options{Retention: -1, MaxEvents: -1, PollInterval: time.Hour},
		func(t *testing.T, f *feed.Feed, log *spy) {
			at, _ := f.Position(t.Context())
			add(t, log, "a", 0, 10)
			time.Sleep(100 * time.Hour)
			if events, err := log.Read(t.Context(), at, head(t, log), 100); err != nil || len(events) != 10 {
				t.Errorf("%d events, %v, want 10", len(events), err)
			}
		},
	)
}

func TestNewWithoutALog(t *testing.T) {
	t.Parallel()
	defer func() {
		if got := recover(); got != "feed: New needs a Log, and log is nil" {
			t.Errorf("New panicked with %v", got)
		}
	}()
	feed.New(nil, nil)
}

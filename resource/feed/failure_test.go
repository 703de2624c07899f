package feed_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stoa-go/stoa/resource/feed"
)

// TestLogFails: subscribers that follow the ring wait until the log works again, and those that
// read the log receive the error.
func TestLogFails(t *testing.T) {
	in(t, feed.Options{BufferEvents: 4, BookmarkInterval: -1}, func(t *testing.T, f *feed.Feed, log *spy) {
		start := head(t, log)
		done := make(chan *got)
		go func() { done <- take(f.Watch(t.Context(), feed.Cursor{}, "a"), 30) }()
		synctest.Wait()
		add(t, log, "a", 0, 10)
		// between two polls, because a poll could be over before the failure
		time.Sleep(1050 * time.Millisecond)
		log.fails.Store(true)
		before := log.tails.Load()
		add(t, log, "a", 10, 20)
		time.Sleep(time.Minute)
		if n := log.tails.Load() - before; n < 12 || n > 40 {
			t.Errorf("the log was tried %d times in a minute, want once in 2.5 to 5 seconds", n)
		}
		if g := take(f.Watch(t.Context(), start, "a"), 1); g.err != errLog {
			t.Errorf("older than the ring: %s, %v, want the log's error", g, g.err)
		}
		log.fails.Store(false)
		add(t, log, "a", 20, 30)
		(<-done).want(t, "< "+numbers(0, 30), "the waiting subscriber")
		if g := take(f.Watch(t.Context(), start, "a"), 30); g.err != nil {
			t.Errorf("older than the ring, when the log works again: %v", g.err)
		}
	})
}

func TestLogFailsFromTheStart(t *testing.T) {
	in(t, feed.Options{}, func(t *testing.T, f *feed.Feed, log *spy) {
		log.fails.Store(true)
		if _, err := f.Position(t.Context()); err != errLog {
			t.Errorf("Position: %v, want the log's error", err)
		}
		if g := take(f.Watch(t.Context(), feed.Cursor{}, "a"), 1); g.err != errLog {
			t.Errorf("Watch: %v, want the log's error", g.err)
		}
		log.fails.Store(false)
		time.Sleep(10 * time.Second)
		at, err := f.Position(t.Context())
		add(t, log, "a", 0, 1)
		if g := take(f.Watch(t.Context(), at, "a"), 1); err != nil || g.String() != "< 0" {
			t.Errorf("when it works again: %v; %s, %v", err, g, g.err)
		}
	})
}

// stuck is a log that waits for a transaction that does not end.
type stuck struct{ *spy }

func (stuck) Head(ctx context.Context) (feed.Cursor, error) {
	<-ctx.Done()
	return feed.Cursor{}, ctx.Err()
}

// TestPositionTimeout: the position of a log that has to wait fails after ReadTimeout.
func TestPositionTimeout(t *testing.T) {
	in(t, feed.Options{}, func(t *testing.T, _ *feed.Feed, log *spy) {
		f := feed.New(stuck{log}, quiet(feed.Options{ReadTimeout: 7 * time.Second}))
		defer f.Close()
		for name, call := range map[string]func() error{
			"Position": func() error { _, err := f.Position(t.Context()); return err },
			"Watch":    func() error { return take(f.Watch(t.Context(), feed.Cursor{}, "a"), 1).err },
		} {
			began := time.Now()
			err := call()
			if took := time.Since(began); err != context.DeadlineExceeded || took != 7*time.Second {
				t.Errorf("%s: %v after %v, want %v after 7s", name, err, took, context.DeadlineExceeded)
			}
		}
	})
}

// other is a log that can be replaced at run time, as by a restored backup.
type other struct {
	feed.Log
	mu  sync.Mutex
	now feed.Log
}

func (o *other) log() feed.Log {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.now
}

func (o *other) Head(ctx context.Context) (feed.Cursor, error) { return o.log().Head(ctx) }

func (o *other) Tail(ctx context.Context, after feed.Cursor, max int) ([]*feed.Event, feed.Cursor, error) {
	return o.log().Tail(ctx, after, max)
}

func (o *other) Read(ctx context.Context, after, until feed.Cursor, max int) ([]*feed.Event, error) {
	return o.log().Read(ctx, after, until, max)
}

// TestRestoredBackup: all cursors expire, and new subscribers continue with the restored log.
func TestRestoredBackup(t *testing.T) {
	in(t, feed.Options{}, func(t *testing.T, _ *feed.Feed, first *spy) {
		log := &other{Log: first, now: first}
		f := feed.New(log, quiet(feed.Options{}))
		defer f.Close()
		done := make(chan *got)
		for _, name := range []string{"a", "a", "b"} {
			go func() { done <- take(f.Watch(t.Context(), feed.Cursor{}, name), 100) }()
		}
		synctest.Wait()
		add(t, first, "a", 0, 5)
		synctest.Wait()
		lost, _ := f.Position(t.Context())
		log.mu.Lock()
		log.now = feed.NewMemory(nil)
		log.mu.Unlock()
		for range 3 {
			if g := <-done; !errors.Is(g.err, feed.ErrExpired) {
				t.Errorf("the subscriber: %s, %v, want ErrExpired", g, g.err)
			}
		}
		if g := take(f.Watch(t.Context(), lost, "a"), 1); !errors.Is(g.err, feed.ErrExpired) {
			t.Errorf("from an old cursor: %s, %v, want ErrExpired", g, g.err)
		}
		at, _ := f.Position(t.Context())
		add(t, log.log(), "a", 5, 8)
		take(f.Watch(t.Context(), at, "a"), 3).want(t, "< 5 6 7", "from a new cursor")
	})
}

// amnesiac is a log that rejects each position soon after it has returned it.
type amnesiac struct {
	*spy
	heads atomic.Int64
}

func (a *amnesiac) Head(ctx context.Context) (feed.Cursor, error) {
	a.heads.Add(1)
	return a.spy.Head(ctx)
}

func (a *amnesiac) Tail(context.Context, feed.Cursor, int) ([]*feed.Event, feed.Cursor, error) {
	a.tails.Add(1)
	return nil, feed.Cursor{}, feed.ErrExpired
}

// TestLogWithExpiringPositions: the feed backs off between attempts if positions expire repeatedly.
func TestLogWithExpiringPositions(t *testing.T) {
	in(t, feed.Options{}, func(t *testing.T, _ *feed.Feed, first *spy) {
		log := &amnesiac{spy: first}
		f := feed.New(log, quiet(feed.Options{}))
		defer f.Close()
		if _, err := f.Position(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if n := log.tails.Load(); n < 12 || n > 40 {
			t.Errorf("the log was tried %d times in a minute, want once in 2.5 to 5 seconds", n)
		}
	})
}

func TestClose(t *testing.T) {
	in(t, feed.Options{}, func(t *testing.T, f *feed.Feed, log *spy) {
		done := make(chan *got)
		for range 10 {
			go func() { done <- take(f.Watch(t.Context(), feed.Cursor{}, "a"), 10) }()
		}
		synctest.Wait()
		at := head(t, log)
		var closing sync.WaitGroup
		for range 500 { // at the same moment
			closing.Go(func() {
				if err := f.Close(); err != nil {
					t.Errorf("Close: %v", err)
				}
			})
		}
		closing.Wait()
		f.Close()
		for range 10 {
			if g := <-done; g.err != feed.ErrClosed || g.String() != "<" {
				t.Errorf("the subscriber: %s, %v, want ErrClosed", g, g.err)
			}
		}
		for _, at := range []feed.Cursor{{}, at} {
			if g := take(f.Watch(t.Context(), at, "a"), 1); g.err != feed.ErrClosed || len(g.items) > 0 {
				t.Errorf("a later subscriber: %s, %v, want ErrClosed", g, g.err)
			}
		}
	})
}

func TestCloseBeforeUse(t *testing.T) {
	in(t, feed.Options{}, func(t *testing.T, f *feed.Feed, _ *spy) {
		f.Close()
		if _, err := f.Position(t.Context()); err != feed.ErrClosed {
			t.Errorf("Position: %v, want ErrClosed", err)
		}
	})
}

// TestCloseInterruptsReads: Close ends reads of the log and waits for them, so the log may be
// closed next.
func TestCloseInterruptsReads(t *testing.T) {
	in(t, feed.Options{BufferEvents: 1, MaxReads: 2}, func(t *testing.T, f *feed.Feed, log *spy) {
		log.slow = time.Hour
		start := head(t, log)
		f.Position(t.Context())
		synctest.Wait()
		add(t, log, "a", 0, 10)
		done := make(chan *got)
		for range 5 {
			go func() { done <- take(f.Watch(t.Context(), start, "a"), 10) }()
		}
		synctest.Wait()
		begin := time.Now()
		f.Close()
		if n := log.reading.Load(); n != 0 || time.Since(begin) != 0 {
			t.Errorf("after %v %d still read the log", time.Since(begin), n)
		}
		for range 5 {
			if g := <-done; g.err != feed.ErrClosed {
				t.Errorf("older than the ring: %s, %v, want ErrClosed", g, g.err)
			}
		}
	})
}

// notInRing is a log on a pool with broken connections: a call blocks without an error until its
// context is done, and the next call gets another connection.
type notInRing struct {
	*spy
	tailing, reading atomic.Bool  // whether the connection of Tail, or of Read, is broken
	given            atomic.Int64 // how many calls have timed out
}

func (n *notInRing) wait(ctx context.Context, lost *atomic.Bool) error {
	if !lost.Load() {
		return nil
	}
	<-ctx.Done()
	lost.Store(false)
	n.given.Add(1)
	return ctx.Err()
}

func (n *notInRing) Tail(ctx context.Context, after feed.Cursor,
	max int) ([]*feed.Event, feed.Cursor, error) {
	if err := n.wait(ctx, &n.tailing); err != nil {
		return nil, feed.Cursor{}, err
	}
	return n.spy.Tail(ctx, after, max)
}

func (n *notInRing) Read(ctx context.Context, after, until feed.Cursor, max int) ([]*feed.Event, error) {
	if err := n.wait(ctx, &n.reading); err != nil {
		return nil, err
	}
	return n.spy.Read(ctx, after, until, max)
}

// TestLogIsSilent: reads that get no answer time out and are retried, and no event is lost.
func TestLogIsSilent(t *testing.T) {
	tests := []struct {
		name  string
		limit time.Duration
		least time.Duration // until the next attempt
	}{
		{"default", 0, 10 * time.Second},
		{"own", time.Minute, time.Minute},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				log := &notInRing{spy: newSpy()}
				log.deaf = true
				f := feed.New(log,
					quiet(feed.Options{BufferEvents: 4, BookmarkInterval: -1, ReadTimeout: tt.limit}))
				defer f.Close()
				start := head(t, log.spy)
				done := make(chan *got)
				go func() { done <- take(f.Watch(t.Context(), feed.Cursor{}, "a"), 20) }()
				synctest.Wait()
				add(t, log.spy, "a", 0, 10)
				// between two polls, so that the next poll is the first to block
				time.Sleep(1050 * time.Millisecond)

				log.tailing.Store(true)
				began := time.Now()
				add(t, log.spy, "a", 10, 20)
				(<-done).want(t, "< "+numbers(0, 20), "the waiting subscriber")
				if took := time.Since(began); took < tt.least || took > tt.least+time.Second {
					t.Errorf("the event arrived %v later, want %v", took, tt.least)
				}

				// Subscribers that read the log receive the error, because others wait for their
				// slot.
				log.reading.Store(true)
				if g := take(f.Watch(t.Context(), start, "a"), 20); !errors.Is(g.err,
					context.DeadlineExceeded) {
					t.Errorf("older than the ring: %s, %v", g, g.err)
				}
				take(f.Watch(t.Context(), start, "a"),
					20).want(t, "< "+numbers(0, 20), "older than the ring, again")
				if n := log.given.Load(); n != 2 {
					t.Errorf("%d reads timed out, want 2", n)
				}
			})
		})
	}
}

// TestNoReadTimeout: a negative ReadTimeout is no limit.
func TestNoReadTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &notInRing{spy: newSpy()}
		f := feed.New(log, quiet(feed.Options{ReadTimeout: -1}))
		if _, err := f.Position(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		log.tailing.Store(true)
		time.Sleep(24 * time.Hour)
		if n := log.given.Load(); n != 0 {
			t.Errorf("%d reads timed out", n)
		}
		f.Close()
	})
}

// faulty is a log with Tail and Purge replaced by functions of the test.
type faulty struct {
	*spy
	do atomic.Pointer[func(events []*feed.Event, end *feed.Cursor)]
}

func (f *faulty) Tail(ctx context.Context, after feed.Cursor, max int) ([]*feed.Event, feed.Cursor, error) {
	events, end, err := f.spy.Tail(ctx, after, max)
	if do := f.do.Load(); do != nil && len(events) > 0 {
		(*do)(events, &end)
	}
	return events, end, err
}

func (f *faulty) Purge(ctx context.Context, before time.Time, keep, max int) (int, error) {
	if f.do.Load() != nil {
		panic("purge")
	}
	return f.spy.Purge(ctx, before, keep, max)
}

// TestLogAtFault: events out of order are not delivered, and a panic of the log does not end the
// process.
func TestLogAtFault(t *testing.T) {
	t.Parallel()
	faults := map[string]func(events []*feed.Event, end *feed.Cursor){
		"panic":       func([]*feed.Event, *feed.Cursor) { panic("tail") },
		"nil":         func(events []*feed.Event, _ *feed.Cursor) { events[2] = nil },
		"twice":       func(events []*feed.Event, _ *feed.Cursor) { events[2] = events[1] },
		"backwards":   func(events []*feed.Event, _ *feed.Cursor) { slices.Reverse(events) },
		"another end": func(events []*feed.Event, end *feed.Cursor) { *end = events[1].Cursor },
	}
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			in(t, feed.Options{}, func(t *testing.T, _ *feed.Feed, first *spy) {
				log := &faulty{spy: first}
				f := feed.New(log, quiet(feed.Options{BookmarkInterval: -1, Retention: time.Hour}))
				defer f.Close()
				done := make(chan *got)
				go func() { done <- take(f.Watch(t.Context(), feed.Cursor{}, "a"), 6) }()
				synctest.Wait()
				log.do.Store(&fault)
				// one call, because single events could be in order
				if err := first.Append(t.Context(), created("a", 0), created("a", 1),
					created("a", 2)); err != nil {
					t.Fatal(err)
				}
				time.Sleep(5 * time.Minute) // until the log is purged
				log.do.Store(nil)
				add(t, first, "a", 3, 6)
				(<-done).want(t, "< "+numbers(0, 6), "the waiting subscriber")
			})
		})
	}
}

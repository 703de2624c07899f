package feed_test

import (
	"context"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"weak"

	"github.com/stoa-go/stoa/resource/feed"
)

// crowd is a number of subscribers that count their events.
type crowd struct {
	log   *feed.Memory
	feed  *feed.Feed
	leave context.CancelFunc
	wg    sync.WaitGroup

	size int64
	seen atomic.Int64
	goal atomic.Int64
	all  chan struct{} // receives a value when seen reaches goal
}

// gather subscribes to collection "a" from the current position.
func gather(t testing.TB, size int) *crowd {
	t.Helper()
	ctx, leave := context.WithCancel(context.Background())
	c := &crowd{log: feed.NewMemory(nil), leave: leave, size: int64(size), all: make(chan struct{}, 1)}
	// Polls and bookmarks would distort the measurement.
	c.feed = feed.New(c.log, quiet(feed.Options{PollInterval: time.Hour, BookmarkInterval: time.Hour}))
	c.goal.Store(c.size)
	for range size {
		c.wg.Go(func() {
			listens := false
			for e, err := range c.feed.Watch(ctx, feed.Cursor{}, "a") {
				if err != nil {
					t.Error(err)
				} else if listens && e.Kind == feed.Bookmark {
					continue // a bookmark on a slow machine
				}
				listens = true
				if c.seen.Add(1) == c.goal.Load() {
					c.all <- struct{}{}
				}
			}
		})
	}
	<-c.all // the first bookmark of each
	return c
}

// publish appends n events and waits until all subscribers have received them.
func (c *crowd) publish(t testing.TB, n int) {
	c.goal.Add(int64(n) * c.size)
	for range n {
		if err := c.log.Append(context.Background(),
			&feed.Event{Kind: feed.Updated, Collection: "a", ID: "1", Rev: "r"}); err != nil {
			t.Fatal(err)
		}
	}
	<-c.all
}

func (c *crowd) end() {
	c.leave()
	c.wg.Wait()
	c.feed.Close()
}

// BenchmarkFanOut measures an event from Append until 10,000 subscribers have received it, for
// single events and for batches of 100.
func BenchmarkFanOut(b *testing.B) {
	const watchers = 10_000
	for _, batch := range []int{1, 100} {
		b.Run("batch="+strconv.Itoa(batch), func(b *testing.B) {
			c := gather(b, watchers)
			defer c.end()
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				c.publish(b, batch)
				n += batch
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "events/s")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n)/watchers, "ns/watcher-event")
		})
	}
}

// TestNoAllocationsPerSubscriber: the allocations per event do not depend on the number of
// subscribers. Garbage collection is off, because it empties the runtime's caches for blocked
// goroutines.
func TestNoAllocationsPerSubscriber(t *testing.T) {
	const watchers, events = 2000, 50
	c := gather(t, watchers)
	defer c.end()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	c.publish(t, events) // let slices and maps grow first
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range events {
		c.publish(t, 1)
	}
	runtime.ReadMemStats(&after)
	perWatcher := float64(after.Mallocs-before.Mallocs) / events / watchers
	t.Logf("%.4f allocations per subscriber and event", perWatcher)
	if perWatcher > 0.02 {
		t.Errorf("%.4f allocations per subscriber and event, want only those per event", perWatcher)
	}
}

// TestMemoryOfAnIdleSubscriber counts all memory of a subscriber: goroutine, stack and timer.
func TestMemoryOfAnIdleSubscriber(t *testing.T) {
	const watchers = 5000
	used := func() uint64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc + m.StackInuse
	}
	before := used()
	c := gather(t, watchers)
	defer c.end()
	c.publish(t, 1)
	perWatcher := (int64(used()) - int64(before)) / watchers
	t.Logf("%d bytes per subscriber, with the goroutine", perWatcher)
	if most := int64(8 << 10); perWatcher > most {
		t.Errorf("%d bytes per subscriber, want at most %d", perWatcher, most)
	}
}

// TestBlockedSubscriberRetainsNoEvents: a subscriber that does not ask for the next event keeps
// none of the later events in memory.
func TestBlockedSubscriberRetainsNoEvents(t *testing.T) {
	log := feed.NewMemory(&feed.MemoryOptions{Events: 10})
	f := feed.New(log, quiet(feed.Options{BufferEvents: 10, BookmarkInterval: -1}))
	defer f.Close()
	at, err := f.Position(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	listens, blocked, goOn := make(chan struct{}), make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for e, err := range f.Watch(t.Context(), at, "a") {
			if err != nil {
				if err != feed.ErrExpired { // the log is as small as the ring
					t.Error(err)
				}
				return
			}
			switch {
			case e.Kind == feed.Bookmark:
				close(listens)
			case e.ID == "0":
				close(blocked)
				<-goOn
			}
		}
	})
	defer wg.Wait()
	defer close(goOn)
	<-listens // from the ring, not from the log
	add(t, log, "a", 0, 1)
	<-blocked
	var events []weak.Pointer[feed.Event]
	var came sync.WaitGroup
	for n := 1; n <= 1000; n++ {
		done := make(chan *got)
		now, err := f.Position(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		came.Go(func() {
			g := &got{}
			for e, err := range f.Watch(t.Context(), now, "a") {
				if g.err = err; err != nil {
					break
				}
				if e.Kind != feed.Bookmark {
					events = append(events, weak.Make(e))
					break
				}
			}
			done <- g
		})
		add(t, log, "a", n, n+1)
		if g := <-done; g.err != nil {
			t.Fatal(g.err)
		}
	}
	came.Wait()
	alive := 0
	for range 1000 { // one is enough unless the stack of tailLoop refers to an event
		runtime.GC()
		alive = 0
		for _, e := range events {
			if e.Value() != nil {
				alive++
			}
		}
		if alive <= 25 {
			return
		}
	}
	t.Errorf("of %d events %d are in memory, want those of the log, of the ring, and a few", len(events),
		alive)
}

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

// crowd are many who listen, and count.
type crowd struct {
	log   *feed.Memory
	feed  *feed.Feed
	leave context.CancelFunc
	wg    sync.WaitGroup

	size int64
	seen atomic.Int64
	goal atomic.Int64
	all  chan struct{} // gets a value when the goal is reached
}

// gather has many listen to collection "a" from now on.
func gather(t testing.TB, size int) *crowd {
	t.Helper()
	ctx, leave := context.WithCancel(context.Background())
	c := &crowd{log: feed.NewMemory(nil), leave: leave, size: int64(size), all: make(chan struct{}, 1)}
	// Nothing happens but what is appended, however long it takes: polls and bookmarks cost something, too.
	c.feed = feed.New(c.log, quiet(feed.Options{PollInterval: time.Hour, BookmarkInterval: time.Hour}))
	c.goal.Store(c.size)
	for range size {
		c.wg.Go(func() {
			listens := false
			for e, err := range c.feed.Watch(ctx, feed.Cursor{}, "a") {
				if err != nil {
					t.Error(err)
				} else if listens && e.Kind == feed.Bookmark {
					continue // as on machines where this takes long
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

// tell appends n events, and waits until everybody has got them.
func (c *crowd) tell(t testing.TB, n int) {
	c.goal.Add(int64(n) * c.size)
	for range n {
		if err := c.log.Append(context.Background(), &feed.Event{Kind: feed.Updated, Collection: "a", ID: "1", Rev: "r"}); err != nil {
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

// BenchmarkFanOut has 10,000 listen: what one event costs from Append until all have got it, by itself and one of 100 at a
// time, and what that is for each of them.
func BenchmarkFanOut(b *testing.B) {
	const watchers = 10_000
	for _, batch := range []int{1, 100} {
		b.Run("batch="+strconv.Itoa(batch), func(b *testing.B) {
			c := gather(b, watchers)
			defer c.end()
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				c.tell(b, batch)
				n += batch
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "events/s")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n)/watchers, "ns/watcher-event")
		})
	}
}

// TestNothingIsAllocatedForAWatcher: what an event allocates does not depend on how many listen. There is no garbage collection
// meanwhile, as it takes from the runtime what that keeps for goroutines that wait.
func TestNothingIsAllocatedForAWatcher(t *testing.T) {
	const watchers, events = 2000, 50
	c := gather(t, watchers)
	defer c.end()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	c.tell(t, events) // grow what grows once
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range events {
		c.tell(t, 1)
	}
	runtime.ReadMemStats(&after)
	perWatcher := float64(after.Mallocs-before.Mallocs) / events / watchers
	t.Logf("%.4f allocations for a watcher and an event", perWatcher)
	if perWatcher > 0.02 {
		t.Errorf("%.4f allocations for a watcher and an event, want none but those for the event", perWatcher)
	}
}

// TestMemoryOfAnIdleWatcher counts everything: the goroutine, its stack, its timer.
func TestMemoryOfAnIdleWatcher(t *testing.T) {
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
	c.tell(t, 1)
	perWatcher := (int64(used()) - int64(before)) / watchers
	t.Logf("%d bytes for each who listens, with the goroutine", perWatcher)
	if most := int64(8 << 10); perWatcher > most {
		t.Errorf("%d bytes for each who listens, want at most %d", perWatcher, most)
	}
}

// TestWhoStandsStillHoldsNothing: a listener that does not come back for the next event keeps none of those that came after
// in memory.
func TestWhoStandsStillHoldsNothing(t *testing.T) {
	log := feed.NewMemory(&feed.MemoryOptions{Events: 10})
	f := feed.New(log, quiet(feed.Options{BufferEvents: 10, BookmarkInterval: -1}))
	defer f.Close()
	at, err := f.Position(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	listens, stands, goOn := make(chan struct{}), make(chan struct{}), make(chan struct{})
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
				close(stands)
				<-goOn
			}
		}
	})
	defer wg.Wait()
	defer close(goOn)
	<-listens // from the ring on, and not from the log
	add(t, log, "a", 0, 1)
	<-stands
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
	for range 1000 { // one is enough, unless something is on the stack of the tailer
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
	t.Errorf("of %d events %d are in memory, want those of the log, of the ring, and a few", len(events), alive)
}

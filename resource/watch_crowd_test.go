package resource_test

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/memory"
)

// audience is a number of subscribers of a resource, which count their events.
type audience struct {
	rig
	leave context.CancelFunc
	wg    sync.WaitGroup
	size  int64
	seen  atomic.Int64
	goal  atomic.Int64
	all   chan struct{} // receives a value when the goal is reached
}

// strict has all kinds of policy.
func strict() *resource.Options[thing] {
	ours := query.And(query.Where("n", query.Gte, 0), query.Where("name", query.Ne, "theirs"))
	return &resource.Options[thing]{
		Scope:     func(context.Context) (query.Filter, error) { return ours, nil },
		Authorize: func(context.Context, resource.Op, *thing, *thing) error { return nil },
	}
}

// gather subscribes many times to things, in three views, with a filter.
func gather(t testing.TB, size int) *audience {
	t.Helper()
	ctx, leave := context.WithCancel(context.Background())
	a := &audience{leave: leave, size: int64(size), all: make(chan struct{}, 1)}
	db := memory.NewDB()
	a.log = feed.NewMemory(&feed.MemoryOptions{Runner: db})
	// Only writes cause work, however long the test takes: polls and bookmarks would cost
	// something, too.
	a.feed = feed.New(a.log, &feed.Options{PollInterval: time.Hour, BookmarkInterval: time.Hour})
	a.Resource = resource.New("things", memory.New(&memory.Options[thing]{DB: db}), strict())
	a.serve(t, a.Resource)
	shapes := []*resource.Resource{a.Resource, nameView(a.Resource, nil),
		nameView(a.Resource, &resource.ViewOptions{Where: query.Where("n", query.Lt, 1<<40)})}
	wanted := query.And(query.Where("name", query.StartsWith, "in"), query.Where("id", query.Ne, "none"))
	a.goal.Store(a.size)
	for i := range size {
		a.wg.Go(func() {
			listens := false
			for c, err := range shapes[i%len(shapes)].Watch(ctx, feed.Cursor{}, wanted) {
				if err != nil || c.Kind == feed.Deleted {
					t.Errorf("%v, %v", c, err)
				} else if listens && c.Kind == feed.Bookmark {
					continue // as on slow machines
				}
				listens = true
				if a.seen.Add(1) == a.goal.Load() {
					a.all <- struct{}{}
				}
			}
		})
	}
	<-a.all // the first bookmark of each subscriber
	return a
}

// write writes n times, and waits until all subscribers have received the events.
func (a *audience) write(t testing.TB, n int) {
	a.goal.Add(int64(n) * a.size)
	for i := range n {
		n := int(a.goal.Load()) + i
		a.put(t, "1", "in"+strconv.Itoa(n), n) // the views hide n
	}
	<-a.all
}

func (a *audience) end() {
	a.leave()
	a.wg.Wait()
	a.feed.Close()
}

// TestNothingIsAllocatedForAListener: the allocations for a change do not depend on the number of
// subscribers, with a filter, a Scope, an Authorize or a view. It is not parallel because it
// measures the whole process. Garbage collection is off, because it would free the records that the
// runtime caches for waiting goroutines.
func TestNothingIsAllocatedForAListener(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector allocates")
	}
	const listeners, events = 1000, 50
	a := gather(t, listeners)
	defer a.end()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	a.write(t, events) // grow the buffers that grow once
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range events {
		a.write(t, 1)
	}
	runtime.ReadMemStats(&after)
	mallocs := float64(after.Mallocs-before.Mallocs) / events
	t.Logf("%.1f allocations for a write and what %d hear of it", mallocs, listeners)
	if most := 150.; mallocs > most {
		t.Errorf("%.1f allocations for a write and what %d hear of it, want at most %v", mallocs, listeners, most)
	}
}

// TestListenersShare: all subscribers with the same view receive the same change.
func TestListenersShare(t *testing.T) {
	t.Parallel()
	watched(t, nil, func(t *testing.T, r rig) {
		view := nameView(r.Resource, nil)
		const each = 500
		var heard [2][each]*feed.Change[resource.Entry]
		var wg sync.WaitGroup
		for i, shape := range []*resource.Resource{r.Resource, view} {
			for n := range each {
				wg.Go(func() {
					for c, err := range shape.Watch(t.Context(), feed.Cursor{}, query.Filter{}) {
						if err != nil {
							t.Error(err)
							return
						}
						if c.Kind != feed.Bookmark {
							heard[i][n] = c
							return
						}
					}
				})
			}
		}
		synctest.Wait()
		r.put(t, "1", "a", 0)
		wg.Wait()
		for i := range heard {
			for n, c := range heard[i] {
				if c == nil || c != heard[i][0] || c.After.Value != heard[i][0].After.Value {
					t.Fatalf("in shape %d listener %d was given %p, the first %p", i, n, c, heard[i][0])
				}
			}
		}
		if _, ok := heard[1][0].After.Value.(*onlyName); !ok || heard[0][0] == heard[1][0] {
			t.Errorf("the view was given %T", heard[1][0].After.Value)
		}
	})
}

// TestListenersWithDifferentRights: subscribers share the events that they may see and do not
// receive others.
func TestListenersWithDifferentRights(t *testing.T) {
	t.Parallel()
	type who struct{}
	opts := &resource.Options[thing]{Authorize: func(ctx context.Context, op resource.Op, before, _ *thing) error {
		if name, _ := ctx.Value(who{}).(string); op == resource.OpGet && !isRoot(ctx) && before.Name != name {
			return resource.ErrNotFound
		}
		return nil
	}}
	watched(t, opts, func(t *testing.T, r rig) {
		var wg sync.WaitGroup
		for i := range 20 {
			name := fmt.Sprint(i % 4)
			wg.Go(func() {
				ctx := context.WithValue(t.Context(), who{}, name)
				wantHeard(t, r.Resource, r.Watch(ctx, r.start, query.Filter{}),
					fmt.Sprintf(`created %[1]s - {"id":%[1]q,"name":%[1]q,"n":0}`, name),
					fmt.Sprintf(`deleted %s - -`, name),
					fmt.Sprintf(`created x%[1]s - {"id":"x%[1]s","name":%[1]q,"n":1}`, name))
			})
		}
		synctest.Wait()
		for i := range 4 {
			r.put(t, fmt.Sprint(i), fmt.Sprint(i), 0)
		}
		for i := range 4 {
			r.put(t, fmt.Sprint(i), "nobody", 0)
			r.put(t, "x"+fmt.Sprint(i), fmt.Sprint(i), 1)
		}
		wg.Wait()
	})
}

// BenchmarkWatch has 10,000 subscribers in three views with filter and policy. It measures a write
// until all subscribers have received it.
func BenchmarkWatch(b *testing.B) {
	const listeners = 10_000
	a := gather(b, listeners)
	defer a.end()
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		a.write(b, 1)
		n++
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n)/listeners, "ns/listener-event")
}

package resource_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
)

// TestListThenWatch: a list, plus the changes after the cursor that precedes it, equals a later
// list. This holds at every position, for late subscribers, for those that are slower than the ring
// buffer, and after a reconnect.
func TestListThenWatch(t *testing.T) {
	t.Parallel()
	for _, sight := range []string{"everything", "filter", "where", "scope"} {
		for seed := range uint64(3) {
			t.Run(sight+strconv.FormatUint(seed, 10), func(t *testing.T) {
				t.Parallel()
				watched(t, onlyIn()[sight], func(t *testing.T, r rig) {
					m := model{rig: r, r: r.Resource, seed: seed}
					switch in := query.Where("name", query.Eq, "in"); sight {
					case "filter":
						m.filter = in
					case "where":
						m.r = resource.View(r.Resource, func(v thing) (thing, error) { return v, nil },
							func(v, _ thing) (thing, error) { return v, nil }, &resource.ViewOptions{Where: in})
					}
					m.run(t)
				})
			})
		}
	}
}

// TestListThenWatchOfWatcher is the same for a store that reports its changes itself.
func TestListThenWatchOfWatcher(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			t.Parallel()
			testUpstream(t, onlyIn()["scope"], func(t *testing.T, r rig, _ *telling) {
				m := model{rig: r, r: r.Resource, seed: seed}
				m.run(t)
			})
		})
	}
}

// model is a test with writers, and subscribers that keep copies of the items.
type model struct {
	rig
	r      *resource.Resource // the resource that is subscribed to
	filter query.Filter
	seed   uint64
}

func (m *model) run(t *testing.T) {
	var writers, listeners sync.WaitGroup
	for n := range uint64(4) {
		writers.Go(func() { m.write(t, rand.New(rand.NewPCG(m.seed, n))) })
	}
	done := make(chan feed.Cursor, 1) // the position after the last write
	copies := make([]map[string]thing, 6)
	for n := range copies {
		random := rand.New(rand.NewPCG(m.seed, uint64(100+n)))
		listeners.Go(func() {
			time.Sleep(rand.N(100 * time.Millisecond))
			copies[n] = m.listen(t, random, done)
		})
	}
	writers.Wait()
	synctest.Wait()
	end, err := m.r.Position(t.Context(), 0)
	if err != nil {
		t.Error(err)
	}
	done <- end
	listeners.Wait()
	want, _ := m.list(t)
	for n, got := range copies {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("seed %d, listener %d has (-list +copy):\n%s", m.seed, n, diff)
		}
	}
}

// write makes changes, with pauses for subscribers.
func (m *model) write(t *testing.T, random *rand.Rand) {
	for n := range 150 {
		id := strconv.Itoa(random.IntN(8))
		var err error
		if random.IntN(4) == 0 {
			_, err = m.Delete(asRoot(t), id, nil)
		} else {
			name := []string{"in", "out"}[random.IntN(2)]
			_, _, err = m.Put(asRoot(t), id, fmt.Appendf(nil, `{"name":%q,"n":%d}`, name, n), nil)
		}
		if err != nil && resource.Problem(err).StatusCode() >= 500 {
			t.Error(err)
		}
		time.Sleep(time.Duration(random.IntN(3)) * time.Millisecond)
	}
}

// list returns the items, and a position from before the list.
func (m *model) list(t *testing.T) (map[string]thing, feed.Cursor) {
	at, err := m.r.Position(t.Context(), 0)
	if err != nil {
		t.Error(err)
	}
	items := map[string]thing{}
	for page, err := range m.r.Pages(t.Context(), query.Query{Filter: m.filter}, resource.Position{}) {
		if err != nil {
			t.Error(err)
			break
		}
		for _, e := range page {
			items[e.ID] = *e.Value.(*thing)
		}
	}
	return items, at
}

// listen keeps a copy up to date, in several sessions, until it has all changes up to done.
func (m *model) listen(t *testing.T, random *rand.Rand, done chan feed.Cursor) map[string]thing {
	items, at := m.list(t)
	for {
		left := 1 + random.IntN(40)
		for c, err := range m.r.Watch(t.Context(), at, m.filter) {
			if err != nil {
				t.Error(err)
				return items
			}
			if c.Cursor.Seq < at.Seq || c.Cursor.Seq == at.Seq && c.Kind != feed.Bookmark {
				t.Errorf("%v %s at %v, behind %v", c.Kind, c.ID, c.Cursor, at)
			}
			if c.Cursor == at && over(done, at) {
				return items
			}
			at = c.Cursor
			apply(items, c)
			if left--; left == 0 {
				break
			}
		}
		at = m.again(t, items, at, random)
	}
}

// again reconnects as a client does: it resumes, or lists again.
func (m *model) again(t *testing.T, items map[string]thing, at feed.Cursor, random *rand.Rand) feed.Cursor {
	time.Sleep(time.Duration(random.IntN(20)) * time.Millisecond)
	if random.IntN(4) > 0 {
		return at
	}
	clear(items)
	fresh, at := m.list(t)
	maps.Copy(items, fresh)
	return at
}

// over reports whether a position is the end of the writes.
func over(done chan feed.Cursor, at feed.Cursor) bool {
	select {
	case end := <-done:
		done <- end
		return at == end
	default:
		return false
	}
}

func apply(items map[string]thing, c *feed.Change[resource.Entry]) {
	switch c.Kind {
	case feed.Created, feed.Updated:
		items[c.ID] = *c.After.Value.(*thing)
	case feed.Deleted:
		delete(items, c.ID)
	}
}

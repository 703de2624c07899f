package resource_test

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/tx"
)

// telling is a store that reports the changes of its items itself.
type telling struct {
	*memory.Store[thing]
	running atomic.Int64              // number of running streams
	spoil   func(*feed.Change[thing]) // modifies a change before it is yielded

	mu      sync.Mutex
	changes []*feed.Change[thing] // the cursor of the change with index n has Seq n+1
	wake    chan struct{}         // closed at the next change
}

var _ feed.Watcher[thing] = (*telling)(nil)

func newTelling() *telling {
	return &telling{Store: memory.New[thing](nil), wake: make(chan struct{})}
}

// record records a change after the commit.
func (s *telling) record(ctx context.Context, kind feed.Kind, it resource.Item[thing], before, after *thing) {
	tx.AfterCommit(ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		c := &feed.Change[thing]{Kind: kind, ID: it.ID, Rev: string(it.Rev), Before: before, After: after}
		if s.spoil != nil {
			s.spoil(c)
		}
		c.Cursor = feed.Cursor{Epoch: 1, Seq: uint64(len(s.changes) + 1)}
		s.changes = append(s.changes, c)
		close(s.wake)
		s.wake = make(chan struct{})
	})
}

func (s *telling) Create(ctx context.Context, v thing) (resource.Item[thing], error) {
	it, err := s.Store.Create(ctx, v)
	if err == nil {
		s.record(ctx, feed.Created, it, nil, &it.Value)
	}
	return it, err
}

func (s *telling) Insert(ctx context.Context, id string, v thing) (resource.Item[thing], error) {
	it, err := s.Store.Insert(ctx, id, v)
	if err == nil {
		s.record(ctx, feed.Created, it, nil, &it.Value)
	}
	return it, err
}

// InsertMany is not supported.
func (s *telling) InsertMany(context.Context, []resource.Item[thing]) error {
	return resource.ErrUnavailable
}

// Replace relies on the library for the current item, which the revision identifies.
func (s *telling) Replace(ctx context.Context, id string, expect resource.Rev, v thing) (resource.Item[thing], error) {
	old, _ := s.Get(ctx, id)
	it, err := s.Store.Replace(ctx, id, expect, v)
	if err == nil {
		s.record(ctx, feed.Updated, it, &old.Value, &it.Value)
	}
	return it, err
}

func (s *telling) Delete(ctx context.Context, id string, expect resource.Rev) error {
	old, _ := s.Get(ctx, id)
	err := s.Store.Delete(ctx, id, expect)
	if err == nil {
		s.record(ctx, feed.Deleted, old, &old.Value, nil)
	}
	return err
}

// after returns the changes after a position, a channel that is closed when more follow, and the
// next position.
func (s *telling) after(seq uint64) ([]*feed.Change[thing], <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changes[seq:], s.wake
}

// Watch implements [feed.Watcher].
func (s *telling) Watch(ctx context.Context, at feed.Cursor) iter.Seq2[*feed.Change[thing], error] {
	return func(yield func(*feed.Change[thing], error) bool) {
		s.running.Add(1)
		defer s.running.Add(-1)
		all, _ := s.after(0)
		switch {
		case at.IsZero():
			at = feed.Cursor{Epoch: 1, Seq: uint64(len(all)), Mark: 1}
		case at.Epoch != 1 || at.Seq > uint64(len(all)):
			yield(nil, feed.ErrExpired)
			return
		}
		if !yield(&feed.Change[thing]{Cursor: at}, nil) {
			return
		}
		for caughtUp := false; ; caughtUp = true {
			more, wake := s.after(at.Seq)
			for _, c := range more {
				if !yield(c, nil) {
					return
				}
				at = c.Cursor
			}
			if !caughtUp && len(more) > 0 && !yield(&feed.Change[thing]{Cursor: at}, nil) {
				return
			}
			select {
			case <-wake:
			case <-ctx.Done():
				return
			}
		}
	}
}

// testUpstream runs a test with a resource of a store that reports its changes.
func testUpstream(t *testing.T, opts *resource.Options[thing], fn func(t *testing.T, r rig, s *telling)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := newTelling()
		r := rig{Resource: resource.New("things", s, opts), log: feed.NewMemory(nil)}
		r.feed = feed.New(r.log, &feed.Options{BufferEvents: 8})
		r.serve(t, r.Resource)
		var err error
		if r.start, err = r.Position(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		fn(t, r, s)
		r.feed.Close()
		if n := s.running.Load(); n != 0 {
			t.Errorf("%d streams of the store run when the Feed is closed", n)
		}
	})
}

// TestWatcherTransitions: subscribers receive the same events as with any other store, and the log
// of the feed stays empty.
func TestWatcherTransitions(t *testing.T) {
	t.Parallel()
	for how, opts := range onlyIn() {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			testUpstream(t, opts, func(t *testing.T, r rig, _ *telling) {
				var view *resource.Resource
				filter, in := query.Filter{}, query.Where("name", query.Eq, "in")
				if how == "filter" {
					filter = in
				}
				if how == "where" {
					view = nameView(r.Resource, &resource.ViewOptions{Where: in})
				} else {
					view = nameView(r.Resource, nil)
				}
				before := r.head(t)
				for n, name := range []string{"in", "in", "out", "out", "in"} {
					r.put(t, "1", name, n)
				}
				r.delete(t, "1")
				wantHeard(t, view, view.Watch(t.Context(), r.start, filter), `created 1 - {"id":"1","name":"in"}`, `deleted 1 - -`,
					`created 1 - {"id":"1","name":"in"}`, `deleted 1 - -`)
				if r.head(t) != before {
					t.Error("the writes were put into the log of the catalog, too")
				}
			})
		})
	}
}

// TestWatcherIsListenedToOnce: Watch is called once for all subscribers, and ends a minute after
// the last one.
func TestWatcherIsListenedToOnce(t *testing.T) {
	t.Parallel()
	testUpstream(t, nil, func(t *testing.T, r rig, s *telling) {
		view := nameView(r.Resource, nil)
		for range 2 {
			ctx, cancel := context.WithCancel(t.Context())
			var wg sync.WaitGroup
			for i := range 40 {
				wg.Go(func() {
					for _, err := range []*resource.Resource{r.Resource, view}[i%2].Watch(ctx, r.start, query.Filter{}) {
						if err != nil {
							t.Error(err)
						}
					}
				})
			}
			synctest.Wait()
			r.put(t, "1", "a", 0)
			synctest.Wait()
			if n := s.running.Load(); n != 1 {
				t.Errorf("%d streams for those who listen, want 1", n)
			}
			cancel()
			wg.Wait()
			time.Sleep(59 * time.Second)
			if n := s.running.Load(); n != 1 {
				t.Errorf("%d streams when nobody has listened for 59 s, want 1", n)
			}
			time.Sleep(2 * time.Second)
			if n := s.running.Load(); n != 0 {
				t.Errorf("%d streams when nobody has listened for a minute, want none", n)
			}
		}
	})
}

// TestWatcherCloses: subscriptions end with the Feed of the catalog.
func TestWatcherCloses(t *testing.T) {
	t.Parallel()
	testUpstream(t, nil, func(t *testing.T, r rig, s *telling) {
		go func() {
			time.Sleep(time.Second)
			r.feed.Close()
			if n := s.running.Load(); n != 0 {
				t.Errorf("%d streams run when Close returns", n)
			}
		}()
		for range 2 {
			if _, err := collect(t, r.Resource, r.Watch(t.Context(), r.start, query.Filter{})); !errors.Is(err, feed.ErrClosed) {
				t.Errorf("Watch: %v, want ErrClosed", err)
			}
		}
		if _, err := r.Position(t.Context(), 0); err == nil {
			time.Sleep(2 * time.Minute)
			_, err = r.Position(t.Context(), 0)
			if !errors.Is(err, feed.ErrClosed) {
				t.Errorf("Position: %v, want ErrClosed", err)
			}
		}
	})
}

// TestWatcherWithoutFeed: subscriptions work without a feed, and Watch ends when there are no
// subscribers.
func TestWatcherWithoutFeed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newTelling()
		r := rig{Resource: resource.New("things", s, nil)}
		newCatalog(t, r.Resource)
		at, err := r.Position(t.Context(), 0)
		if err != nil || !r.Watches() {
			t.Fatalf("Position: %v; Watches: %v", err, r.Watches())
		}
		r.put(t, "1", "a", 0)
		wantHeard(t, r.Resource, r.Watch(t.Context(), at, query.Filter{}), `created 1 - {"id":"1","name":"a","n":0}`)
		time.Sleep(2 * time.Minute)
		if n := s.running.Load(); n != 0 {
			t.Errorf("%d streams run on", n)
		}
	})
}

// TestWatcherFaults: if a store violates the contract of Watch, subscriptions expire and the error
// is logged.
func TestWatcherFaults(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		spoil func(c *feed.Change[thing])
	}{
		{"nothing before", func(c *feed.Change[thing]) { c.Before = nil }},
		{"nothing after", func(c *feed.Change[thing]) { c.After = nil }},
		{"an id of another", func(c *feed.Change[thing]) { c.ID = "2" }},
		{"no revision", func(c *feed.Change[thing]) { c.Rev = "" }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			testUpstream(t, nil, func(t *testing.T, r rig, s *telling) {
				r.put(t, "1", "a", 0)
				s.spoil = func(c *feed.Change[thing]) {
					if c.Kind == feed.Updated {
						tt.spoil(c)
					}
				}
				r.put(t, "1", "a", 1)
				got, err := collect(t, r.Resource, r.Watch(t.Context(), r.start, query.Filter{}))
				if !errors.Is(err, feed.ErrExpired) || resource.Problem(err).Kind != problem.CursorExpired {
					t.Errorf("%s, %v, want ErrExpired", got, err)
				}
				at, err := r.Position(t.Context(), 0)
				if err != nil {
					t.Fatal(err)
				}
				r.delete(t, "1")
				wantHeard(t, r.Resource, r.Watch(t.Context(), at, query.Filter{}), `deleted 1 - -`)
			})
		})
	}
}

// TestWatcherIdFromValue: the id of a change may be only in the item.
func TestWatcherIdFromValue(t *testing.T) {
	t.Parallel()
	testUpstream(t, nil, func(t *testing.T, r rig, s *telling) {
		s.spoil = func(c *feed.Change[thing]) { c.ID = "" }
		r.put(t, "1", "a", 0)
		r.delete(t, "1")
		wantHeard(t, r.Resource, r.WatchItem(t.Context(), "1", r.start), `created 1 - {"id":"1","name":"a","n":0}`, `deleted 1 - -`)
	})
}

// TestWatcherInTwoCatalogs: two catalogs may share one Feed, but must not have different ones.
func TestWatcherInTwoCatalogs(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	r := resource.New("things", newTelling(), nil)
	f := feed.New(feed.NewMemory(nil), nil)
	for range 2 {
		resource.NewCatalog(&resource.CatalogOptions{Feed: f, Logger: slog.New(slog.NewTextHandler(&log, nil))}, r)
	}
	defer func() {
		if recover() == nil {
			t.Error("two catalogs with two Feeds were taken")
		}
	}()
	resource.NewCatalog(&resource.CatalogOptions{Feed: feed.New(feed.NewMemory(nil), nil)}, r)
}

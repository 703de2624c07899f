package resource_test

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/memory"
)

// A client that takes the position, lists, and then watches from the position misses no change. An
// item that stops matching the filter is reported as deleted.
func ExampleResource_Watch() {
	db := memory.NewDB()
	changes := feed.New(feed.NewMemory(&feed.MemoryOptions{Runner: db}), nil)
	defer changes.Close()
	notes := resource.New("notes", memory.New(&memory.Options[Note]{DB: db}), &resource.Options[Note]{Public: true})
	resource.NewCatalog(&resource.CatalogOptions{Feed: changes}, notes)

	ctx := context.Background()
	place, _ := notes.Position(ctx, 0)
	notes.Create(ctx, []byte(`{"text":"water the plants"}`), nil)
	notes.Create(ctx, []byte(`{"text":"feed the cat"}`), nil)
	notes.Put(ctx, "1", []byte(`{"text":"water the plants","done":true}`), nil)

	open := query.Where("done", query.Eq, false)
	for change, err := range notes.Watch(ctx, place, open) {
		if err != nil { // after feed.ErrExpired the list is read again
			fmt.Println(err)
			return
		}
		switch change.Kind {
		case feed.Created, feed.Updated:
			fmt.Println(change.Kind, change.ID, change.After.Value.(*Note).Text)
		case feed.Deleted:
			fmt.Println(change.Kind, change.ID)
			return
		}
	}
	// Output:
	// created 1 water the plants
	// created 2 feed the cat
	// deleted 1
}

// Readings arrive from devices. The API does not write them.
type Readings struct {
	mu      sync.Mutex
	current map[string]Reading
	changes []*feed.Change[Reading] // the nth is at the place with Seq n+1
	more    chan struct{}           // closed when there are more
}

// Reading is a value of a sensor.
type Reading struct {
	ID      string `json:"id"`
	Celsius int    `json:"celsius"`
}

// Measured takes in a reading.
func (s *Readings) Measured(v Reading) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &feed.Change[Reading]{Kind: feed.Created, ID: v.ID, After: &v, Cursor: feed.Cursor{Epoch: 1, Seq: uint64(len(s.changes) + 1)}}
	if old, ok := s.current[v.ID]; ok {
		c.Kind, c.Before = feed.Updated, &old
	}
	s.current[v.ID] = v
	s.changes = append(s.changes, c)
	close(s.more)
	s.more = make(chan struct{})
}

// after returns the changes after a position, and a channel that is closed when there are more.
func (s *Readings) after(seq uint64) ([]*feed.Change[Reading], chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changes[min(seq, uint64(len(s.changes))):], s.more
}

// Get is that of a Collection, as List is.
func (s *Readings) Get(_ context.Context, id string) (resource.Item[Reading], error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if v, ok := s.current[id]; ok {
		return resource.Item[Reading]{Value: v}, nil
	}
	return resource.Item[Reading]{}, resource.ErrNotFound
}

// List is that of a Collection.
func (s *Readings) List(_ context.Context, q query.Query) iter.Seq2[resource.Item[Reading], error] {
	s.mu.Lock()
	defer s.mu.Unlock()
	var items []resource.Item[Reading]
	for _, v := range s.current {
		items = append(items, resource.Item[Reading]{Value: v})
	}
	return memory.List(items, q)
}

// Watch makes the collection a feed.Watcher.
func (s *Readings) Watch(ctx context.Context, after feed.Cursor) iter.Seq2[*feed.Change[Reading], error] {
	return func(yield func(*feed.Change[Reading], error) bool) {
		all, _ := s.after(0)
		now := feed.Cursor{Epoch: 1, Seq: uint64(len(all)), Mark: 1}
		at := after
		switch {
		case at.IsZero():
			at = now
		case at.Epoch != now.Epoch || at.Seq > now.Seq:
			yield(nil, feed.ErrExpired)
			return
		}
		if !yield(&feed.Change[Reading]{Kind: feed.Bookmark, Cursor: at}, nil) {
			return
		}
		for caughtUp := false; ; caughtUp = true {
			changes, more := s.after(at.Seq)
			for _, c := range changes {
				if !yield(c, nil) {
					return
				}
				at = c.Cursor
			}
			// All changes from before the start have been yielded.
			if !caughtUp && !yield(&feed.Change[Reading]{Kind: feed.Bookmark, Cursor: at}, nil) {
				return
			}
			select {
			case <-more:
			case <-ctx.Done():
				return
			}
		}
	}
}

// A store that reports its own changes is watched in place of a log, once for all clients.
func ExampleNew_watcher() {
	store := &Readings{current: map[string]Reading{}, more: make(chan struct{})}
	readings := resource.New[Reading]("readings", store, &resource.Options[Reading]{Public: true})
	changes := feed.New(feed.NewMemory(nil), nil) // the server closes all of its subscriptions
	defer changes.Close()
	resource.NewCatalog(&resource.CatalogOptions{Feed: changes}, readings)

	ctx := context.Background()
	place, _ := readings.Position(ctx, 0)
	store.Measured(Reading{"attic", 24})
	store.Measured(Reading{"attic", 31})
	for change, err := range readings.Watch(ctx, place, query.Where("celsius", query.Gt, 30)) {
		if err != nil {
			fmt.Println(err)
			return
		}
		if change.Kind != feed.Bookmark {
			fmt.Println(change.Kind, change.ID, change.After.Value.(*Reading).Celsius)
			return
		}
	}
	// Output:
	// created attic 31
}

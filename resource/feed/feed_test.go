package feed_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/memory"
)

func TestFiftyListenersMissNothing(t *testing.T) {
	db := memory.NewDB()
	log := feed.NewMemory(&feed.MemoryOptions{Runner: db})
	f := feed.New(log, &feed.Options{Events: 64})
	ctx := t.Context()
	var wg sync.WaitGroup
	const n = 2000
	ready := make(chan feed.Cursor, 50)
	for range 50 {
		wg.Go(func() {
			i := 0
			for e, err := range f.Watch(ctx, feed.Cursor{}, "a") {
				if err != nil {
					t.Error(err)
					return
				}
				if e.Kind == feed.Bookmark {
					ready <- e.Cursor
					continue
				}
				if e.ID != fmt.Sprint(i) {
					t.Errorf("got %s want %d", e.ID, i)
					return
				}
				if i++; i == n {
					return
				}
			}
		})
	}
	for range 50 {
		<-ready
	}
	undo := errors.New("undo")
	for i := range n {
		db.InTx(ctx, func(ctx context.Context) error {
			log.Append(ctx, &feed.Event{Kind: feed.Created, Collection: "a", ID: "x"})
			return undo
		})
		db.InTx(ctx, func(ctx context.Context) error {
			return log.Append(ctx, &feed.Event{Kind: feed.Created, Collection: "a", ID: fmt.Sprint(i)}, &feed.Event{Collection: "b"})
		})
	}
	wg.Wait()
	f.Close()
}

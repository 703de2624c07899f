package sqlfeedtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/sql/sqlfeed"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
)

// TestFeedsOfSeveralProcesses has clients that break off at random, and go on from their cursor at any of three processes
// over one log, while others write. Rings are small, so that some read the log. Each client gets every event once, those of one
// item in order.
func TestFeedsOfSeveralProcesses(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		const writers, each, clients = 4, 100, 10
		db, log := openLog(t, e, nil)
		feeds := make([]*feed.Feed, 3)
		for i := range feeds {
			feeds[i] = feed.New(sqlfeed.New(db, nil), &feed.Options{BufferEvents: 20, MaxReads: 2, ReadTimeout: -1})
			defer feeds[i].Close()
		}
		start, err := feeds[0].Position(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got := make([]map[string][]string, clients)
		var all sync.WaitGroup
		for c := range clients {
			all.Go(func() { got[c] = roam(t, feeds, start, writers*each) })
		}
		for w := range writers {
			all.Go(func() {
				for n := range each {
					for !writeEvents(t, log, fmt.Sprint(w), fmt.Sprint(n)) {
					}
				}
			})
		}
		all.Wait()
		for c := range clients {
			for w := range writers {
				revs := got[c][fmt.Sprint(w)]
				if len(revs) != each || strings.Join(revs, " ") != strings.Join(upTo(each), " ") {
					t.Errorf("client %d got of item %d: %v", c, w, revs)
				}
			}
		}
	})
}

func upTo(n int) (text []string) {
	for i := range n {
		text = append(text, fmt.Sprint(i))
	}
	return text
}

// writeEvents appends an event in a transaction, and sometimes rolls back.
func writeEvents(t *testing.T, log *sqlfeed.Log, item, rev string) bool {
	err := log.Transactions().InTx(t.Context(), func(ctx context.Context) error {
		if err := log.Append(ctx, &feed.Event{Kind: feed.Updated, Collection: "orders", ID: item, Rev: rev}); err != nil {
			return err
		}
		if rand.N(10) == 0 {
			return errUndone
		}
		return log.Append(ctx, &feed.Event{Kind: feed.Updated, Collection: "others", ID: item, Rev: rev})
	})
	if err != nil && err != errUndone {
		t.Errorf("the transaction: %v", err)
		return true
	}
	return err == nil
}

// roam listens until it has as many events as there are, here and there.
func roam(t *testing.T, feeds []*feed.Feed, at feed.Cursor, total int) map[string][]string {
	revs := map[string][]string{}
	for seen := 0; seen < total; {
		left := 1 + rand.N(60)
		for e, err := range feeds[rand.N(len(feeds))].Watch(t.Context(), at, "orders") {
			if err != nil {
				t.Errorf("after %d events: %v", seen, err)
				return revs
			}
			at = e.Cursor
			if e.Kind == feed.Bookmark {
				continue
			}
			revs[e.ID] = append(revs[e.ID], e.Rev)
			seen++
			if left--; left == 0 || seen == total {
				break
			}
		}
	}
	return revs
}

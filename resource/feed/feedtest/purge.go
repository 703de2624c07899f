package feedtest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stoa-go/stoa/resource/feed"
)

func purgeCases() []testCase {
	return []testCase{
		{name: "purge",
			contract: "Purge removes events from before a time, oldest first, at most as many as it is told, and says how many. Places " +
				"before one of those are ErrExpired; all others, also the one right behind them, are as before.", try: tryPurge},
		{name: "purge by number",
			contract: "Purge removes what is not among the newest keep, whatever its time, and what is from before the time, whatever " +
				"its number; below 1 no number is too large.", try: tryPurgeByNumber},
		{name: "purge beside a transaction", needs: transactions,
			contract: "Purge removes nothing behind the place of an event whose transaction is not over: whoever has come there goes " +
				"on.", try: tryPurgeBeside},
		{name: "purge of the newest",
			contract: "The newest event is not purged, so that the place behind it stays, and the log goes on from there.",
			try: func(k *kit) {
				k.append("a", "b", "c")
				head := k.head()
				for range 2 {
					k.purge(100)
				}
				if after := k.head(); after != head {
					k.errorf("Head was %+v and is %+v after Purge", head, after)
				}
				k.append("d")
				got := k.tail(k.log, head, 1)
				k.wantItems("d", got, "Tail from the head of before")
				if n := k.purge(100); n != 1 {
					k.errorf("Purge of what was kept as the newest removed %d, want 1", n)
				}
				k.expired(k.log, feed.Cursor{Epoch: head.Epoch, Seq: head.Seq - 1, Mark: head.Mark}, "a place before what was purged")
			}},
		{name: "purge of nothing",
			contract: "In a log without events, Purge removes none, and the start stays.", try: func(k *kit) {
				start := k.head()
				if n := k.purge(100); n != 0 {
					k.errorf("Purge of nothing removed %d", n)
				}
				k.append("a")
				k.wantItems("a", k.tail(k.log, start, 1), "Tail from the start")
			}},
		{name: "purge while reading",
			contract: "Who reads while events are purged gets all that are behind the place, or ErrExpired, and never " +
				"less.", try: tryPurgeWhileReading},
	}
}

// purge purges all events of the kit that may be purged.
func (k *kit) purge(max int) int {
	n, err := k.log.Purge(k.ctx, k.now.Add(time.Hour), 0, max)
	k.must(err, "Purge")
	if n < 0 || n > max {
		k.errorf("Purge of at most %d removed %d", max, n)
	}
	return n
}

func tryPurge(k *kit) {
	start := k.head()
	const old, young = 10, 3
	for i := range old + young {
		e := k.event(string(rune('a'+i)), "1")
		if i < old {
			e.Time = k.now.Add(-time.Hour)
		}
		k.must(k.log.Append(k.ctx, e), "Append")
	}
	events := k.tail(k.log, start, old+young)
	if len(events) != old+young {
		k.errorf("Tail returned %d events, want %d", len(events), old+young)
		return
	}
	for want, purged := range []int{0, 4, 8, 10} { // before each of four calls
		at := start
		if purged > 0 {
			at = events[purged-1].Cursor
		}
		k.wantItems(items(events[purged:]), k.tail(k.log, at, len(events)-purged), "Tail from where everything is there")
		for _, e := range events[:max(purged-1, 0)] {
			k.expired(k.log, e.Cursor, "behind "+e.ID+", of which the next was purged,")
		}
		if purged > 0 {
			k.expired(k.log, start, "the start, behind which something was purged,")
		}
		n, err := k.log.Purge(k.ctx, k.now.Add(-time.Minute), 0, 4)
		k.must(err, "Purge")
		if left := min(4, old-purged); n != left {
			k.errorf("call %d of Purge removed %d, want %d", want+1, n, left)
		}
	}
}

func tryPurgeByNumber(k *kit) {
	start := k.head()
	k.append("a", "b", "c", "d", "e", "f", "g", "h", "i", "j")
	events := k.tail(k.log, start, 10)
	if len(events) != 10 {
		k.errorf("Tail returned %d events, want 10", len(events))
		return
	}
	old, young := time.Time{}, k.now.Add(time.Hour)
	for _, call := range []struct {
		before          time.Time
		keep, max, want int
	}{
		{old, 0, 100, 0}, {old, -1, 100, 0}, {old, 10, 100, 0}, {old, 11, 100, 0}, {k.now.Add(-time.Minute), 1 << 40, 100, 0},
		{old, 6, 3, 3}, {old, 6, 3, 1}, {old, 6, 3, 0}, // six are left
		{young, 6, 2, 2}, {young, 2, 1, 1}, // three
		{old, 1, 100, 2}, {old, 1, 100, 0},
	} {
		n, err := k.log.Purge(k.ctx, call.before, call.keep, call.max)
		k.must(err, "Purge")
		if n != call.want {
			k.errorf("of %d events, Purge before %v of all but %d, at most %d, removed %d, want %d", len(events), call.before, call.keep,
				call.max, n, call.want)
			return
		}
		if n == 0 {
			continue
		}
		if n > 1 {
			k.expired(k.log, events[n-2].Cursor, "a place before what was purged")
		}
		start, events = events[n-1].Cursor, events[n:]
		k.wantItems(items(events), k.tail(k.log, start, len(events)), "Tail behind what was purged")
	}
}

// tryPurgeBeside purges while a transaction holds a place and others behind it are seen. An engine that lets nobody write
// beside a transaction has none of those.
func tryPurgeBeside(k *kit) {
	start := k.head()
	k.append("a", "b")
	at := k.tail(k.log, start, 2)[1].Cursor
	want, doubtful := []string{"slow"}, ""
	k.must(runnerOf(k.log).InTx(k.ctx, func(ctx context.Context) error {
		k.must(k.log.Append(ctx, k.event("slow", "1")), "Append in the transaction")
		timed, cancel := context.WithTimeout(k.ctx, k.Patience/50)
		defer cancel()
		var wg sync.WaitGroup
		defer wg.Wait()
		wg.Go(func() {
			for _, id := range []string{"c", "d", "e"} {
				if k.log.Append(timed, k.event(id, "1")) != nil {
					doubtful = id // it may be there: the time may have ended on the way back
					return
				}
				want = append(want, id)
			}
			for range 3 {
				_, _ = k.log.Purge(k.ctx, k.now.Add(time.Hour), 1, 100) // where nobody writes now, it fails
			}
		})
		return nil
	}), "InTx")
	k.append("late")
	got := k.tailUntil(k.log, at, about("late"))
	got = slices.DeleteFunc(got, func(e *feed.Event) bool { return e.ID == doubtful })
	k.wantItems(strings.Join(append(want, "late"), " "), got, "Tail from before the transaction")
}

func tryPurgeWhileReading(k *kit) {
	start := k.head()
	const n = 400
	batch := make([]*feed.Event, n)
	for i := range batch {
		batch[i] = k.event(string(rune('a'+i%26)), "1")
	}
	k.must(k.log.Append(k.ctx, batch...), "Append")
	events := k.tail(k.log, start, n)
	if len(events) != n {
		k.errorf("Tail returned %d events, want %d", len(events), n)
		return
	}
	over := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(over)
		for gone := 1; gone > 0; gone = k.purge(7) {
			time.Sleep(100 * time.Microsecond)
		}
	})
	for reader := range 4 {
		wg.Go(func() {
			for last := false; !last; time.Sleep(time.Millisecond) {
				select {
				case <-over:
					last = true
				default:
				}
				if !k.readBesidePurge(events, reader*40) {
					return
				}
			}
		})
	}
	wg.Wait()
}

// readBesidePurge reads what is behind one event after the other, while they are being purged, and reports whether that was
// right.
func (k *kit) readBesidePurge(events []*feed.Event, at int) bool {
	const most = 20
	until := events[len(events)-1].Cursor
	for at < len(events)-1 {
		got, err := k.log.Read(k.ctx, events[at].Cursor, until, most)
		if errors.Is(err, feed.ErrExpired) {
			at += 40
			continue
		}
		k.must(err, "Read")
		want := items(events[at+1 : min(at+1+most, len(events))])
		if items(got) != want {
			k.errorf("Read beside Purge: events about [%s], want [%s] or ErrExpired", items(got), want)
			return false
		}
		if got[0].Cursor != events[at+1].Cursor {
			k.errorf("Read beside Purge passed over an event")
			return false
		}
		at++
	}
	return true
}

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

// purgeCases tests Purge: which events it removes, and that readers never skip purged events.
func purgeCases() []testCase {
	return []testCase{
		{
			// A subscriber that reads from a purged position would skip the removed events without
			// an error. It must receive ErrExpired, and lists the collection again.
			name: "purge",
			contract: "Purge removes events older than a time, oldest first, at most max, and returns " +
				"their number. Positions before a removed event are ErrExpired; all others, including " +
				"the one directly after it, remain valid.",
			try: tryPurge,
		},
		{
			// The limits are independent: an event is removed if it exceeds either one. A keep
			// below 1 must not mean that all events are removed.
			name: "purge by number",
			contract: "Purge removes events that are not among the newest keep or older than the time. A " +
				"keep below 1 is no limit.",
			try: tryPurgeByNumber,
		},
		{
			// The position of an open transaction is before events that are already visible. If
			// Purge removed those, the readers that wait at the position would lose it.
			name:  "purge during a transaction",
			needs: transactions,
			contract: "Purge removes no event after the position of an open transaction, because readers " +
				"continue from there.",
			try: tryPurgeBeside,
		},
		{
			// A clock that was ahead for a moment would otherwise end the retention of all later events.
			name: "purge of times ahead",
			contract: "Purge removes an event with a time ahead of the clock with the next event that " +
				"is old, also if more than max of them precede it.",
			try: tryPurgeAhead,
		},
		// A subscriber that is up to date has the cursor of the newest event. Without that event
		// the log could not verify its mark.
		{name: "purge of the newest",
			contract: "The newest event is not purged, so the position after it remains valid.",
			try: func(k *kit) {
				k.append("a", "b", "c")
				head := k.head()
				for range 2 {
					k.purge(100)
				}
				if after := k.head(); after != head {
					k.errorf("Head changed from %+v to %+v with Purge", head, after)
				}
				k.append("d")
				got := k.tail(k.log, head, 1)
				k.wantItems("d", got, "Tail from the previous head")
				if n := k.purge(100); n != 1 {
					k.errorf("Purge of the previously newest event removed %d, want 1", n)
				}
				k.expired(k.log, feed.Cursor{Epoch: head.Epoch, Seq: head.Seq - 1, Mark: head.Mark},
					"a position before a purged event")
			}},
		// The first purge of a new feed runs before the first event.
		{name: "purge of an empty log",
			contract: "In an empty log Purge removes none, and the start remains valid.", try: func(k *kit) {
				start := k.head()
				if n := k.purge(100); n != 0 {
					k.errorf("Purge of an empty log removed %d", n)
				}
				k.append("a")
				k.wantItems("a", k.tail(k.log, start, 1), "Tail from the start")
			}},
		{
			// A log that checks the position in one statement and reads the events in another
			// returns a page with a gap if Purge runs between them. Both statements need one
			// snapshot.
			name: "purge while reading",
			contract: "A Read during Purge returns all events after its position, or ErrExpired, and " +
				"never fewer.",
			try: tryPurgeWhileReading,
		},
	}
}

// purge purges all events that may be purged.
func (k *kit) purge(max int) int {
	n, err := k.log.Purge(k.ctx, k.now.Add(time.Hour), 0, max)
	k.must(err, "Purge")
	if n < 0 || n > max {
		k.errorf("Purge of at most %d removed %d", max, n)
	}
	return n
}

// tryPurge purges ten old events in pages of four, and checks all positions before each call.
// Before each call it reads from the oldest valid position and expects ErrExpired at all older
// ones, so an error of one position in either direction is found.
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
		k.wantItems(items(events[purged:]), k.tail(k.log, at, len(events)-purged),
			"Tail from the oldest position that is valid")
		for _, e := range events[:max(purged-1, 0)] {
			k.expired(k.log, e.Cursor, "the cursor of "+e.ID+", with the next event purged,")
		}
		if purged > 0 {
			k.expired(k.log, start, "the start, with events after it purged,")
		}
		n, err := k.log.Purge(k.ctx, k.now.Add(-time.Minute), 0, 4)
		k.must(err, "Purge")
		if left := min(4, old-purged); n != left {
			k.errorf("call %d of Purge removed %d, want %d", want+1, n, left)
		}
	}
}

// tryPurgeAhead purges events before and after which others have a time ahead of the clock. They are
// purged with the next event, except for the last ones, which may be recent.
func tryPurgeAhead(k *kit) {
	start := k.head()
	hours := []time.Duration{48, 48, 48, -1, 48, -1, 48, 0, 48, 0}
	for i, n := range hours {
		e := k.event(string(rune('a'+i)), "1")
		e.Time = k.now.Add(n * time.Hour)
		k.must(k.log.Append(k.ctx, e), "Append")
	}
	events := k.tail(k.log, start, len(hours))
	if len(events) != len(hours) {
		k.errorf("Tail returned %d events, want %d", len(events), len(hours))
		return
	}
	for i, want := range []int{2, 2, 2, 0} {
		n, err := k.log.Purge(k.ctx, k.now.Add(-time.Minute), 0, 2)
		k.must(err, "Purge")
		if n != want {
			k.errorf("call %d of Purge removed %d, want %d", i+1, n, want)
			return
		}
	}
	k.wantItems(items(events[6:]), k.tail(k.log, events[5].Cursor, 4), "Tail after the purged events")
}

// tryPurgeByNumber purges with limits of age and of number. The calls are cumulative: each row of
// the table continues with the events that the previous ones have left.
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
		{old, 0, 100, 0}, {old, -1, 100, 0}, {old, 10, 100, 0}, {old, 11, 100, 0},
		{k.now.Add(-time.Minute), 1 << 40, 100, 0},
		{old, 6, 3, 3}, {old, 6, 3, 1}, {old, 6, 3, 0}, // six remain
		{young, 6, 2, 2}, {young, 2, 1, 1}, // three
		{old, 1, 100, 2}, {old, 1, 100, 0},
	} {
		n, err := k.log.Purge(k.ctx, call.before, call.keep, call.max)
		k.must(err, "Purge")
		if n != call.want {
			k.errorf("of %d events, Purge before %v of all but %d, at most %d, removed %d, want %d",
				len(events), call.before, call.keep, call.max, n, call.want)
			return
		}
		if n == 0 {
			continue
		}
		if n > 1 {
			k.expired(k.log, events[n-2].Cursor, "a position before a purged event")
		}
		start, events = events[n-1].Cursor, events[n:]
		k.wantItems(items(events), k.tail(k.log, start, len(events)), "Tail after the purged events")
	}
}

// tryPurgeBeside purges while a transaction is open and later events are visible. An engine without
// concurrent writers has no such events. The context of the other writer has a short timeout,
// because with such an engine it would wait for the transaction, which waits for it.
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
					doubtful = id // it may have committed although the context expired
					return
				}
				want = append(want, id)
			}
			for range 3 {
				// fails if the engine does not allow concurrent writers
				_, _ = k.log.Purge(k.ctx, k.now.Add(time.Hour), 1, 100)
			}
		})
		return nil
	}), "InTx")
	k.append("late")
	got := k.tailUntil(k.log, at, about("late"))
	got = slices.DeleteFunc(got, func(e *feed.Event) bool { return e.ID == doubtful })
	k.wantItems(strings.Join(append(want, "late"), " "), got, "Tail from before the transaction")
}

// tryPurgeWhileReading purges in small pages while four readers read the same events. Each reader
// starts at another position, and repeats until nothing is left to purge. ErrExpired is a correct
// result; a page that starts late is not.
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

// readBesidePurge reads from one event after the other while they are purged. It returns false if a
// page is wrong.
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
			k.errorf("Read during Purge: events [%s], want [%s] or ErrExpired", items(got), want)
			return false
		}
		if got[0].Cursor != events[at+1].Cursor {
			k.errorf("Read during Purge skipped an event")
			return false
		}
		at++
	}
	return true
}

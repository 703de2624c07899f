package feedtest

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/stoa-go/stoa/resource/feed"
)

// tailCases tests Head and Tail, and which cursors are positions of the log.
func tailCases() []testCase {
	return []testCase{
		{
			// A client reads the head, then lists the collection, and then subscribes from the
			// head. An event between the two calls must be after the head, or the client would miss
			// it.
			name: "head",
			contract: "Head returns a position to continue from, also in an empty log: exactly the " +
				"events that are appended later are after it.",
			try: func(k *kit) {
				start := k.head()
				k.append("a", "b")
				k.wantItems("a b", k.tail(k.log, start, 2), "Tail from the head of the empty log")
				middle := k.head()
				k.append("c")
				k.wantItems("c", k.tail(k.log, middle, 1), "Tail from the head before the last event")
				got := k.tail(k.log, start, 3)
				k.wantItems("a b c", got, "Tail from the start")
				if head := k.head(); head != got[len(got)-1].Cursor {
					k.errorf("Head is %+v, want the cursor of the newest event, %+v", head,
						got[len(got)-1].Cursor)
				}
			},
		},
		{
			// A feed calls Tail repeatedly from the same position. If the position moved without
			// events, an event of a transaction that commits late would be before it.
			name:     "nothing new",
			contract: "If there are no new events, Tail returns none and the given position, on each call.",
			try: func(k *kit) {
				k.append("a")
				for head, n := k.head(), 0; n < 5; n++ {
					events, next, err := k.log.Tail(k.ctx, head, 10)
					k.must(err, "Tail")
					if len(events) > 0 || next != head {
						k.errorf("Tail from the head: events [%s] and the position %+v, want none and %+v",
							items(events), next, head)
					}
				}
			},
		},
		{
			// A log that stores its own position serves a single reader only: a queue, not a log.
			name: "two readers",
			contract: "The result of Tail depends on the position only: two readers at different " +
				"positions both get all events.",
			try: tryTwoReaders,
		},
		// A subscriber may present the cursor of a different database, for example after a
		// migration.
		{name: "foreign cursors",
			contract: "A cursor of another epoch, or the zero cursor, is ErrExpired.", try: func(k *kit) {
				k.append("a", "b")
				head := k.head()
				for _, epoch := range []uint64{0, 1, head.Epoch + 1, head.Epoch - 1, math.MaxUint64} {
					k.expired(k.log, feed.Cursor{Epoch: epoch, Seq: head.Seq, Mark: head.Mark},
						"a cursor of another epoch")
				}
				k.expired(k.log, feed.Cursor{}, "the zero cursor")
			}},
		{
			// Cursors are sent by clients, so every field may have any value.
			name: "forged cursors",
			contract: "A cursor with a mark other than that of its event is ErrExpired, and so is one " +
				"after the head: it may be an event that a restored backup does not have.",
			try: tryForged,
		},
	}
}

// tryTwoReaders reads the same events by Tail from two positions. The first reader takes larger
// pages than the second, so their positions differ from the first round on.
func tryTwoReaders(k *kit) {
	start := k.head()
	first, second := start, start
	var gotFirst, gotSecond []*feed.Event
	for range 10 {
		k.append("a", "b")
		gotFirst = append(gotFirst, k.step(&first, 3)...)
		gotFirst = append(gotFirst, k.step(&first, 3)...)
		gotSecond = append(gotSecond, k.step(&second, 1)...)
	}
	gotFirst = append(gotFirst, k.tail(k.log, first, 20-len(gotFirst))...)
	gotSecond = append(gotSecond, k.tail(k.log, second, 20-len(gotSecond))...)
	want := strings.TrimSpace(strings.Repeat("a b ", 10))
	k.wantItems(want, gotFirst, "the first reader")
	k.wantItems(want, gotSecond, "the second reader")
}

// tryForged makes cursors that no event has. The start of the log has a mark as well, although no
// event has it.
func tryForged(k *kit) {
	start := k.head()
	k.append("a", "b", "c")
	events := append(k.tail(k.log, start, 3), &feed.Event{ID: "the start", Cursor: start})
	for _, e := range events {
		mark := e.Cursor.Mark
		for _, mark := range []uint64{0, 1, mark + 1, mark ^ 1<<63, math.MaxUint64} {
			if mark != e.Cursor.Mark {
				k.expired(k.log,
					feed.Cursor{Epoch: e.Cursor.Epoch, Seq: e.Cursor.Seq, Mark: mark},
					"the cursor of "+e.ID+" with another mark")
			}
		}
	}
	head := k.head()
	seqs := []uint64{head.Seq + 1, head.Seq + 1000, 1 << 62, 1 << 63, math.MaxUint64}
	for _, seq := range seqs {
		k.expired(k.log, feed.Cursor{Epoch: head.Epoch, Seq: seq, Mark: head.Mark},
			"a cursor after the head")
	}
}

// step calls Tail once and moves at.
func (k *kit) step(at *feed.Cursor, max int) []*feed.Event { return k.stepOf(k.log, at, max) }

// stepOf is step for another Log over the same events.
func (k *kit) stepOf(log feed.Log, at *feed.Cursor, max int) []*feed.Event {
	events, next, err := log.Tail(k.ctx, *at, max)
	k.must(err, "Tail")
	if len(events) > max {
		k.errorf("Tail of at most %d returned %d events", max, len(events))
	}
	k.continues(*at, events, next)
	*at = next
	return events
}

// readCases tests Read, and the pages of Tail and Read.
func readCases() []testCase {
	return []testCase{
		{
			// A page size that divides the number of events, and one that does not, end in
			// different branches.
			name:     "pages",
			contract: "Tail returns at most max events, and repeated calls return all events, each once.",
			try: func(k *kit) {
				start := k.head()
				ids := strings.Fields("a b c d e f g h i j k")
				k.append(ids...)
				for max := 1; max <= len(ids)+1; max++ {
					var got []*feed.Event
					for at, idle := start, 0; len(got) < len(ids) && idle < 1000; {
						events := k.step(&at, max)
						if got = append(got, events...); len(events) == 0 {
							idle++
						}
					}
					k.wantItems(strings.Join(ids, " "), got, "Tail in pages")
				}
			},
		},
		{
			// A limit of 0 means no limit in some databases, and math.MaxInt overflows a parameter
			// of 32 bits.
			name:     "bounds",
			contract: "With a max of 0 no event is returned or purged. Any max up to math.MaxInt is valid.",
			try: func(k *kit) {
				start := k.head()
				k.append("a", "b", "c")
				got := k.tail(k.log, start, 3)
				k.wantItems("a b c", got, "Tail")
				end := got[2].Cursor
				for max, want := range map[int]string{0: "", math.MaxInt: "a b c"} {
					events, next, err := k.log.Tail(k.ctx, start, max)
					k.must(err, "Tail")
					k.continues(start, events, next)
					k.wantItems(want, events, "Tail of "+strconv.Itoa(max))
					events, err = k.log.Read(k.ctx, start, end, max)
					k.must(err, "Read")
					k.wantItems(want, events, "Read of "+strconv.Itoa(max))
				}
				if n, err := k.log.Purge(k.ctx, k.now.Add(time.Hour), 0, 0); n != 0 || err != nil {
					k.errorf("Purge of none removed %d, %v", n, err)
				}
				k.wantItems("a b c", k.tail(k.log, start, 3), "Tail after a Purge of none")
				_, err := k.log.Purge(k.ctx, k.now.Add(time.Hour), 0, math.MaxInt)
				k.must(err, "Purge")
			},
		},
		{
			// A subscriber that is older than the ring buffer reads the events up to the oldest
			// buffered one. Both ends of the range must be exact: an event too few is a gap, one
			// too many a duplicate.
			name: "reading",
			contract: "Read returns the events after one position up to and including another, in order, " +
				"at most max; fewer than max are all of them.",
			try: tryReading,
		},
		{
			// A caller takes a short page for the end of the events. It may be short for its size
			// only if it has reached PageBytes.
			name: "large pages",
			contract: "Tail and Read return fewer than max events only if there are no more, or if the " +
				"events reach PageBytes.",
			try: tryLarge,
		},
	}
}

// tryReading calls Read with all pairs of positions. They include equal positions and pairs in the
// wrong order, which return no events and no error.
func tryReading(k *kit) {
	start := k.head()
	ids := strings.Fields("a b c d e f")
	k.append(ids...)
	cursors := []feed.Cursor{start}
	for _, e := range k.tail(k.log, start, len(ids)) {
		cursors = append(cursors, e.Cursor)
	}
	for from := range cursors {
		for to := range cursors {
			for most := 1; most <= len(ids)+1; most++ {
				events, err := k.log.Read(k.ctx, cursors[from], cursors[to], most)
				k.must(err, "Read")
				// empty if to is before from
				want := strings.Join(ids[from:max(from, min(from+most, to))], " ")
				if items(events) != want {
					k.errorf("Read from cursor %d to %d, at most %d: events [%s], want [%s]",
						from, to, most, items(events), want)
				}
			}
		}
	}
}

// tryLarge reads events that reach PageBytes before max. Together the events are about 12 MiB,
// three times PageBytes.
func tryLarge(k *kit) {
	const n, size = 9, 700 << 10
	start := k.head()
	for i := range n {
		e := k.event(string(rune('a'+i)), "1")
		e.Before, e.After = make([]byte, size), make([]byte, size)
		k.must(k.log.Append(k.ctx, e), "Append")
	}
	const want = "a b c d e f g h i"
	tailed := k.tail(k.log, start, n)
	k.wantItems(want, tailed, "Tail of large events")
	var read []*feed.Event
	for at, until := start, tailed[n-1].Cursor; len(read) < n; {
		page, err := k.log.Read(k.ctx, at, until, n)
		k.must(err, "Read")
		if len(page) < n-len(read) && len(page)*2*size < feed.PageBytes {
			k.errorf("Read of large events: %d of %d, which do not reach PageBytes", len(page), n-len(read))
			return
		}
		read, at = append(read, page...), page[len(page)-1].Cursor
	}
	k.wantItems(want, read, "Read of large events")
}

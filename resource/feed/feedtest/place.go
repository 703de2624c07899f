package feedtest

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/stoa-go/stoa/resource/feed"
)

func placeCases() []testCase {
	return []testCase{
		{name: "head",
			contract: "Head is a place to go on from, also in a log without events: what is appended after it, and nothing else, is " +
				"behind it.", try: func(k *kit) {
				start := k.head()
				k.append("a", "b")
				k.wantItems("a b", k.tail(k.log, start, 2), "Tail from the head of the log without events")
				middle := k.head()
				k.append("c")
				k.wantItems("c", k.tail(k.log, middle, 1), "Tail from the head before the last event")
				got := k.tail(k.log, start, 3)
				k.wantItems("a b c", got, "Tail from the start")
				if head := k.head(); head != got[len(got)-1].Cursor {
					k.errorf("Head is %+v, want the place of the newest event, %+v", head, got[len(got)-1].Cursor)
				}
			}},
		{name: "nothing new",
			contract: "Where there is nothing new, Tail returns no events and the place it was given, however often.", try: func(k *kit) {
				k.append("a")
				for head, n := k.head(), 0; n < 5; n++ {
					events, next, err := k.log.Tail(k.ctx, head, 10)
					k.must(err, "Tail")
					if len(events) > 0 || next != head {
						k.errorf("Tail from the head: events about [%s] and the place %+v, want none and %+v", items(events), next, head)
					}
				}
			}},
		{name: "two who tail",
			contract: "What Tail returns depends on the place alone: two who tail, at different places, each get everything.",
			try: func(k *kit) {
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
				k.wantItems(want, gotFirst, "the first who tails")
				k.wantItems(want, gotSecond, "the second who tails")
			}},
		{name: "foreign cursors",
			contract: "A cursor of another epoch is ErrExpired, and so is one that is no place.", try: func(k *kit) {
				k.append("a", "b")
				head := k.head()
				for _, epoch := range []uint64{0, 1, head.Epoch + 1, head.Epoch - 1, math.MaxUint64} {
					k.expired(k.log, feed.Cursor{Epoch: epoch, Seq: head.Seq, Mark: head.Mark}, "a place of another epoch")
				}
				k.expired(k.log, feed.Cursor{}, "the zero cursor")
			}},
		{name: "forged cursors",
			contract: "A cursor with another mark than the event at its place is ErrExpired, and so is one from the future: it " +
				"may be one that a restored backup has lost.", try: func(k *kit) {
				start := k.head()
				k.append("a", "b", "c")
				for _, e := range append(k.tail(k.log, start, 3), &feed.Event{ID: "the start", Cursor: start}) {
					for _, mark := range []uint64{0, 1, e.Cursor.Mark + 1, e.Cursor.Mark ^ 1<<63, math.MaxUint64} {
						if mark != e.Cursor.Mark {
							k.expired(k.log, feed.Cursor{Epoch: e.Cursor.Epoch, Seq: e.Cursor.Seq, Mark: mark}, "the place of "+e.ID+" with another mark")
						}
					}
				}
				head := k.head()
				for _, seq := range []uint64{head.Seq + 1, head.Seq + 1000, 1 << 62, 1 << 63, math.MaxUint64} {
					k.expired(k.log, feed.Cursor{Epoch: head.Epoch, Seq: seq, Mark: head.Mark}, "the future")
				}
			}},
	}
}

// step calls Tail once and goes on.
func (k *kit) step(at *feed.Cursor, max int) []*feed.Event { return k.stepOf(k.log, at, max) }

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

func readCases() []testCase {
	return []testCase{
		{name: "pages",
			contract: "Tail returns at most as many as it is told, and from place to place all, each once.", try: func(k *kit) {
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
			}},
		{name: "bounds",
			contract: "Who asks for none is given none, and none is purged for it; no number is too large to ask for.", try: func(k *kit) {
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
				k.wantItems("a b c", k.tail(k.log, start, 3), "Tail behind a Purge of none")
				_, err := k.log.Purge(k.ctx, k.now.Add(time.Hour), 0, math.MaxInt)
				k.must(err, "Purge")
			}},
		{name: "reading",
			contract: "Read returns the events behind a place up to and with another, in order, at most as many as it is told; " +
				"less than that are all.", try: func(k *kit) {
				start := k.head()
				ids := strings.Fields("a b c d e f")
				k.append(ids...)
				places := []feed.Cursor{start}
				for _, e := range k.tail(k.log, start, len(ids)) {
					places = append(places, e.Cursor)
				}
				for from := range places {
					for to := range places {
						for most := 1; most <= len(ids)+1; most++ {
							events, err := k.log.Read(k.ctx, places[from], places[to], most)
							k.must(err, "Read")
							want := strings.Join(ids[from:max(from, min(from+most, to))], " ") // none if to is before from
							if items(events) != want {
								k.errorf("Read from place %d to %d, at most %d: events about [%s], want [%s]", from, to, most, items(events), want)
							}
						}
					}
				}
			}},
		{name: "large pages",
			contract: "Tail and Read return fewer than they are told only where there are no more, or once what they return is " +
				"as large as PageBytes.", try: tryLarge},
	}
}

// tryLarge reads events of which the page is full before it has as many as it may.
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
			k.errorf("Read of large events: %d of %d, which are not as large as PageBytes", len(page), n-len(read))
			return
		}
		read, at = append(read, page...), page[len(page)-1].Cursor
	}
	k.wantItems(want, read, "Read of large events")
}

package feedtest

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/stoa-go/stoa/resource/feed"
)

func appendCases() []testCase {
	return []testCase{
		{name: "events",
			contract: "Events come back as they were given, byte by byte, in the order in which they were appended, each with a " +
				"cursor. Nil and nothing are the same in Before and After; Time may be rounded to microseconds.", try: tryEvents},
		{name: "time", contract: "The time of an event is when it was appended, if it came without one.", try: func(k *kit) {
			start := k.head()
			e := k.event("a", "1")
			e.Time = time.Time{}
			k.must(k.log.Append(k.ctx, e), "Append")
			for _, e := range k.tail(k.log, start, 1) {
				if d := time.Since(e.Time); d < -time.Hour || d > time.Hour {
					k.errorf("the event came without a time and was given %v", e.Time)
				}
			}
		}},
		{name: "given events",
			contract: "Append leaves the events it is given alone, and their cursors do not count: what is appended twice " +
				"is there twice, at places of its own.", try: func(k *kit) {
				start := k.head()
				e := k.event("a", "1")
				forged := feed.Cursor{Epoch: start.Epoch, Seq: start.Seq + 100, Mark: 7}
				e.Cursor = forged
				k.must(k.log.Append(k.ctx, e, e), "Append")
				e.ID = "b"
				k.must(k.log.Append(k.ctx, e), "Append")
				k.wantItems("a a b", k.tail(k.log, start, 3), "Tail")
				if e.Cursor != forged {
					k.errorf("Append changed the cursor of the event it was given")
				}
			}},
		{name: "nothing", contract: "Append without events adds none.", try: func(k *kit) {
			start := k.head()
			k.must(k.log.Append(k.ctx), "Append")
			if head := k.head(); head != start {
				k.errorf("Head went from %+v to %+v", start, head)
			}
		}},
		{name: "context", contract: "A call whose context has ended fails and does nothing.", try: tryContext},
		{name: "wake", contract: "A log that has a channel to wake who tails uses it.", try: func(k *kit) {
			wake := k.log.Wake()
			if wake == nil {
				return
			}
			// It is a hint, which may be lost; not ten times in a row.
			for range 10 {
				k.append("a")
				select {
				case <-wake:
					return
				case <-time.After(k.Patience / 10):
				}
				select { // of both at once the other may have been taken
				case <-wake:
					return
				default:
				}
			}
			k.errorf("ten events were appended, and nobody was woken")
		}},
	}
}

// odd are events of all shapes.
func odd(now time.Time) []*feed.Event {
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	return []*feed.Event{
		{Kind: feed.Created, Collection: "orders", ID: "1", Rev: "r1", After: []byte(`{"id":1}`), Time: now},
		{Kind: feed.Updated, Collection: "orders", ID: "1", Rev: "r2", Before: []byte(`{"id":1}`), After: []byte(`{"id":1,"x":2}`), Time: now},
		{Kind: feed.Deleted, Collection: "orders", ID: "1", Rev: "r2", Before: []byte(`{"id":1,"x":2}`), Time: now},
		{Kind: feed.Created, Collection: "größen", ID: `a'b"c\d/%?`, Rev: "\x00\xff'\"", After: every, Time: now},
		{Kind: feed.Updated, Collection: "c", ID: strings.Repeat("é", 500), Rev: strings.Repeat("r", 300), After: bytes.Repeat(every, 4096), Time: now},
		{Kind: feed.Updated, Collection: "c", ID: "2", Time: now.Add(123456789 * time.Nanosecond)},
		{Kind: feed.Updated, Collection: "c", ID: "2", Rev: "r", Before: []byte{}, After: []byte{}, Time: now.Add(-time.Hour)},
	}
}

func tryEvents(k *kit) {
	start := k.head()
	want := odd(k.now)
	k.must(k.log.Append(k.ctx, want[:4]...), "Append of four")
	for _, e := range want[4:] {
		k.must(k.log.Append(k.ctx, e), "Append")
	}
	got := k.tail(k.log, start, len(want))
	if len(got) != len(want) {
		k.errorf("Tail returned %d events, want %d", len(got), len(want))
		return
	}
	for i, e := range got {
		for _, member := range differences(want[i], e) {
			k.errorf("event %d: %s came back otherwise", i, member)
		}
		if text, err := feed.ParseCursor(e.Cursor.String()); err != nil || text != e.Cursor {
			k.errorf("event %d: the cursor %+v cannot be read back: %+v, %v", i, e.Cursor, text, err)
		}
	}
	read, err := k.log.Read(k.ctx, start, got[len(got)-1].Cursor, 100)
	k.must(err, "Read")
	if len(read) != len(want) {
		k.errorf("Read returned %d events, want %d", len(read), len(want))
		return
	}
	for i, e := range read {
		if members := differences(got[i], e); len(members) > 0 || e.Cursor != got[i].Cursor {
			k.errorf("event %d: Read and Tail differ in %q, with the cursors %+v and %+v", i, members, e.Cursor, got[i].Cursor)
		}
	}
}

// differences names the members in which two events differ.
func differences(want, got *feed.Event) (members []string) {
	note := func(member string, equal bool) {
		if !equal {
			members = append(members, member)
		}
	}
	note("Kind", want.Kind == got.Kind)
	note("Collection", want.Collection == got.Collection)
	note("ID", want.ID == got.ID)
	note("Rev", want.Rev == got.Rev)
	note("Before", bytes.Equal(want.Before, got.Before))
	note("After", bytes.Equal(want.After, got.After))
	note("Time", want.Time.Sub(got.Time).Abs() <= time.Microsecond)
	return members
}

func tryContext(k *kit) {
	start := k.head()
	ctx, cancel := context.WithCancel(k.ctx)
	cancel()
	if err := k.log.Append(ctx, k.event("a", "1")); err == nil {
		k.errorf("Append with a context that has ended succeeded")
	}
	k.append("b")
	k.wantItems("b", k.tail(k.log, start, 1), "Tail")
	calls := map[string]func() error{
		"Head": func() error { _, err := k.log.Head(ctx); return err },
		"Tail": func() error { _, _, err := k.log.Tail(ctx, start, 10); return err },
		"Read": func() error { _, err := k.log.Read(ctx, start, k.head(), 10); return err },
		"Purge": func() error {
			n, err := k.log.Purge(ctx, k.now.Add(time.Hour), 0, 10)
			if n > 0 {
				return fmt.Errorf("%d events were purged", n)
			}
			return err
		},
	}
	for name, call := range calls {
		if err := call(); err == nil {
			k.errorf("%s with a context that has ended succeeded", name)
		}
	}
}

package feedtest

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/stoa-go/stoa/resource/feed"
)

// appendCases tests Append and Wake, and that events are returned unchanged.
func appendCases() []testCase {
	return []testCase{
		{
			// A log in SQL loses data here if a column normalizes or truncates text, if bytes are
			// stored as text, or if one of its two statements omits a column.
			name: "events",
			contract: "Events are returned unchanged, byte for byte, in the order of Append, each with a " +
				"cursor. Before and After may turn from empty to nil or back; Time may be rounded to " +
				"microseconds.",
			try: tryEvents,
		},
		{
			// Purge by age needs a time for every event. A zero time would be older than any limit.
			name:     "time",
			contract: "An event without a time gets the time at which it is appended.",
			try: func(k *kit) {
				start := k.head()
				e := k.event("a", "1")
				e.Time = time.Time{}
				k.must(k.log.Append(k.ctx, e), "Append")
				for _, e := range k.tail(k.log, start, 1) {
					if d := time.Since(e.Time); d < -time.Hour || d > time.Hour {
						k.errorf("the event without a time got %v", e.Time)
					}
				}
			},
		},
		{
			// The caller keeps the events: a transaction that is run again appends them a second
			// time.
			name: "given events",
			contract: "Append does not modify the given events and ignores their cursors: an event that " +
				"is appended twice exists twice, with different cursors.",
			try: func(k *kit) {
				start := k.head()
				e := k.event("a", "1")
				forged := feed.Cursor{Epoch: start.Epoch, Seq: start.Seq + 100, Mark: 7}
				e.Cursor = forged
				k.must(k.log.Append(k.ctx, e, e), "Append")
				e.ID = "b"
				k.must(k.log.Append(k.ctx, e), "Append")
				k.wantItems("a a b", k.tail(k.log, start, 3), "Tail")
				if e.Cursor != forged {
					k.errorf("Append changed the cursor of the given event")
				}
			},
		},
		// A statement without rows is invalid SQL, and a transaction that changed nothing appends
		// nothing.
		{name: "nothing", contract: "Append without events adds none.", try: func(k *kit) {
			start := k.head()
			k.must(k.log.Append(k.ctx), "Append")
			if head := k.head(); head != start {
				k.errorf("Head changed from %+v to %+v", start, head)
			}
		}},
		{
			// A subscriber that has disconnected must not keep a connection, and an Append that
			// reports an error must not become visible later.
			name:     "context",
			contract: "A call with a context that is done fails and has no effect.",
			try:      tryContext,
		},
		{
			// Without Wake the feed polls, so a log may return nil. A channel that never receives a
			// value would disable the notification unnoticed.
			name:     "wake",
			contract: "If Wake returns a channel, it receives a value after Append.",
			try:      tryWake,
		},
	}
}

// tryWake appends until Wake has sent a value. Each round waits a tenth of Patience, so a log that
// sends values with a delay passes.
func tryWake(k *kit) {
	wake := k.log.Wake()
	if wake == nil {
		return
	}
	// A hint may be lost, but not ten times in a row.
	for range 10 {
		k.append("a")
		select {
		case <-wake:
			return
		case <-time.After(k.Patience / 10):
		}
		select { // select may have chosen the timer although both were ready
		case <-wake:
			return
		default:
		}
	}
	k.errorf("Wake received no value for ten appended events")
}

// odd returns events with unusual contents. They cover each kind of event, ids with quotes and with
// characters outside of ASCII, a revision that is not valid UTF-8, 1 MiB of content, empty and
// missing content, and times in the past and with nanoseconds.
func odd(now time.Time) []*feed.Event {
	// all byte values, so that an encoding which is not binary is detected
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	return []*feed.Event{
		{Kind: feed.Created, Collection: "orders", ID: "1", Rev: "r1", After: []byte(`{"id":1}`), Time: now},
		{
			Kind:       feed.Updated,
			Collection: "orders",
			ID:         "1",
			Rev:        "r2",
			Before:     []byte(`{"id":1}`),
			After:      []byte(`{"id":1,"x":2}`),
			Schema:     "AbCd-_09",
			Time:       now,
		},
		{
			Kind:       feed.Deleted,
			Collection: "orders",
			ID:         "1",
			Rev:        "r2",
			Before:     []byte(`{"id":1,"x":2}`),
			Time:       now,
		},
		{
			Kind:       feed.Created,
			Collection: "größen",
			ID:         `a'b"c\d/%?`,
			Rev:        "\x00\xff'\"",
			After:      every,
			Time:       now,
		},
		{
			Kind:       feed.Updated,
			Collection: "c",
			ID:         strings.Repeat("é", 500),
			Rev:        strings.Repeat("r", 300),
			After:      bytes.Repeat(every, 4096),
			Time:       now,
		},
		{Kind: feed.Updated, Collection: "c", ID: "2", Time: now.Add(123456789 * time.Nanosecond)},
		{
			Kind:       feed.Updated,
			Collection: "c",
			ID:         "2",
			Rev:        "r",
			Before:     []byte{},
			After:      []byte{},
			Time:       now.Add(-time.Hour),
		},
	}
}

// tryEvents appends odd events, in one call and in several, and compares them with Tail and Read.
// The single call and the separate calls may take different paths in the log, such as a statement
// with several rows and a prepared one. Tail and Read may use different statements, too.
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
			k.errorf("event %d: %s differs", i, member)
		}
		if text, err := feed.ParseCursor(e.Cursor.String()); err != nil || text != e.Cursor {
			k.errorf("event %d: the text of cursor %+v cannot be parsed: %+v, %v", i, e.Cursor, text, err)
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
			k.errorf("event %d: Read and Tail differ in %q, with the cursors %+v and %+v", i, members,
				e.Cursor, got[i].Cursor)
		}
	}
}

// differences returns the names of the fields in which two events differ.
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
	note("Schema", want.Schema == got.Schema)
	note("Before", bytes.Equal(want.Before, got.Before))
	note("After", bytes.Equal(want.After, got.After))
	note("Time", want.Time.Sub(got.Time).Abs() <= time.Microsecond)
	return members
}

// tryContext calls each method with a canceled context. A log in memory must check the context
// itself, because it never blocks. The successful Append in between shows that the canceled one has
// left no gap and no lock.
func tryContext(k *kit) {
	start := k.head()
	ctx, cancel := context.WithCancel(k.ctx)
	cancel()
	if err := k.log.Append(ctx, k.event("a", "1")); err == nil {
		k.errorf("Append with a canceled context succeeded")
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
			k.errorf("%s with a canceled context succeeded", name)
		}
	}
}

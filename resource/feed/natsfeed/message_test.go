package natsfeed_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/nats-io/nats.go"

	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/feed/natsfeed"
)

var (
	before       = feed.Cursor{Epoch: 7, Seq: 41, Mark: 1}
	beforeWindow = feed.Cursor{Epoch: 7, Seq: 43, Mark: 2}
)

// event returns an event with all fields set.
func event() *feed.Event {
	return &feed.Event{
		Kind:       feed.Updated,
		Collection: "größen",
		ID:         "a\r\n:b",
		Rev:        "\x00\xff",
		Before:     []byte(`{"n":1}`),
		After:      []byte(`{"n":2}`),
		Schema:     "AbCd-_09",
		Time:       time.UnixMicro(1_700_000_000_123_456).UTC(),
		Cursor:     beforeWindow,
	}
}

var sameEvent = cmp.Options{cmpopts.IgnoreUnexported(feed.Event{}), cmpopts.EquateEmpty()}

func TestMessage(t *testing.T) {
	t.Parallel()
	long := event()
	long.After = []byte(strings.Repeat("x", 2000))
	tests := []struct {
		name  string
		event *feed.Event
		want  *feed.Event
	}{
		{"everything", event(), event()},
		{
			"next to nothing",
			&feed.Event{Cursor: beforeWindow},
			&feed.Event{Cursor: beforeWindow, Time: time.Time{}},
		},
		{"larger than a message may be", long, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := natsfeed.Encode(before, tt.event, 2048)
			after, at, got, err := natsfeed.Decode(m.Header, m.Data)
			if err != nil || after != before || at != beforeWindow {
				t.Fatalf("Decode returned the cursors %v and %v, %v", after, at, err)
			}
			if diff := cmp.Diff(tt.want, got, sameEvent); diff != "" {
				t.Errorf("the event (-want +got)\n%s", diff)
			}
			if int64(m.Size())+512 > 2048 {
				t.Errorf("the message has %d bytes, which with what servers add is too much", m.Size())
			}
		})
	}
}

// TestForeignMessages: messages of other publishers are rejected.
func TestForeignMessages(t *testing.T) {
	t.Parallel()
	good := natsfeed.Encode(before, event(), 1<<20)
	other := before
	other.Epoch++
	tests := []struct {
		name      string
		id, after string
		data      []byte
	}{
		{"no header", "", "", good.Data},
		{"no previous cursor", beforeWindow.String(), "", good.Data},
		{"another identifier", "42", before.String(), good.Data},
		{"another epoch", beforeWindow.String(), other.String(), good.Data},
		{"backwards", before.String(), beforeWindow.String(), good.Data},
		{"another format", beforeWindow.String(), before.String(), append([]byte{2}, good.Data[1:]...)},
		{"cut off", beforeWindow.String(), before.String(), good.Data[:len(good.Data)-1]},
		{
			"trailing bytes",
			beforeWindow.String(),
			before.String(),
			append(good.Data[:len(good.Data):len(good.Data)], 0),
		},
		{
			"a length beyond all",
			beforeWindow.String(),
			before.String(),
			[]byte("\x01\x01\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
		},
		{"text", beforeWindow.String(), before.String(), []byte("hello")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			header := nats.Header{nats.MsgIdHdr: {tt.id}, "Stoa-After": {tt.after}}
			if _, _, e, err := natsfeed.Decode(header, tt.data); err == nil {
				t.Errorf("an event: %+v", e)
			}
		})
	}
}

// FuzzMessage: a message that decodes is encoded to the same bytes, and no input panics.
func FuzzMessage(f *testing.F) {
	good := natsfeed.Encode(before, event(), 1<<20)
	f.Add(beforeWindow.String(), before.String(), good.Data)
	f.Add(beforeWindow.String(), before.String(), []byte{})
	f.Add(beforeWindow.String(), before.String(), good.Data[:9])
	f.Add("x", "", []byte{1, 2, 3})
	f.Fuzz(func(t *testing.T, id, after string, data []byte) {
		from, at, e, err := natsfeed.Decode(nats.Header{nats.MsgIdHdr: {id}, "Stoa-After": {after}}, data)
		if err != nil || e == nil {
			return
		}
		again := natsfeed.Encode(from, e, 1<<30)
		_, _, second, err := natsfeed.Decode(again.Header, again.Data)
		if err != nil {
			t.Fatalf("%+v cannot be read back: %v", e, err)
		}
		if diff := cmp.Diff(e, second, sameEvent); diff != "" {
			t.Errorf("the event (-want +got)\n%s", diff)
		}
		if e.Cursor != at || at.String() != id {
			t.Errorf("the cursor is %v, and the message was %q", at, id)
		}
	})
}

package eventstream_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/feed/eventstream"
)

func TestAppend(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		event eventstream.Event
		want  string
	}{
		{
			"all fields",
			eventstream.Event{ID: "7", Name: "created", Data: []byte(`{"a":1}`)},
			"id: 7\nevent: created\ndata: {\"a\":1}\n\n",
		},
		{"data alone", eventstream.Event{Data: []byte("x")}, "data: x\n\n"},
		{
			"lines of all kinds",
			eventstream.Event{Data: []byte("a\nb\r\nc\rd")},
			"data: a\ndata: b\ndata: c\ndata: d\n\n",
		},
		{
			"line breaks at the ends",
			eventstream.Event{Data: []byte("\n\na\n")},
			"data: \ndata: \ndata: a\ndata: \n\n",
		},
		{"a space in front", eventstream.Event{Data: []byte(" a")}, "data:  a\n\n"},
		{
			"text like a field",
			eventstream.Event{Data: []byte("id: 8\n: x\n")},
			"data: id: 8\ndata: : x\ndata: \n\n",
		},
		{
			"an empty event",
			eventstream.Event{Name: "complete", Data: []byte{}},
			"event: complete\ndata: \n\n",
		},
		{"no event, only an id", eventstream.Event{ID: "7"}, "id: 7\n\n"},
		{"no event has no name", eventstream.Event{ID: "7", Name: "created"}, "id: 7\n\n"},
		{"not UTF-8 is left alone", eventstream.Event{Data: []byte("\xff\x00")}, "data: \xff\x00\n\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := eventstream.Append([]byte("before\n"), tt.event)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff("before\n"+tt.want, string(got)); diff != "" {
				t.Errorf("Append (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAppendRefuses(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"a\nb", "a\rb", "a\x00b", "\n"} {
		for _, e := range []eventstream.Event{{ID: bad, Data: []byte("x")}, {Name: bad, Data: []byte("x")}} {
			got, err := eventstream.Append([]byte("before"), e)
			if !errors.Is(err, eventstream.ErrField) || string(got) != "before" {
				t.Errorf("Append of %+q: %q, %v, want what was before, and ErrField", e, got, err)
			}
		}
	}
}

// FuzzRoundTrip reads what Append has written, between two other events.
func FuzzRoundTrip(f *testing.F) {
	f.Add("7", "created", []byte(`{"a":1}`))
	f.Add("", "", []byte("a\r\nb\rc\n\nd"))
	f.Add("é", "complete", []byte{})
	f.Add("a b:c", " x", []byte("\ufeff: id\n"))
	f.Fuzz(func(t *testing.T, id, name string, data []byte) {
		first := eventstream.Event{ID: "first", Name: "n", Data: []byte("1")}
		e := eventstream.Event{ID: id, Name: name, Data: data}
		last := eventstream.Event{ID: "last", Data: []byte("3")}
		var stream []byte
		var err error
		for _, e := range []eventstream.Event{first, e, last} {
			if stream, err = eventstream.Append(
				stream,
				e,
			); err != nil &&
				(e.ID != id || !strings.ContainsAny(id+name, "\r\n\x00")) {
				t.Fatalf("Append of %+q: %v", e, err)
			} else if err != nil {
				return
			}
		}
		want := []eventstream.Event{first}
		if id == "" {
			e.ID = "first" // remains the last event ID
		}
		if data != nil {
			e.Data = []byte(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(data)))
			want = append(want, e)
		}
		want = append(want, last)
		r := eventstream.NewReader(bytes.NewReader(stream), nil)
		if diff := cmp.Diff(want, all(t, r)); diff != "" {
			t.Errorf("what was read of %q (-want +got):\n%s", stream, diff)
		}
	})
}

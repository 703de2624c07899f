package eventstream_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/feed/eventstream"
)

// all reads a stream to its end.
func all(t *testing.T, r *eventstream.Reader) (events []eventstream.Event) {
	t.Helper()
	for {
		e, err := r.Next()
		if err == io.EOF {
			return events
		}
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
}

// TestReader has the examples of WHATWG HTML section 9.2.6, and edge cases of its rules.
func TestReader(t *testing.T) {
	t.Parallel()
	event := func(id, name, data string) eventstream.Event {
		return eventstream.Event{ID: id, Name: name, Data: []byte(data)}
	}
	tests := []struct {
		name, stream string
		want         []eventstream.Event
		lastID       string
		retry        time.Duration
	}{
		{
			"one message",
			"data: YHOO\ndata: +2\ndata: 10\n\n",
			[]eventstream.Event{event("", "", "YHOO\n+2\n10")},
			"",
			0,
		},
		{
			"four blocks",
			": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n",
			[]eventstream.Event{
				event("1", "", "first event"),
				event("", "", "second event"),
				event("", "", " third event"),
			},
			"",
			0,
		},
		{
			"empty data, and a block that is not over",
			"data\n\ndata\ndata\n\ndata:",
			[]eventstream.Event{event("", "", ""), event("", "", "\n")},
			"",
			0,
		},
		{
			"the space is optional",
			"data:test\n\ndata: test\n\n",
			[]eventstream.Event{event("", "", "test"), event("", "", "test")},
			"",
			0,
		},
		{
			"line ends of all kinds",
			"data: a\r\n\r\ndata: b\r\rdata: c\n\n\r\n",
			[]eventstream.Event{event("", "", "a"), event("", "", "b"), event("", "", "c")},
			"",
			0,
		},
		{
			"byte order mark",
			"\ufeffdata: a\n\n\ufeffdata: b\n\n",
			[]eventstream.Event{event("", "", "a")},
			"",
			0,
		},
		{"half a byte order mark", "\xefdata: a\n\n", nil, "", 0},
		{"an id without data counts", "id: 7\n\n", nil, "7", 0},
		{"an id of a block that is not over does not", "id: 7\n\nid: 8\n", nil, "7", 0},
		{
			"an id with a NUL is passed over",
			"id: 7\n\nid: 8\x00\ndata: x\n\n",
			[]eventstream.Event{event("7", "", "x")},
			"7",
			0,
		},
		{
			"the last id is kept",
			"id: 7\ndata: a\n\ndata: b\n\n",
			[]eventstream.Event{event("7", "", "a"), event("7", "", "b")},
			"7",
			0,
		},
		{
			"a name is for one block",
			"event: a\n\ndata: x\n\nevent: b\ndata: y\n\n",
			[]eventstream.Event{event("", "", "x"), event("", "b", "y")},
			"",
			0,
		},
		{
			"the last of two fields counts",
			"event: a\nevent: b\nid: 1\nid: 2\ndata: x\n\n",
			[]eventstream.Event{event("2", "b", "x")},
			"2",
			0,
		},
		{"retry", "retry: 1500\n\n", nil, "", 1500 * time.Millisecond},
		{
			"retry in another form",
			"retry: 1500\nretry: +1\nretry: 1.5\nretry: 9x\nretry:\nretry: 99999999999999999999\n\n",
			nil,
			"",
			1500 * time.Millisecond,
		},
		{"unknown fields, and names in other cases", "foo: 1\nDATA: a\n data: b\n\n", nil, "", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for name, stream := range map[string]io.Reader{
				"whole": strings.NewReader(tt.stream), "byte by byte": iotest.OneByteReader(strings.NewReader(tt.stream))} {
				r := eventstream.NewReader(stream, nil)
				if diff := cmp.Diff(tt.want, all(t, r)); diff != "" {
					t.Errorf("%s: events (-want +got):\n%s", name, diff)
				}
				if r.LastID() != tt.lastID || r.Retry() != tt.retry {
					t.Errorf(
						"%s: LastID %q, Retry %v, want %q, %v",
						name,
						r.LastID(),
						r.Retry(),
						tt.lastID,
						tt.retry,
					)
				}
			}
		})
	}
}

func TestReaderComments(t *testing.T) {
	t.Parallel()
	var got []string
	stream := ": one\n:two\n:\ndata: x\n\n"
	all(
		t,
		eventstream.NewReader(
			strings.NewReader(stream),
			&eventstream.ReaderOptions{Comment: func(c string) { got = append(got, c) }},
		),
	)
	if diff := cmp.Diff([]string{"one", "two", ""}, got); diff != "" {
		t.Errorf("comments (-want +got):\n%s", diff)
	}
}

func TestReaderLimits(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, stream string
		want         error
	}{
		{"line", "data: " + strings.Repeat("x", 100) + "\n\n", eventstream.ErrTooLong},
		{"line without an end", strings.Repeat("x", 100), eventstream.ErrTooLong},
		{"data", strings.Repeat("data: 0123456789\n", 10) + "\n", eventstream.ErrTooLong},
		{"just within", "data: " + strings.Repeat("x", 50-len("data: ")) + "\n\n", io.EOF},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := eventstream.NewReader(strings.NewReader(tt.stream), &eventstream.ReaderOptions{Max: 50})
			var err error
			for err == nil {
				_, err = r.Next()
			}
			if _, again := r.Next(); !errors.Is(err, tt.want) || again != err {
				t.Errorf("Next: %v and then %v, want %v twice", err, again, tt.want)
			}
		})
	}
}

func TestReaderDoesNotWait(t *testing.T) {
	t.Parallel()
	// The event is complete although the stream does not end.
	for _, stream := range []string{"data: x\n\n", "data: x\r\r", "data: x\r\n\r"} {
		silent, write := io.Pipe()
		go write.Write([]byte(stream))
		r := eventstream.NewReader(silent, nil)
		if e, err := r.Next(); err != nil || string(e.Data) != "x" {
			t.Errorf("Next of %q: %q, %v", stream, e.Data, err)
		}
		write.Close()
	}
}

// FuzzReader: a stream yields the same events whole, in pieces, and from a simpler parser.
func FuzzReader(f *testing.F) {
	f.Add(": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n")
	f.Add("\ufeffdata\r\rdata\r\ndata\n\nretry: 5\n")
	f.Fuzz(func(t *testing.T, stream string) {
		whole := all(t, eventstream.NewReader(strings.NewReader(stream), nil))
		pieces := all(t, eventstream.NewReader(iotest.OneByteReader(strings.NewReader(stream)), nil))
		if diff := cmp.Diff(whole, pieces); diff != "" {
			t.Errorf("in pieces (-whole +pieces):\n%s", diff)
		}
		if diff := cmp.Diff(simply(stream), whole); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	})
}

// simply parses a complete stream.
func simply(stream string) (events []eventstream.Event) {
	stream = strings.TrimPrefix(stream, "\ufeff")
	stream = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(stream)
	lines := strings.Split(stream, "\n")
	var e eventstream.Event
	var data []string
	for _, line := range lines[:len(lines)-1] {
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "":
			if data != nil {
				e.Data = []byte(strings.Join(data, "\n"))
				events = append(events, e)
			}
			e.Name, e.Data, data = "", nil, nil
		case name == "data":
			data = append(data, value)
		case name == "event":
			e.Name = value
		case name == "id" && !strings.Contains(value, "\x00"):
			e.ID = value
		}
	}
	return events
}

// TestReaderPositions reads a stream with blocks that only set the id.
func TestReaderPositions(t *testing.T) {
	const stream = "retry: 5\n\nid: 1\n\nid: 2\ndata: x\n\nid: 2\n\n: ping\n\nid: 3\nevent: y\n\ndata: z\n\n"
	for _, tt := range []struct {
		name      string
		positions bool
		want      []eventstream.Event
	}{
		{"as browsers do", false, []eventstream.Event{{ID: "2", Data: []byte("x")}, {ID: "3", Data: []byte("z")}}},
		{"with positions", true,
			[]eventstream.Event{{ID: "1"}, {ID: "2", Data: []byte("x")}, {ID: "3"}, {ID: "3", Data: []byte("z")}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := eventstream.NewReader(strings.NewReader(stream), &eventstream.ReaderOptions{Positions: tt.positions})
			var got []eventstream.Event
			for {
				e, err := r.Next()
				if err != nil {
					break
				}
				got = append(got, e)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

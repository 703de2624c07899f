package eventstream_test

import (
	"bytes"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stoa-go/stoa/resource/feed/eventstream"
)

// sink is a connection that discards all data.
type sink struct{ header http.Header }

func (s sink) Header() http.Header              { return s.header }
func (s sink) Write(p []byte) (int, error)      { return len(p), nil }
func (s sink) WriteHeader(int)                  {}
func (s sink) FlushError() error                { return nil }
func (s sink) SetWriteDeadline(time.Time) error { return nil }
func (s sink) SetReadDeadline(time.Time) error  { return nil }

var order = eventstream.Event{
	ID:   "AAAAAAAAAAABAAAAAAAAAAE",
	Name: "updated",
	Data: bytes.Repeat([]byte("0123456789"), 30),
}

func open(t testing.TB) *eventstream.Writer {
	t.Helper()
	s, err := eventstream.Open(sink{http.Header{}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestNothingIsAllocatedForAnEvent(t *testing.T) {
	s := open(t)
	frame, err := eventstream.Append(nil, order)
	if err != nil {
		t.Fatal(err)
	}
	for name, send := range map[string]func() error{
		"Event":   func() error { return s.Event(order) },
		"Send":    func() error { return s.Send(frame) },
		"Comment": func() error { return s.Comment("") },
	} {
		if n := testing.AllocsPerRun(100, func() { err = send() }); n > 0 || err != nil {
			t.Errorf("%s: %v allocations, %v", name, n, err)
		}
	}
}

func BenchmarkEvent(b *testing.B) {
	s := open(b)
	b.ReportAllocs()
	for b.Loop() {
		if err := s.Event(order); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSend(b *testing.B) {
	s := open(b)
	frame, err := eventstream.Append(nil, order)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := s.Send(frame); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReader(b *testing.B) {
	frame, err := eventstream.Append(nil, order)
	if err != nil {
		b.Fatal(err)
	}
	stream := bytes.Repeat(frame, 1000)
	b.SetBytes(int64(len(stream)))
	b.ReportAllocs()
	for b.Loop() {
		r := eventstream.NewReader(bytes.NewReader(stream), nil)
		for err = nil; err == nil; {
			_, err = r.Next()
		}
		if err != io.EOF {
			b.Fatal(err)
		}
	}
}

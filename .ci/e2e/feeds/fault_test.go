package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/feed"
)

// at is a moment of a made up fault, which is from 10 to 30, and half over at 20.
func at(second int) time.Time { return time.Unix(int64(second), 0) }

func placeAt(seq uint64) string { return feed.Cursor{Epoch: 1, Seq: seq}.String() }

func TestToll(t *testing.T) {
	t.Parallel()
	settler := &listener{
		heard:  []frame{{at: at(5)}, {at: at(15)}, {at: at(33)}, {at: at(40)}},
		visits: []visit{{base: "a", began: at(1), ended: at(40), from: placeAt(1), to: placeAt(9)}},
	}
	mover := &listener{visits: []visit{
		{base: "a", began: at(1), ended: at(21), from: placeAt(1), to: placeAt(7)},
		{base: "b", began: at(21), ended: at(29), from: placeAt(7), to: placeAt(12)},
		{base: "a", began: at(29), ended: at(29), from: placeAt(12), to: placeAt(12)}, // told of nothing there
	}}
	liar := &listener{heard: []frame{{at: at(12)}, {at: at(22)}}, visits: []visit{
		{base: "a", began: at(11), ended: at(12), from: placeAt(7), to: placeAt(8), dropped: true},
	}}
	c := &fault{what: "it", bases: []string{"a"}, settlers: []*listener{settler, mover}, from: at(10), half: at(20), to: at(30),
		store: true, newest: 7}
	attempts := []attempt{
		{"a", at(9), at(11), 201, false}, {"a", at(29), at(31), 201, false}, // neither is within
		{"a", at(11), at(12), 201, false}, {"b", at(11), at(12), 200, false}, {"b", at(11), at(12), 500, false},
		{"a", at(11), at(12), 503, true}, {"a", at(11), at(12), 503, false}, {"a", at(11), at(12), 0, false},
		{"a", at(11), at(12), 412, false},
	}
	want := toll{done: 1, busy: 1, failed: 1, silent: 1, refused: 1, elsewhere: 1, stayed: 2, dropped: 1, told: 1, others: 1,
		claims: 1, after: 3 * time.Second}
	got := c.count(attempts, []*listener{settler, mover, liar})
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(toll{})); diff != "" {
		t.Errorf("toll (-want +got):\n%s", diff)
	}
}

func TestTollVerdict(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		toll toll
		gone bool
		want string
	}{
		{"nothing can be told", toll{busy: 1, failed: 1, silent: 1, dropped: 1}, false, ""},
		{"a write was done", toll{done: 1}, false, "acknowledged"},
		{"a place that nobody knows", toll{claims: 1}, false, "cannot have known"},
		{"gone", toll{busy: 1, stayed: 1, dropped: 1}, true, ""},
		{"gone, and nobody asked", toll{stayed: 1}, true, "nobody was told"},
		{"gone, and a fault of the server", toll{busy: 1, failed: 1}, true, "not by 503"},
		{"gone, and all streams, too", toll{busy: 1, dropped: 2}, true, "all streams"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := tt.toll.verdict(&fault{what: "it", gone: tt.gone})
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

// TestLine: who is told nothing takes the connection for lost, and whoever has time does not.
func TestLine(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	l := &line{patience: 20 * time.Millisecond}
	conn := dialLine(t, l, server.Listener.Addr())
	if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) || l.lapses.Load() != 1 {
		t.Errorf("%v, %d times", err, l.lapses.Load())
	}
	for _, l := range []*line{nil, {}} {
		conn := dialLine(t, l, server.Listener.Addr())
		if _, err := conn.Write([]byte("GET / HTTP/1.0\r\n\r\n")); err != nil {
			t.Fatal(err)
		}
		n, err := conn.Read(make([]byte, 1))
		if n != 1 || err != nil || l != nil && l.bytes.Load() != 1 {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

func dialLine(t *testing.T, l *line, to net.Addr) net.Conn {
	t.Helper()
	conn, err := l.dial(context.WithoutCancel(t.Context()), to.Network(), to.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

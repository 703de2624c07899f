package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/ci/e2e/client"
	"github.com/stoa-go/stoa/ci/e2e/history"
	"github.com/stoa-go/stoa/ci/e2e/server"
	"github.com/stoa-go/stoa/resource/feed"
)

// TestFeedFaults plants faults in a server. Each has to be found as the violation that it is.
func TestFeedFaults(t *testing.T) {
	t.Parallel()
	tests := []struct {
		fault string
		kind  history.Kind // "" if there is none in the streams of the subscribers
		want  string       // in the error
	}{
		{"", "", ""},
		{skipEvent, history.Lost, " lost"},
		{repeatEvent, history.Repeated, " repeated"},
		{swapEvents, history.Disordered, "the log differs"}, // or a duplicate, for a subscriber that has received it before
		{inventEvent, history.Surplus, "the log differs"},
		{doubleEvent, history.Duplicate, "the log differs"},
		{hideExit, history.Lost, " lost"},
		{ignoreCursor, history.Lost, " lost"},
	}
	for _, tt := range tests {
		t.Run(tt.fault, func(t *testing.T) {
			t.Parallel()
			run, err := runOnToy(t, tt.fault, 400)
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
			kinds := []history.Kind{tt.kind}
			if tt.fault == swapEvents {
				kinds = append(kinds, history.Duplicate)
			}
			if tt.kind != "" && run.Count(kinds...) == 0 {
				t.Errorf("not found: %v", run)
			}
		})
	}
}

// TestExpiryIsFound: a log that has everything must not refuse a cursor, whether events are missed or not.
func TestExpiryIsFound(t *testing.T) {
	t.Parallel()
	run, err := runOnToy(t, refuseCursor, 400)
	expired := 0
	for _, s := range run.all {
		expired += s.expired
	}
	if err == nil || expired == 0 {
		t.Errorf("%v, %d expired cursors: %v", err, expired, run)
	}
}

// TestLostWriteIsFound: an acknowledged write that is not in the table is an error, whatever subscribers receive.
func TestLostWriteIsFound(t *testing.T) {
	t.Parallel()
	if run, err := runOnToy(t, dropWrite, 200); err == nil || !strings.Contains(err.Error(), "and had 3") {
		t.Errorf("%v: %v", err, run)
	}
}

// runOnToy runs the scenario on a server with a fault.
func runOnToy(t *testing.T, fault string, writes int) (*feedLoad, error) {
	t.Helper()
	run := newFeedLoad(sqlite, server.Outbox, "a toy")
	run.trial = newTestTrial(serveToy(t, fault))
	run.writes, run.drops, run.writerCount, run.subscribers, run.pause = writes, 30, 4, 10, 0
	run.protocols = run.protocols[:1]
	err := run.runOnNodes(t.Context())
	if err == nil {
		err = run.failure()
	}
	return run, err
}

func serveToy(t *testing.T, fault string) string {
	server := httptest.NewServer(newToy(fault))
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	return server.URL
}

// TestProcess: the state of a process is complete.
func TestProcess(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	server.ProcessHandler(&atomic.Int64{}).ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/process/live", nil))
	for _, name := range []string{"Goroutines", "Descriptors", "Resident", "Heap", "Stacks", "Live", "Objects"} {
		if !strings.Contains(w.Body.String(), `"`+name+`":`) || strings.Contains(w.Body.String(), `"`+name+`":0,`) {
			t.Errorf("no %s in %s", name, w.Body)
		}
	}
}

// at is a time of an outage from 10 to 30, whose half is at 20.
func at(second int) time.Time { return time.Unix(int64(second), 0) }

func cursorAt(seq uint64) string { return feed.Cursor{Epoch: 1, Seq: seq}.String() }

func TestOutageCounts(t *testing.T) {
	t.Parallel()
	resident := &subscriber{
		received: []client.Event{{At: at(5)}, {At: at(15)}, {At: at(33)}, {At: at(40)}},
		sessions: []session{{base: "a", began: at(1), ended: at(40), from: cursorAt(1), to: cursorAt(9)}},
	}
	moved := &subscriber{sessions: []session{
		{base: "a", began: at(1), ended: at(21), from: cursorAt(1), to: cursorAt(7)},
		{base: "b", began: at(21), ended: at(29), from: cursorAt(7), to: cursorAt(12)},
		{base: "a", began: at(29), ended: at(29), from: cursorAt(12), to: cursorAt(12)}, // received nothing there
	}}
	wrong := &subscriber{received: []client.Event{{At: at(12)}, {At: at(22)}}, sessions: []session{
		{base: "a", began: at(11), ended: at(12), from: cursorAt(7), to: cursorAt(8), dropped: true},
	}}
	c := &outage{what: "it", bases: []string{"a"}, residents: []*subscriber{resident, moved}, from: at(10), half: at(20), to: at(30),
		storage: true, newest: 7}
	attempts := []attempt{
		{"a", at(9), at(11), 201, false}, {"a", at(29), at(31), 201, false}, // not within
		{"a", at(11), at(12), 201, false}, {"b", at(11), at(12), 200, false}, {"b", at(11), at(12), 500, false},
		{"a", at(11), at(12), 503, true}, {"a", at(11), at(12), 503, false}, {"a", at(11), at(12), 0, false},
		{"a", at(11), at(12), 412, false},
	}
	want := outageCounts{done: 1, busy: 1, failed: 1, silent: 1, refused: 1, elsewhere: 1, stayed: 2, dropped: 1, received: 1, others: 1,
		impossible: 1, recovery: 3 * time.Second}
	got := c.count(attempts, []*subscriber{resident, moved, wrong})
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(outageCounts{})); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
}

func TestOutageCheck(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		counts outageCounts
		down   bool
		want   string
	}{
		{"nothing wrong", outageCounts{busy: 1, failed: 1, silent: 1, dropped: 1}, false, ""},
		{"a write was done", outageCounts{done: 1}, false, "acknowledged"},
		{"an impossible cursor", outageCounts{impossible: 1}, false, "cannot have known"},
		{"down", outageCounts{busy: 1, stayed: 1, dropped: 1}, true, ""},
		{"down, and no write", outageCounts{stayed: 1}, true, "no write was sent"},
		{"down, and a fault of the server", outageCounts{busy: 1, failed: 1}, true, "not with 503"},
		{"down, and all streams, too", outageCounts{busy: 1, dropped: 2}, true, "all streams"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := tt.counts.check(&outage{what: "it", down: tt.down})
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/ci/e2e/history"
	"github.com/stoa-go/stoa/ci/e2e/server"
	"github.com/stoa-go/stoa/resource/feed/eventstream"
)

// TestRollingResult checks which results of a run pass, as the subject and as the control.
func TestRollingResult(t *testing.T) {
	t.Parallel()
	torn := []history.Kind{history.Torn}
	for _, tt := range []struct {
		name     string
		control  []history.Kind
		kind     history.Kind // "" for no violation
		replayed int64
		pass     bool
	}{
		{"views as the lists", nil, "", 1, true},
		{"a view that differs", nil, history.Torn, 1, false},
		{"another response to a repeated request", nil, history.Changed, 1, false},
		{"not repeated", nil, "", 0, false},
		{"a control that is right", torn, "", 1, false},
		{"a control", torn, history.Torn, 1, true},
	} {
		s := &rollingUpdate{trial: newTestTrial()}
		s.control = tt.control
		s.replayed.Store(tt.replayed)
		if tt.kind != "" {
			s.Add(tt.kind, 1, "a view")
		}
		s.judge()
		if err := s.failure(); (err == nil) != tt.pass {
			t.Errorf("%s: %v, want it to pass: %v", tt.name, err, tt.pass)
		}
	}
}

// TestTaskSubscriber gives a subscriber lists and events of a server.
func TestTaskSubscriber(t *testing.T) {
	t.Parallel()
	const listed = `{"id":"1","text":"a"}`
	deleted, final := event("deleted", `{"id":"1"}`), event("created", `{"id":"final-0"}`)
	for _, tt := range []struct {
		name           string
		release        string
		list           string
		stream         []string // of each connection, or a status
		want           map[string]string
		wantErr        string
		listed, events int
	}{
		{"created, updated and deleted", server.NewRelease, listed, []string{
			event("created", `{"id":"2","text":"b","due":"friday"}`) +
				event("updated", `{"id":"1","text":"c","due":null}`) +
				event("created", `{"id":"3","text":"d"}`) + event("deleted", `{"id":"3"}`) + final,
		}, map[string]string{"1": "c", "2": "b due friday", "final-0": ""}, "", 1, 5},
		{"resumed", server.NewRelease, listed, []string{deleted, final}, map[string]string{"final-0": ""}, "", 1, 2},
		{"expired", server.PolicyRelease, listed, []string{deleted, "410", final},
			map[string]string{"1": "a", "final-0": ""}, "", 2, 2},
		{"an unknown event", server.NewRelease, listed, []string{event("error", `{"id":"1"}`)},
			map[string]string{"1": "a"}, `event "error": {"id":"1"}`, 1, 1},
		{"a hidden task", server.PolicyRelease, listed,
			[]string{event("updated", `{"id":"1","text":"a","due":"secret"}`)},
			map[string]string{"1": "a"}, "it has received a hidden task", 1, 1},
		{"refused", server.NewRelease, listed, []string{"400"}, map[string]string{"1": "a"}, "invalid cursor", 1, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			stream := tt.stream
			node := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Event-Cursor", "1")
				if r.Header.Get("Accept") != eventstream.ContentType {
					io.WriteString(w, tt.list)
					return
				}
				next := stream[0]
				stream = stream[1:]
				var status int
				if _, err := fmt.Sscan(next, &status); err == nil {
					w.WriteHeader(status)
					return
				}
				io.WriteString(w, next)
			}))
			defer node.Close()
			s := &taskSubscriber{view: taskView{release: tt.release}, final: "final-0", http: node.Client(),
				node: func(*rand.Rand) string { return node.URL }, first: func() {}}
			s.run(t.Context(), (&env{}).random(0))
			got := ""
			if s.err != nil {
				got = s.err.Error()
			}
			if diff := cmp.Diff(tt.wantErr, got); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.want, s.tasks); diff != "" {
				t.Errorf("tasks (-want +got):\n%s", diff)
			}
			if s.listed != tt.listed || s.events != tt.events {
				t.Errorf("%d lists and %d events, want %d and %d", s.listed, s.events, tt.listed, tt.events)
			}
		})
	}
}

// event is an event of a stream.
func event(name, data string) string {
	return "id: 2\nevent: " + name + "\ndata: " + data + "\n\n"
}

func TestDiffTasks(t *testing.T) {
	t.Parallel()
	list := map[string]string{"1": "a", "2": "b", "3": "c", "final-0": "b"}
	view := map[string]string{"1": "a", "2": "b due friday", "4": "d"}
	want := `task 2 is "b due friday", and in the list "b"
task 3 is "", and in the list "c"
task 4 is "d", and in the list ""`
	if diff := cmp.Diff(want, strings.Join(diffTasks(list, view), "\n")); diff != "" {
		t.Errorf("differences (-want +got):\n%s", diff)
	}
}

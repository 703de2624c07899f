package main

import (
	"testing"

	"github.com/stoa-go/stoa/ci/e2e/client"
	"github.com/stoa-go/stoa/ci/e2e/history"
	"github.com/stoa-go/stoa/ci/e2e/server"
)

// TestStandbyResult checks which results of a run pass, as the subject and as the control.
func TestStandbyResult(t *testing.T) {
	t.Parallel()
	done := &history.Effects{Keys: 1, Acknowledged: 1, Effects: 1}
	lost := &history.Effects{Keys: 1, Acknowledged: 1}
	lost.Add(history.Lost, 1, "a write")
	for _, tt := range []struct {
		name    string
		mode    string
		on      *history.Effects // on the promoted standby
		early   int64
		visible int
		failed  int64
		pass    bool
	}{
		{"nothing is lost", server.Together, done, 0, 0, 0, true},
		{"a write is lost", server.Together, lost, 0, 0, 0, false},
		{"acknowledged early", server.Together, done, 1, 0, 0, false},
		{"visible early", server.Together, done, 0, 1, 0, false},
		{"a read fails", server.Together, done, 0, 0, 1, false},
		{"a control that loses nothing", server.Hasty, done, 0, 0, 0, false},
		{"a control", server.Hasty, lost, 1, 1, 0, true},
	} {
		s := &standbyRun{mode: tt.mode, exposed: 1, visible: tt.visible, keyNodes: keyNodes{Client: client.New(1)}}
		s.early.Store(tt.early)
		s.failed.Store(tt.failed)
		if err := s.result(tt.on, done).err(); (err == nil) != tt.pass {
			t.Errorf("%s: %v, want it to pass: %v", tt.name, err, tt.pass)
		}
	}
}

package main

import (
	"testing"

	"github.com/stoa-go/stoa/ci/e2e/history"
)

// TestStandbyResult checks which results of a run pass, as the subject and as the control.
func TestStandbyResult(t *testing.T) {
	t.Parallel()
	done := &history.Effects{Keys: 1, Acknowledged: 1, Effects: 1}
	lost := &history.Effects{Keys: 1, Acknowledged: 1}
	lost.Add(history.Lost, 1, "a write")
	for _, tt := range []struct {
		name    string
		control []history.Kind
		on      *history.Effects // on the promoted standby
		early   int64
		visible int
		failed  int
		pass    bool
	}{
		{"nothing is lost", nil, done, 0, 0, 0, true},
		{"a write is lost", nil, lost, 0, 0, 0, false},
		{"acknowledged early", nil, done, 1, 0, 0, false},
		{"visible early", nil, done, 0, 1, 0, false},
		{"a read fails", nil, done, 0, 0, 1, false},
		{"a control that loses nothing", []history.Kind{history.Lost}, done, 0, 0, 0, false},
		{"a control", []history.Kind{history.Lost}, lost, 1, 1, 0, true},
	} {
		s := &standbyLoss{exposed: 1, visible: tt.visible, failed: tt.failed, keyed: &keyed{trial: newTestTrial()}}
		s.control = tt.control
		s.early.Store(tt.early)
		s.judge(tt.on, done)
		if err := s.failure(); (err == nil) != tt.pass {
			t.Errorf("%s: %v, want it to pass: %v", tt.name, err, tt.pass)
		}
	}
}

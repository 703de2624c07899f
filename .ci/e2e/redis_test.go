package main

import (
	"testing"

	"github.com/stoa-go/stoa/ci/e2e/client"
	"github.com/stoa-go/stoa/ci/e2e/history"
)

// TestRedisResult checks which results of a run pass, as the subject and as the control.
func TestRedisResult(t *testing.T) {
	t.Parallel()
	done := func() *history.Effects { return &history.Effects{Keys: 1, Acknowledged: 1, Effects: 1} }
	twice := &history.Effects{Keys: 1, Acknowledged: 1, Effects: 2}
	twice.Add(history.Duplicate, 1, "a write")
	for _, tt := range []struct {
		name    string
		control []history.Kind
		effects *history.Effects
		status  int // of the only response
		pass    bool
	}{
		{"done", nil, done(), 201, true},
		{"done twice", nil, twice, 201, false},
		{"not replayed", nil, done(), 409, false},
		{"a control that is right", []history.Kind{history.Unexpected}, done(), 201, false},
		{"a control", []history.Kind{history.Unexpected}, done(), 409, true},
	} {
		s := &fullRedis{keyed: &keyed{trial: newTestTrial()}}
		s.control = tt.control
		s.expect(&keyedWrite{}, client.Answer{Status: tt.status}, false)
		s.judge(tt.effects)
		if err := s.failure(); (err == nil) != tt.pass {
			t.Errorf("%s: %v, want it to pass: %v", tt.name, err, tt.pass)
		}
	}
}

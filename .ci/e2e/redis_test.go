package main

import (
	"testing"

	"github.com/stoa-go/stoa/ci/e2e/client"
	"github.com/stoa-go/stoa/ci/e2e/history"
	"github.com/stoa-go/stoa/ci/e2e/server"
)

// TestRedisResult checks which results of a run pass, as the subject and as the control.
func TestRedisResult(t *testing.T) {
	t.Parallel()
	done := func() *history.Effects { return &history.Effects{Keys: 1, Acknowledged: 1, Effects: 1} }
	twice := &history.Effects{Keys: 1, Acknowledged: 1, Effects: 2}
	twice.Add(history.Duplicate, 1, "a write")
	for _, tt := range []struct {
		name    string
		mode    string
		effects *history.Effects
		status  int // of the only response
		pass    bool
	}{
		{"done", server.Redis, done(), 201, true},
		{"done twice", server.Redis, twice, 201, false},
		{"not replayed", server.Redis, done(), 409, false},
		{"a control that is right", server.LateRedis, done(), 201, false},
		{"a control", server.LateRedis, done(), 409, true},
	} {
		s := &redisRun{mode: tt.mode, keyNodes: keyNodes{Client: client.New(1)}}
		s.expect(&keyedWrite{}, client.Answer{Status: tt.status}, false)
		if err := s.result(tt.effects).err(); (err == nil) != tt.pass {
			t.Errorf("%s: %v, want it to pass: %v", tt.name, err, tt.pass)
		}
	}
}

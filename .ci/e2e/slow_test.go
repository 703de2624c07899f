package main

import (
	"testing"
	"time"

	"github.com/stoa-go/stoa/ci/e2e/history"
)

// TestSiege checks the result of a server that disconnects no client, as a control and as the subject.
func TestSiege(t *testing.T) {
	t.Parallel()
	s := newSiege("", 5, 500*time.Millisecond, "-bare")
	if err := s.begin(t.Context(), testEnv(t)); err != nil {
		t.Fatal(err)
	}
	if err := s.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s.failure() == nil {
		t.Error("a server that closed nothing passes")
	}
	s.errs, s.control = nil, []history.Kind{}
	if s.judge(); s.failure() != nil {
		t.Error(s.failure())
	}
	s.attacks[0].closed.Add(1)
	if s.judge(); s.failure() == nil {
		t.Error("a control that closed something passes")
	}
}

package main

import (
	"testing"
	"time"
)

// TestSiege checks the result of a server that disconnects no client, as a control and as the subject.
func TestSiege(t *testing.T) {
	t.Parallel()
	e := testEnv(t)
	f, err := e.startServer(t.Context(), 1, nil, "notes", "-bare")
	if err != nil {
		t.Fatal(err)
	}
	s := &siege{attacks: attacks(5), patience: 500 * time.Millisecond}
	if err := s.run(t.Context(), f); err != nil {
		t.Fatal(err)
	}
	if s.result().err() == nil {
		t.Error("a server that closed nothing passes")
	}
	s.flags = []string{"-bare"}
	if err := s.result().err(); err != nil {
		t.Error(err)
	}
	s.attacks[0].closed.Add(1)
	if s.result().err() == nil {
		t.Error("a control that closed something passes")
	}
}

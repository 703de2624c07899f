package main

import (
	"testing"
	"time"

	"github.com/stoa-go/stoa/ci/e2e/client"
)

// TestCursorFaults tries a server that resumes from every cursor, and at the present.
func TestCursorFaults(t *testing.T) {
	t.Parallel()
	run := newStaleCursors("toy")
	run.trial = newTestTrial(serveToy(t, ignoreCursor))
	run.patience = 5 * time.Minute
	run.protocols = map[string]client.Protocol{"REST": client.REST(nil), "WebSocket": client.REST(nil)}
	cursors, _, err := run.createAndReceive(t.Context(), 30)
	if err != nil {
		t.Fatal(err)
	}
	run.patience = time.Second // from now on events are missing
	run.refused(t.Context(), "past", cursors[25], client.ErrExpired)
	run.served(t.Context(), "valid", cursors[27])
	if len(run.rows) != 4 {
		t.Errorf("%d rows", len(run.rows))
	}
	for _, r := range run.rows {
		if r.good {
			t.Errorf("%s is good: %s", r.what, r.outcome)
		}
	}
	if run.judge(); run.failure() == nil {
		t.Error("the result is good")
	}
	none := newStaleCursors("toy")
	if none.judge(); none.failure() == nil {
		t.Error("a result without cursors is good")
	}
}

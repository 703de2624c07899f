package modified_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/internal/modified"
)

func TestNext(t *testing.T) {
	t.Parallel()
	at := func(d time.Duration) time.Time { return time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC).Add(d) }
	tests := []struct {
		name          string
		now, previous time.Duration
		want          time.Duration
	}{
		{"later", time.Minute, 300 * time.Millisecond, time.Minute},
		{"in the same second", 700 * time.Millisecond, 300 * time.Millisecond, 700 * time.Millisecond},
		{"at the same time", 0, 0, 0},
		{"an hour back", -time.Hour, 300 * time.Millisecond, time.Second},
		{"back within the second", 200 * time.Millisecond, 300 * time.Millisecond, time.Second},
		{"a second write before the clock catches up", -time.Hour, time.Second, time.Second},
		{"after the clock has caught up", 1500 * time.Millisecond, time.Second, 1500 * time.Millisecond},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(at(tt.want), modified.Next(at(tt.now), at(tt.previous))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	if got := modified.Next(at(0), time.Time{}); got != at(0) {
		t.Errorf("without a previous time: %v, want %v", got, at(0))
	}
}

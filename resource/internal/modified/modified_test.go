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
		{"in the same second", 700 * time.Millisecond, 300 * time.Millisecond, time.Second},
		{"at the same time", 0, 0, time.Second},
		{"in the next second", 1100 * time.Millisecond, 900 * time.Millisecond, 1100 * time.Millisecond},
		{"a third write in the second", 800 * time.Millisecond, time.Second, time.Second + time.Microsecond},
		{"a fourth", 900 * time.Millisecond, time.Second + 9*time.Microsecond, time.Second + 10*time.Microsecond},
		{"more than 1,000", 900 * time.Millisecond, 1000999 * time.Microsecond, 2 * time.Second},
		{"an hour back", -time.Hour, 300 * time.Millisecond, time.Second},
		{"back within the second", 200 * time.Millisecond, 300 * time.Millisecond, time.Second},
		{"a second write before the clock catches up", -time.Hour, time.Second, time.Second},
		{"in the second that was taken", 1500 * time.Millisecond, time.Second, 2 * time.Second},
		{"after the clock has caught up", 2 * time.Second, time.Second, 2 * time.Second},
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

package memory_test

import (
	"testing"
	"time"

	"github.com/stoa-go/stoa/resource/memory"
)

// TestModifiedDoesNotDecrease sets the clock back. The date of the new version is after that of the old one in whole
// seconds, which clients have, and is kept until the clock has caught up.
func TestModifiedDoesNotDecrease(t *testing.T) {
	t.Parallel()
	type item struct {
		ID string `json:"id"`
		N  int    `json:"n"`
	}
	start := time.Date(2026, time.November, 23, 12, 0, 0, 400e6, time.UTC)
	now := start
	s := memory.New(&memory.Options[item]{Now: func() time.Time { return now }})
	it, err := s.Insert(t.Context(), "a", item{ID: "a"})
	if err != nil {
		t.Fatal(err)
	}
	for i, step := range []struct {
		clock, want time.Duration
	}{
		{time.Second, time.Second},
		{-time.Hour, 1600 * time.Millisecond},
		{-time.Minute, 1600 * time.Millisecond},
		{2 * time.Second, 2 * time.Second},
	} {
		now = start.Add(step.clock)
		if it, err = s.Replace(t.Context(), "a", it.Rev, item{ID: "a", N: i + 1}); err != nil {
			t.Fatal(err)
		}
		if want := start.Add(step.want); !it.Modified.Equal(want) {
			t.Errorf("at %v it is modified at %v, want %v", now, it.Modified, want)
		}
	}
}

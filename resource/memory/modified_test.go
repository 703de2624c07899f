package memory_test

import (
	"testing"
	"time"

	"github.com/stoa-go/stoa/resource/memory"
)

// TestModifiedInOneSecond writes several times in one second, and sets the clock back. The date of the new version is
// after that of the old one in whole seconds, which clients have.
func TestModifiedInOneSecond(t *testing.T) {
	t.Parallel()
	type item struct {
		ID string `json:"id"`
		N  int    `json:"n"`
	}
	start := time.Date(2026, time.November, 23, 12, 0, 0, 400e6, time.UTC)
	now := start
	s := memory.New(&memory.Options[item]{Recreate: true, Now: func() time.Time { return now }})
	it, err := s.Insert(t.Context(), "a", item{ID: "a"})
	if err != nil {
		t.Fatal(err)
	}
	for i, step := range []struct {
		clock, want time.Duration
	}{
		{100 * time.Millisecond, 600 * time.Millisecond},
		{200 * time.Millisecond, 600*time.Millisecond + time.Microsecond},
		{time.Second, 1600 * time.Millisecond},
		{2 * time.Second, 2600 * time.Millisecond},
		{4 * time.Second, 4 * time.Second},
		{-time.Hour, 4600 * time.Millisecond},
		{-time.Minute, 4600 * time.Millisecond},
		{6 * time.Second, 6 * time.Second},
	} {
		now = start.Add(step.clock)
		if it, err = s.Replace(t.Context(), "a", it.Rev, item{ID: "a", N: i + 1}); err != nil {
			t.Fatal(err)
		}
		if want := start.Add(step.want); !it.Modified.Equal(want) {
			t.Errorf("at %v it is modified at %v, want %v", now, it.Modified, want)
		}
	}
	if err := s.Delete(t.Context(), "a", it.Rev); err != nil {
		t.Fatal(err)
	}
	it, err = s.Insert(t.Context(), "a", item{ID: "a"})
	if want := start.Add(6600 * time.Millisecond); err != nil || !it.Modified.Equal(want) {
		t.Errorf("created again in the second of the deletion, it is modified at %v, want %v: %v", it.Modified, want, err)
	}
}

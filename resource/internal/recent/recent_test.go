package recent_test

import (
	"testing"

	"github.com/stoa-go/stoa/resource/internal/recent"
)

func TestAdd(t *testing.T) {
	t.Parallel()
	var s recent.Set[int]
	for i := range 64 {
		if !s.Add(i) || s.Add(i) {
			t.Fatalf("%d is not added once", i)
		}
	}
	if s.Add(0) {
		t.Error("0 was forgotten while there was room")
	}
	if !s.Add(64) || !s.Add(0) || s.Add(2) {
		t.Error("64 did not replace the oldest, which is 0, or replaced others")
	}
}

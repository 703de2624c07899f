package pace_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stoa-go/stoa/resource/internal/pace"
)

func TestHint(t *testing.T) {
	t.Parallel()
	c := make(chan struct{}, 1)
	for range 3 { // Hint does not block
		pace.Hint(c)
	}
	<-c
	if len(c) != 0 {
		t.Error("repeated hints were delivered twice")
	}
}

func TestPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		if err := pace.Pause(t.Context(), time.Hour); err != nil || time.Since(began) != time.Hour {
			t.Errorf("it ended after %v with %v", time.Since(began), err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := pace.Pause(
			ctx,
			time.Hour,
		); !errors.Is(err, context.DeadlineExceeded) ||
			time.Since(began) != time.Hour+time.Minute {
			t.Errorf("with the end of its context it ended after %v with %v", time.Since(began), err)
		}
	})
}

// TestRepeat: the delay grows with each failure, and starts again after a call that has lasted.
func TestRepeat(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const tries, works = 12, 10 // the call that lasts
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		broken := errors.New("broken")
		var ended time.Time
		var rests []time.Duration
		reported := 0
		pace.Repeat(ctx, func(context.Context) error {
			if !ended.IsZero() {
				rests = append(rests, time.Since(ended))
			}
			switch len(rests) {
			case works:
				time.Sleep(time.Minute)
			case tries:
				cancel()
			}
			ended = time.Now()
			return broken
		}, func(err error) {
			if reported++; err != broken {
				t.Errorf("failed got %v", err)
			}
		})
		if reported != tries {
			t.Errorf("failed was called %d times, want %d: not for the end of ctx", reported, tries)
		}
		for i, rest := range rests {
			doublings := i
			if i >= works {
				doublings = i - works
			}
			usual := min(50*time.Millisecond<<doublings, 5*time.Second)
			if rest < usual/2 || rest > usual*3/2 {
				t.Errorf("the rest number %d took %v, want %v, more or less", i, rest, usual)
			}
		}
	})
}

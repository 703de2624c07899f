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
	for range 3 { // nobody waits for who listens
		pace.Hint(c)
	}
	<-c
	if len(c) != 0 {
		t.Error("a hint that was given again before it was heard came twice")
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
		if err := pace.Pause(ctx, time.Hour); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Hour+time.Minute {
			t.Errorf("with the end of its context it ended after %v with %v", time.Since(began), err)
		}
	})
}

// TestRepeat: what fails is tried again, soon at first; what has worked for a while is tried again soon, too.
func TestRepeat(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const tries, works = 12, 10 // which lasts
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		broken := errors.New("broken")
		var ended time.Time
		var rests []time.Duration
		told := 0
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
			if told++; err != broken {
				t.Errorf("it is told of %v", err)
			}
		})
		if told != tries {
			t.Errorf("it is told of %d errors, want %d: the last is that of the end", told, tries)
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

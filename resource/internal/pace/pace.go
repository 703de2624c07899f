// Package pace has the waiting primitives of goroutines that run as long as a log: wake-up hints,
// interruptible pauses, and retries with backoff.
package pace

import (
	"context"
	"math/rand/v2"
	"time"
)

// Hint sends to c without blocking. c has a buffer of one; if it is full, the reader already has a
// pending hint.
func Hint(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default: // a hint is pending
	}
}

// Pause waits for d or until ctx is done. It then returns the error of ctx.
func Pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Repeat calls do until ctx is done. The delay between calls is random, doubles with each failure,
// and is at most about 5 seconds; the randomness keeps processes from retrying in step. After a
// call that lasted longer than that the delay starts again at the minimum. failed is called with
// each error except the one at the end of ctx.
func Repeat(ctx context.Context, do func(ctx context.Context) error, failed func(err error)) {
	const least, most = 50 * time.Millisecond, 5 * time.Second
	rest := least
	for ctx.Err() == nil {
		began := time.Now()
		err := do(ctx)
		if ctx.Err() != nil {
			return
		}
		if time.Since(began) > most {
			rest = least
		}
		failed(err)
		_ = Pause(ctx, rest/2+rand.N(rest)) // the loop checks ctx
		rest = min(2*rest, most)
	}
}

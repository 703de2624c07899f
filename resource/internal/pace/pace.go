// Package pace is how the goroutines of logs that go on for ever wait, wake each other, and try again what has failed.
package pace

import (
	"context"
	"math/rand/v2"
	"time"
)

// Hint puts a value into a channel that has room for one: whoever reads it looks, and need not be told twice.
func Hint(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default: // it has not been heard yet
	}
}

// Pause waits for some time, or for the end of ctx, which is its error.
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

// Repeat calls do, which ends in an error, again and again until ctx ends: less often as it fails again, up to once in some 5
// seconds, and not when others do that fail at the same time. What has lasted for longer than that begins anew. failed is told of
// each error but the last.
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
		_ = Pause(ctx, rest/2+rand.N(rest)) // the loop sees that ctx has ended
		rest = min(2*rest, most)
	}
}

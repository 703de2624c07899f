// Package retry repeats a write that has lost a compare-and-swap to another writer.
package retry

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/stoa-go/stoa/resource/internal/tally"
)

// Timeout limits the attempts of a request without a deadline of its own.
const Timeout = 10 * time.Second

// ErrContended reports that concurrent writers changed the item on every attempt until [Timeout].
// Clients receive 503 with Retry-After.
var ErrContended = errors.New("too many concurrent writes to the item")

// Do calls attempt until it succeeds, fails with an error for which lost is false, or ctx is done;
// then the error is that of [Contention]. It waits a random time of up to 64ms between attempts.
func Do(ctx context.Context, attempt func() error, lost func(error) bool) error {
	for wait := time.Millisecond; ; wait = min(2*wait, 64*time.Millisecond) {
		err := attempt()
		if err == nil || !lost(err) {
			return err
		}
		tally.From(ctx).AddRetry()
		select {
		case <-time.After(rand.N(wait)):
		case <-ctx.Done():
			return Contention(ctx.Err())
		}
	}
}

// Contention returns err if the client canceled the request, and [ErrContended] if the time limit
// was reached. err is the error of a context.
func Contention(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return ErrContended
}

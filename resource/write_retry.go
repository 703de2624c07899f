package resource

// The retry loop of writes, and the locks of ids. Called by write.go, batch.go, blob.go and idempotency.go.

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/stoa-go/stoa/resource/tx"
)

// retryTimeout limits the retry loop of a request without a deadline of its own.
const retryTimeout = 10 * time.Second

// errContended reports that concurrent writers changed the item on every attempt until retryTimeout. It becomes 503 with
// Retry-After.
var errContended = errors.New("too many concurrent writes to the item")

// withRetry runs attempt, which reads the item, checks preconditions and policy, and writes with the revision it has read. If
// the store returns ErrStale, withRetry runs attempt again.
//
// Writers of the same id in this process take a lock first; without it most attempts of many writers would fail. Between
// processes the store's compare-and-swap decides. Inside a transaction withRetry runs attempt once: a second read would return
// the same snapshot, so only the outermost [tx.Runner] can retry.
func (c *core) withRetry(ctx context.Context, id string, attempt func() error) error {
	if tx.Active(ctx) {
		return attempt()
	}
	ctx, cancel := context.WithTimeout(ctx, retryTimeout)
	defer cancel()
	unlock, err := c.locks.Lock(ctx, id)
	if err != nil {
		return contentionError(err)
	}
	defer unlock()
	return retryStale(ctx, attempt)
}

// retryStale calls attempt until it succeeds, fails with an error other than ErrStale, or ctx is done. It waits a random time
// of up to 64ms between attempts.
func retryStale(ctx context.Context, attempt func() error) error {
	for wait := time.Millisecond; ; wait = min(2*wait, 64*time.Millisecond) {
		err := attempt()
		var failed *failedError
		if !errors.Is(err, ErrStale) || errors.As(err, &failed) {
			return err
		}
		select {
		case <-time.After(rand.N(wait)):
		case <-ctx.Done():
			return contentionError(ctx.Err())
		}
	}
}

// contentionError returns err if the client canceled the request, and errContended if the time limit was reached.
func contentionError(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return errContended
}

// insertLocked inserts an item while holding the lock of its id. Without a shared transaction events are appended after the
// write, and the lock keeps them in the order of the writes when another request deletes the same id.
func (r *Resource) insertLocked(ctx context.Context, id string, v any) (Entry, error) {
	if p := r.core.publisher.Load(); p != nil && p.runner == nil && id != "" && !tx.Active(ctx) {
		limited, cancel := context.WithTimeout(ctx, retryTimeout)
		defer cancel()
		unlock, err := r.core.locks.Lock(limited, id)
		if err != nil {
			return Entry{}, contentionError(err)
		}
		defer unlock()
	}
	return r.insertNew(ctx, id, v, false)
}

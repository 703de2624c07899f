package resource

// The retry loop of writes, and the locks of ids. Called by write.go, batch.go and idempotency.go.
// It calls packages internal/retry and internal/keylock.

import (
	"context"
	"errors"

	"github.com/stoa-go/stoa/resource/internal/deadline"
	"github.com/stoa-go/stoa/resource/internal/keylock"
	"github.com/stoa-go/stoa/resource/internal/retry"
	"github.com/stoa-go/stoa/resource/tx"
)

// withRetry runs attempt, which reads the item, checks preconditions and policy, and writes with
// the revision it has read. If the store returns ErrStale, withRetry runs attempt again.
//
// Writers of the same id in this process take a lock first; without it most attempts of many
// writers would fail. Between processes the store's compare-and-swap decides. Inside a transaction
// withRetry runs attempt once: a second read would return the same snapshot, so only the outermost
// [tx.Runner] can retry.
func (c *core) withRetry(ctx context.Context, id string, attempt func() error) error {
	if tx.Active(ctx) {
		return attempt()
	}
	limited := deadline.WithTimeout(ctx, retry.Timeout) // without a timer, until a writer has to wait
	defer limited.Cancel()
	held, err := c.locks.Lock(limited, id)
	if err != nil {
		return retry.Contention(err)
	}
	defer held.Unlock()
	return retryStale(limited, attempt)
}

// retryStale calls attempt until it succeeds, fails with an error other than ErrStale, or ctx is
// done. A precondition that does not hold is an ErrStale that a second attempt cannot change.
func retryStale(ctx context.Context, attempt func() error) error {
	return retry.Do(ctx, attempt, func(err error) bool {
		return errors.Is(err, ErrStale) && !errors.As(err, new(*failedError))
	})
}

// lockNew locks the id of a new item if its event is appended after the write, and not in one
// transaction with it. The lock keeps the events in the order of the writes when another request
// deletes the same id. Otherwise lockNew returns the zero Held.
func (c *core) lockNew(ctx context.Context, id string) (keylock.Held, error) {
	p := c.publisher.Load()
	if p == nil || p.runner != nil || id == "" || tx.Active(ctx) {
		return keylock.Held{}, nil
	}
	limited := deadline.WithTimeout(ctx, retry.Timeout)
	defer limited.Cancel()
	held, err := c.locks.Lock(limited, id)
	if err != nil {
		return keylock.Held{}, retry.Contention(err)
	}
	return held, nil
}

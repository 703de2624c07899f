package resource

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/stoa-go/stoa/resource/tx"
)

// retryTimeout bounds the write loop of a request that has no deadline of its own.
const retryTimeout = 10 * time.Second

// errContended says that others kept changing the item until the time was up.
var errContended = errors.New("others keep changing the item")

// loop calls attempt until it does not fail with ErrStale. attempt reads the item, judges the preconditions and the
// policy on what it read, and writes with the revision it read, so every repetition judges anew.
//
// Writers of one id in this process queue first: without that, most attempts of many writers would be for nothing. The
// compare-and-swap settles it with writers elsewhere. Inside a transaction neither helps, since what was read stays as
// it is until the end: the outermost [tx.Runner] runs everything again.
func (h *core) withRetry(ctx context.Context, id string, attempt func() error) error {
	if tx.Active(ctx) {
		return attempt()
	}
	ctx, cancel := context.WithTimeout(ctx, retryTimeout)
	defer cancel()
	unlock, err := h.locks.lock(ctx, id)
	if err != nil {
		return contentionError(err)
	}
	defer unlock()
	return retryStale(ctx, attempt)
}

// retryStale is the repetition of loop, until ctx ends.
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

// contended keeps the end of a client's own request apart from the end of our patience.
func contentionError(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return errContended
}

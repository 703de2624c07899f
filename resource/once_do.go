package resource

import (
	"context"
	"errors"
	"net/http"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/resource/tx"
)

// Do is [idempotency.Keeper.Do] of Once, for doors whose do calls methods of this package: it knows which of their errors say
// that nothing was done, and does once more in a new transaction what found an item changed, as the write loop has no way to
// try again inside of one. level and runner are those of [Catalog.Guarantee]. It is not to be called without Once.
//
// Below [idempotency.ExactlyOnce] do is not interrupted by a client that goes away: what is begun there and given up halfway
// leaves nobody any wiser.
func (c *Catalog) Do(ctx context.Context, op idempotency.Operation, level idempotency.Level, runner tx.Runner,
	do func(ctx context.Context) (idempotency.Record, error)) (rec idempotency.Record, replayed bool, err error) {
	attempt := func() error {
		rec, replayed, err = c.opts.Once.Do(ctx, op, level, runner, func(ctx context.Context) (idempotency.Record, error) {
			if level < idempotency.ExactlyOnce {
				var cancel context.CancelFunc
				ctx, cancel = detached(ctx)
				defer cancel()
			}
			rec, err := do(ctx)
			return rec, nothingDone(err)
		})
		return err
	}
	err = attempt()
	if !errors.Is(err, ErrStale) || errors.As(err, new(*failedError)) || level < idempotency.ExactlyOnce || tx.Active(ctx) {
		return rec, replayed, err
	}
	patient, cancel := context.WithTimeout(ctx, retryTimeout)
	defer cancel()
	err = retryStale(patient, attempt)
	return rec, replayed, err
}

// nothingDone marks the errors by which nothing was done: refusals, a store that found the item changed, and one that could not
// be asked. Where somebody ran out of time that may have been behind the deed.
func nothingDone(err error) error {
	switch {
	case err == nil, errors.Is(err, tx.ErrOutcomeUnknown):
		return err
	case Problem(err).StatusCode() < http.StatusInternalServerError, errors.Is(err, ErrStale), errors.Is(err, errContended),
		errors.Is(err, ErrUnavailable) && !errors.Is(err, context.DeadlineExceeded):
		return errors.Join(err, idempotency.ErrNothingDone)
	}
	return err
}

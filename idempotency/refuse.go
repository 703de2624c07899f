package idempotency

// The problems that answer a request with a key that is not executed.

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/tx"
)

// ErrNothingDone matches errors of the function passed to [Guard.Do] below ExactlyOnce that had no
// effect. The claim is then released, and the operation can be repeated immediately. Client
// problems (4xx) and [tx.ErrUnavailable] have the same meaning. In a transaction it makes no
// difference, because everything is rolled back.
var ErrNothingDone = errors.New("idempotency: operation had no effect")

// nothingDone reports whether an error, returned without a transaction, means that there was no
// effect.
func nothingDone(err error) bool {
	if errors.Is(err, tx.ErrOutcomeUnknown) {
		return false
	}
	if errors.Is(err, ErrNothingDone) || errors.Is(err, tx.ErrUnavailable) {
		return true
	}
	var d *problem.Details
	return errors.As(err, &d) && d.StatusCode() < http.StatusInternalServerError &&
		d.Kind != problem.OutcomeUnknown
}

// Values of Retry-After in seconds.
const (
	retrySoon  = 1
	retryLater = 60 // until records expire
)

func retryAfter(d *problem.Details, seconds int) *problem.Details {
	d.Header = http.Header{"Retry-After": {strconv.Itoa(seconds)}}
	return d
}

// inFlight returns the problem for a copy of a request that is still being executed.
func inFlight() error {
	return retryAfter(problem.New(problem.InFlight, "the first request with this key is still running"),
		retrySoon)
}

// reused reveals nothing about the first request, because the key may have been guessed.
func reused() error {
	return keyProblem(problem.KeyReused, "reused", "the idempotency key was used for a different request")
}

// overQuota returns the problem for a caller with too many records.
func overQuota(quota int) error {
	return retryAfter(problem.New(problem.TooManyRequests,
		strconv.Itoa(quota)+" idempotency keys are in use, which is the limit; wait until some expire"),
		retryLater)
}

// outcomeUnknown is for an outcome that a repetition with the same key cannot determine.
func outcomeUnknown() error {
	d := problem.New(
		problem.OutcomeUnknown,
		"the outcome of the first request with this key is unknown; check whether it has taken effect "+
			"before you use a new key",
	)
	d.Status = http.StatusConflict
	return d
}

// outcomePending is for an outcome that a repetition can determine: the record exists, or the
// operation runs.
func outcomePending() error {
	return retryAfter(problem.New(problem.OutcomeUnknown,
		"the outcome is unknown; repeat the request with the same key to find out"), retrySoon)
}

// storeFailed logs an error of the store or its transactions, unless the client has canceled the
// request, and returns 503. Without the store no operation runs.
func (g *Guard) storeFailed(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		g.logger().ErrorContext(ctx, "idempotency: store failed; rejecting keyed requests", "error", err)
	}
	return retryAfter(
		problem.New(problem.Unavailable,
			"requests with idempotency keys cannot be served at the moment; this request had no effect"),
		retrySoon,
	)
}

// replay returns the record or the problem for a state of the store other than Fresh.
func (g *Guard) replay(ctx context.Context, p Prior) (Record, error) {
	switch p.State {
	case Finished:
		if p.Record.Status == 0 {
			return Record{}, outcomeUnknown()
		}
		return p.Record, nil
	case InFlight:
		return Record{}, inFlight()
	case Abandoned:
		return Record{}, outcomeUnknown()
	case Mismatch:
		return Record{}, reused()
	case OverQuota:
		return Record{}, overQuota(g.opts.Quota)
	}
	return Record{}, g.storeFailed(ctx, errors.New("unexpected state "+p.State.String()))
}

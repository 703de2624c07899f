package idempotency

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/tx"
)

// ErrNothingDone is for errors of what is given to [Guard.Do] below ExactlyOnce: one that matches it says that nothing was
// done for certain, so that the claim is taken back and the same may be tried again at once. Problems of the client (4xx)
// and [tx.ErrUnavailable] say so, too. In a transaction it makes no difference, as everything is rolled back.
var ErrNothingDone = errors.New("nothing was done")

// nothingDone reports whether an error of an effect without a transaction says that there was no effect.
func nothingDone(err error) bool {
	if errors.Is(err, tx.ErrOutcomeUnknown) {
		return false
	}
	if errors.Is(err, ErrNothingDone) || errors.Is(err, tx.ErrUnavailable) {
		return true
	}
	var d *problem.Details
	return errors.As(err, &d) && d.StatusCode() < http.StatusInternalServerError && d.Kind != problem.OutcomeUnknown
}

// soon is after how many seconds it is worth asking again.
const (
	soon  = 1
	later = 60 // where only the passing of records helps
)

func retryAfter(d *problem.Details, seconds int) *problem.Details {
	d.Header = http.Header{"Retry-After": {strconv.Itoa(seconds)}}
	return d
}

func inFlight() error {
	return retryAfter(problem.New(problem.InFlight, "the first request with this key is not finished yet"), soon)
}

// reused says nothing of the first request: who guesses a key must not learn what it was for.
func reused() error {
	return keyProblem(problem.KeyReused, "reused", "the key was used for a request with other content")
}

func overQuota(quota int) error {
	return retryAfter(problem.New(problem.TooManyRequests,
		"there are "+strconv.Itoa(quota)+" keys in use: they are kept for a while, so use fewer"), later)
}

// unknownForGood is what cannot be found out by asking again with the same key.
func unknownForGood() error {
	d := problem.New(problem.OutcomeUnknown,
		"the first request with this key was begun, and it is not known whether it was done. See for yourself before you use a new key")
	d.Status = http.StatusConflict
	return d
}

// unknownYet is what asking again tells: the record is there, or it runs.
func unknownYet() error {
	return retryAfter(problem.New(problem.OutcomeUnknown,
		"it is not known whether this was done. Send it again with the same key to find out"), soon)
}

// storeDown logs what the store or its transactions said, unless that is only that the client has gone, and refuses: without
// them nothing is done.
func (k *Guard) storeDown(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		k.logger().ErrorContext(ctx, "idempotency: no records at the moment, and nothing is done without them", "error", err)
	}
	return retryAfter(problem.New(problem.Unavailable, "requests with keys cannot be served at the moment: nothing was done"), soon)
}

// answer is what to say to what the store knows already.
func (k *Guard) answer(ctx context.Context, p Prior) (Record, error) {
	switch p.State {
	case Finished:
		if p.Record.Status == 0 {
			return Record{}, unknownForGood()
		}
		return p.Record, nil
	case InFlight:
		return Record{}, inFlight()
	case Abandoned:
		return Record{}, unknownForGood()
	case Mismatch:
		return Record{}, reused()
	case OverQuota:
		return Record{}, overQuota(k.opts.Quota)
	}
	return Record{}, k.storeDown(ctx, errors.New("the store says "+p.State.String()))
}

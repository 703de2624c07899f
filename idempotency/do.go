package idempotency

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/tx"
)

// Do does an operation once. Of all calls with the same operation one runs do, and its record is what all of them get;
// replayed reports that it was not this one. ctx of do knows the operation: see [DeriveKey] and [RecordRefusal].
//
// For ExactlyOnce do runs in a transaction of runner, which it must use: ctx carries it, and where the runner runs it again
// for a conflict the last run counts. An error of do means that nothing was done: nothing is stored, and the same may be
// tried again. Below ExactlyOnce runner is not used, and an error leaves it open whether something was done, unless it is a
// problem of the client (4xx) or matches [ErrNothingDone]: then AtMostOnce remembers that the outcome is unknown, while
// ByIdentity and Options.AtLeastOnce let the next one do it again. A record of a status of 5xx is taken as an error. Panics
// go on, and count as errors.
//
// An error of do is returned as it is, except for [tx.ErrOutcomeUnknown]. Errors of Do itself are *problem.Details: 422 for
// another fingerprint under the key, 409 for one that is still running or whose outcome is unknown, 429 over the quota, 503
// if the store fails or the outcome of a commit is unknown.
//
// A copy waits for the first one as Options.Wait says, but not inside of a transaction, which others may be waiting for.
func (k *Guard) Do(ctx context.Context, op Operation, level Level, runner tx.Runner,
	do func(ctx context.Context) (Record, error)) (rec Record, replayed bool, err error) {
	if level == ExactlyOnce && k.LevelFor(runner) != ExactlyOnce {
		k.logger().ErrorContext(ctx, "idempotency: Do is to be ExactlyOnce with a runner that is not that of the store")
		return Record{}, false, problem.New(problem.Internal, "")
	}
	if rec, ok := k.finished(ctx, &op); ok {
		return rec, true, nil
	}
	return k.begin(ctx, op, level, runner, do)
}

// finished returns the record of an operation if it is there for the taking: a replay from memory needs no transaction, and
// nobody has to wait for it.
func (k *Guard) finished(ctx context.Context, op *Operation) (rec Record, ok bool) {
	m, ok := k.store.(*Memory)
	if !ok || tx.Active(ctx) || ctx.Err() != nil {
		return Record{}, false
	}
	rec, ok = m.finished(op.id(), op.sealed(), k.opts.Now())
	return rec, ok && rec.Status != 0
}

// begin is Do of what is not known to be finished.
func (k *Guard) begin(ctx context.Context, op Operation, level Level, runner tx.Runner,
	do func(ctx context.Context) (Record, error)) (rec Record, replayed bool, err error) {
	a := &attempt{k: k, op: &op, level: level, runner: runner, do: do, running: running{id: op.id()}}
	nested := tx.Active(ctx)
	own, shared, err := k.flights.begin(ctx, a.running.id, op.Fingerprint, k.patience(nested))
	switch {
	case err != nil:
		return Record{}, false, err
	case shared != nil:
		return *shared, true, nil
	}
	defer func() { k.flights.end(a.running.id, own, a.shared) }()
	prior, err := a.run(context.WithValue(ctx, runningKey{}, &a.running))
	switch {
	case err != nil:
		return Record{}, false, err
	case prior.State == Fresh:
		if !nested { // else nobody knows yet whether it will stand
			a.share()
			k.sweep(ctx)
		}
		return a.record, false, nil
	}
	if rec, err = k.answer(ctx, prior); err == nil && !nested {
		a.shared = &rec
	}
	return rec, err == nil, err
}

func (k *Guard) patience(nested bool) patience {
	if nested || k.opts.WaitTimeout < 0 {
		return patience{}
	}
	return patience{k.opts.WaitTimeout, k.opts.Waiters}
}

// attempt is one call of Do that is at its operation, alone in this process.
type attempt struct {
	k       *Guard
	op      *Operation
	level   Level
	runner  tx.Runner
	do      func(ctx context.Context) (Record, error)
	running running

	token  string  // of the claim
	record Record  // what do returned
	shared *Record // what those get who wait; nil for none
}

// share gives the record to those who wait, as the store would give it.
func (a *attempt) share() {
	if a.record.Status < http.StatusInternalServerError {
		kept := a.record.most(a.k.opts.MaxResult)
		a.shared = &kept
	}
}

// run claims and, if it is Fresh, does it and finishes.
func (a *attempt) run(ctx context.Context) (Prior, error) {
	if a.level == ExactlyOnce {
		return a.together(ctx)
	}
	return a.apart(ctx)
}

// claim asks the store, with a token of its own each time.
func (a *attempt) claim(ctx context.Context) (Prior, error) {
	o := &a.k.opts
	now := o.Now()
	a.token = a.k.token()
	return a.k.store.Claim(ctx, a.running.id, Claim{
		Fingerprint: a.op.sealed(), Owner: a.op.owner(), Token: a.token, Now: now, Until: now.Add(max(o.Lease, a.op.Time)),
		Expires: now.Add(a.k.retention()), Quota: o.Quota, TakeOver: a.level == ByIdentity || o.AtLeastOnce,
	})
}

// perform calls do, with a context that lasts no longer than limit, and completes its record.
func (a *attempt) perform(ctx context.Context, limit time.Duration) error {
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, max(limit, a.op.Time))
		defer cancel()
	}
	rec, err := a.do(ctx)
	if err != nil {
		return err
	}
	if rec.Status == 0 {
		rec.Status = http.StatusOK
	}
	if rec.Done.IsZero() {
		rec.Done = a.k.opts.Now()
	}
	a.record = rec
	return nil
}

// finish stores the record.
func (a *attempt) finish(ctx context.Context, rec Record) error {
	expires := a.k.opts.Now().Add(a.k.retention())
	return a.k.store.Finish(ctx, a.running.id, a.token, rec.most(a.k.opts.MaxResult), expires)
}

// errFailed rolls back what do did without an error of its own: it returned a record of 5xx.
var errFailed = errors.New("the status is 5xx")

// storeError is an error of the store inside of a transaction. The runner sees through it, as it may be a conflict.
type storeError struct{ error }

func (e *storeError) Unwrap() error { return e.error }

// together does it in one transaction with its record.
func (a *attempt) together(ctx context.Context) (prior Prior, err error) {
	var failed error // of do, in the last run
	err = a.runner.InTx(ctx, func(ctx context.Context) error {
		failed = nil
		a.record = Record{}
		a.running.keep.Store(false)
		var err error
		if prior, err = a.claim(ctx); err != nil {
			return &storeError{err}
		}
		if prior.State != Fresh {
			return nil
		}
		if failed = a.perform(ctx, a.k.opts.TransactionTimeout); failed != nil {
			return failed
		}
		if a.record.Status >= http.StatusInternalServerError {
			failed = errFailed
			return failed
		}
		if err := a.finish(ctx, a.record); err != nil {
			return &storeError{err}
		}
		return nil
	})
	if err == nil || err == errFailed {
		return prior, nil
	}
	return prior, a.explain(ctx, err, failed)
}

// explain makes what the client is told of an error of a transaction: that of do, or else that of the store or the runner.
func (a *attempt) explain(ctx context.Context, err, failed error) error {
	var ofStore *storeError
	switch {
	case errors.Is(err, tx.ErrOutcomeUnknown):
		return unknownYet()
	case failed != nil && errors.Is(err, failed):
		return err
	case errors.As(err, &ofStore), errors.Is(err, tx.ErrUnavailable):
		return a.k.storeDown(ctx, err)
	}
	return err
}

// apart does it between a claim and its end.
func (a *attempt) apart(ctx context.Context) (Prior, error) {
	prior, err := a.claim(ctx)
	if err != nil {
		a.release(ctx) // it may have been made nevertheless
		return prior, a.k.storeDown(ctx, err)
	}
	if prior.State != Fresh {
		return prior, nil
	}
	settled := false
	defer func() {
		if !settled { // an error, a panic or runtime.Goexit
			a.giveUp(ctx)
		}
	}()
	err = a.perform(ctx, a.k.opts.Lease)
	switch {
	case err == nil && a.record.Status < http.StatusInternalServerError:
		settled = true
		a.settle(ctx, "finish", func(ctx context.Context) error { return a.finish(ctx, a.record) })
	case err != nil && nothingDone(err):
		settled = true
		a.release(ctx)
	case errors.Is(err, tx.ErrOutcomeUnknown):
		err = unknownYet()
	}
	return prior, err
}

// giveUp is for what was begun and has not ended well. Where it may be done again, it may be so at once; else it is
// remembered that nobody knows.
func (a *attempt) giveUp(ctx context.Context) {
	if a.level == ByIdentity || a.k.opts.AtLeastOnce {
		a.release(ctx)
		return
	}
	a.settle(ctx, "give up", func(ctx context.Context) error { return a.finish(ctx, Record{Done: a.k.opts.Now()}) })
}

func (a *attempt) release(ctx context.Context) {
	a.settle(ctx, "release", func(ctx context.Context) error {
		err := a.k.store.Release(ctx, a.running.id, a.token)
		if errors.Is(err, ErrLost) { // it was not made, or somebody has taken over
			return nil
		}
		return err
	})
}

// settleBound is for how long a claim is settled whose client has gone.
const settleBound = 5 * time.Second

// settle tells the store what became of a claim, even if the context has ended: the effect is there. If the store fails, the
// claim stays, which is what it is for: after its lease the outcome is unknown.
func (a *attempt) settle(ctx context.Context, what string, tell func(ctx context.Context) error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleBound)
	defer cancel()
	if err := tell(ctx); err != nil {
		a.k.logger().ErrorContext(ctx, "idempotency: a claim cannot be settled", "step", what, "error", err)
	}
}

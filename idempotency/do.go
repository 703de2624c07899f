package idempotency

// The execution of an operation with a key: claim, perform, record, or replay. [Guard.Do] is called
// by package resource, rest, GraphQL and [Guard.Wrap]. wait.go lets copies in this process wait.

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/tx"
)

// Do runs an operation once. Of all calls with the same operation one runs do, and all return its
// record. op.Key and op.Principal are not checked. replayed reports that the record is from an
// earlier run. Inside do, ctx belongs to the operation: see [DeriveKey] and [RecordRefusal].
//
// At ExactlyOnce, do runs in a transaction of runner, for which [Guard.LevelFor] must return
// ExactlyOnce, and must use the ctx that carries it. If the runner repeats the transaction after a
// conflict, the last run counts. An error of do rolls back everything, and the operation can be
// repeated.
//
// Below ExactlyOnce, runner is ignored. An error of do leaves the outcome open, unless it is a
// client problem (4xx) or matches [ErrNothingDone]. With AtMostOnce the outcome is then recorded as
// unknown. With ByIdentity or Options.AtLeastOnce the next call runs do again. A record with a 5xx
// status has the effect of an error at every level, and Do returns it. A panic counts as an error
// and continues.
//
// Do returns an error of do unchanged, except for [tx.ErrOutcomeUnknown]. Its own errors are
// *problem.Details: 422 for another fingerprint with the same key, 409 for an operation that is
// running or has an unknown outcome, 429 over the quota, 503 if the store fails or the outcome of a
// commit is unknown, and 500 for a wrong runner.
//
// A concurrent call of the same operation waits as described at [Options.WaitTimeout], except
// inside a transaction.
func (g *Guard) Do(ctx context.Context, op Operation, level Level, runner tx.Runner,
	do func(ctx context.Context) (Record, error)) (rec Record, replayed bool, err error) {
	if level == ExactlyOnce && g.LevelFor(runner) != ExactlyOnce {
		g.logger().ErrorContext(ctx, "idempotency: Do at ExactlyOnce needs the runner of the store")
		return Record{}, false, problem.New(problem.Internal, "")
	}
	if rec, ok := g.finished(ctx, &op); ok {
		return rec, true, nil
	}
	return g.begin(ctx, op, level, runner, do)
}

// finished returns the record of an operation if it is in memory. Such a replay needs no
// transaction.
func (g *Guard) finished(ctx context.Context, op *Operation) (rec Record, ok bool) {
	m, ok := g.store.(*Memory)
	if !ok || tx.Active(ctx) || ctx.Err() != nil {
		return Record{}, false
	}
	rec, ok = m.finished(g.idOf(op), op.storedFingerprint(), g.opts.Now())
	return rec, ok && rec.Status != 0
}

// begin runs an operation that is not known to be finished, after any concurrent call of it.
func (g *Guard) begin(ctx context.Context, op Operation, level Level, runner tx.Runner,
	do func(ctx context.Context) (Record, error)) (rec Record, replayed bool, err error) {
	a := &attempt{guard: g, op: &op, level: level, runner: runner, do: do, running: running{id: g.idOf(&op)}}
	nested := tx.Active(ctx)
	own, shared, err := g.flights.begin(ctx, a.running.id, &op, g.waitPolicy(nested))
	switch {
	case err != nil:
		return Record{}, false, err
	case shared != nil:
		return *shared, true, nil
	}
	defer func() { g.flights.end(a.running.id, own, a.shared) }()
	prior, err := a.run(context.WithValue(ctx, runningKey{}, &a.running))
	switch {
	case err != nil:
		return Record{}, false, err
	case prior.State == Fresh:
		if !nested { // otherwise the enclosing transaction may still roll back
			a.share()
			g.sweep(ctx)
		}
		return a.record, false, nil
	}
	if rec, err = g.replay(ctx, prior); err == nil && !nested {
		a.shared = &rec
	}
	return rec, err == nil, err
}

// waitPolicy returns how long a copy waits. A nested operation never waits, because the operation
// around it may be the one that holds the key.
func (g *Guard) waitPolicy(nested bool) waitLimit {
	if nested || g.opts.WaitTimeout < 0 {
		return waitLimit{}
	}
	return waitLimit{g.opts.WaitTimeout, g.opts.Waiters}
}

// attempt is one call of Do that runs the operation; there is one per operation and process.
type attempt struct {
	guard   *Guard
	op      *Operation
	level   Level
	runner  tx.Runner
	do      func(ctx context.Context) (Record, error)
	running running

	stored []byte  // result of members; nil before its first call
	token  string  // of the current claim
	record Record  // returned by do
	shared *Record // the record for concurrent calls; nil if they have to ask the store
}

// share passes the record to concurrent calls, in the form that the store returns.
func (a *attempt) share() {
	if a.record.Status < http.StatusInternalServerError {
		kept := a.record.limitResult(a.guard.opts.MaxResult)
		a.shared = &kept
	}
}

// run claims the operation and, if it is Fresh, runs and finishes it.
func (a *attempt) run(ctx context.Context) (Prior, error) {
	if a.level == ExactlyOnce {
		return a.inTransaction(ctx)
	}
	return a.withoutTransaction(ctx)
}

// acquire claims the operation in the store with a new token. If a request in another contract has
// claimed it, its fingerprint is used.
func (a *attempt) acquire(ctx context.Context) (Prior, error) {
	o := &a.guard.opts
	now := o.Now()
	a.token = a.guard.token()
	c := Claim{
		Fingerprint: a.op.storedFingerprint(),
		Members:     a.members(),
		Owner:       a.guard.ownerOf(a.op),
		Token:       a.token,
		Now:         now,
		Until:       now.Add(max(o.Lease, a.op.Time)),
		Expires:     now.Add(a.guard.retention()),
		Quota:       o.Quota,
		TakeOver:    a.level == ByIdentity || o.AtLeastOnce,
	}
	prior, err := a.guard.store.Claim(ctx, a.running.id, c)
	if err == nil && prior.State == Mismatch && sameMembers(c.Members, prior.Members) {
		c.Fingerprint, c.Members = prior.Fingerprint, prior.Members
		prior, err = a.guard.store.Claim(ctx, a.running.id, c)
	}
	a.running.fingerprint = c.Fingerprint
	return prior, err
}

// members returns the members as they are stored. do may change what they are made of, and may run
// several times.
func (a *attempt) members() []byte {
	if a.stored == nil {
		if a.stored = a.op.storedMembers(); a.stored == nil {
			a.stored = []byte{}
		}
	}
	return a.stored
}

// perform calls do with a deadline and completes the record.
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
		rec.Done = a.guard.opts.Now()
	}
	a.record = rec
	return nil
}

// complete stores the record.
func (a *attempt) complete(ctx context.Context, rec Record) error {
	expires := a.guard.opts.Now().Add(a.guard.retention())
	return a.guard.store.Finish(ctx, a.running.id, a.token, rec.limitResult(a.guard.opts.MaxResult), expires)
}

// errFailed rolls back a transaction after a record with a 5xx status.
var errFailed = errors.New("idempotency: status is 5xx")

// storeError marks an error of the store inside a transaction. It unwraps, because the runner has
// to recognize conflicts.
type storeError struct{ error }

func (e *storeError) Unwrap() error { return e.error }

// inTransaction runs the operation and stores its record in one transaction.
func (a *attempt) inTransaction(ctx context.Context) (prior Prior, err error) {
	var failed error // the error of do in the last run
	err = a.runner.InTx(ctx, func(ctx context.Context) error {
		failed = nil
		a.record = Record{}
		a.running.keep.Store(false)
		var err error
		if prior, err = a.acquire(ctx); err != nil {
			return &storeError{err}
		}
		if prior.State != Fresh {
			return nil
		}
		if failed = a.perform(ctx, a.guard.opts.TransactionTimeout); failed != nil {
			return failed
		}
		if a.record.Status >= http.StatusInternalServerError {
			failed = errFailed
			return failed
		}
		if err := a.complete(ctx, a.record); err != nil {
			return &storeError{err}
		}
		return nil
	})
	if err == nil || err == errFailed {
		return prior, nil
	}
	return prior, a.clientError(ctx, err, failed)
}

// clientError returns the error for the caller of Do: the error of do if there is one, otherwise
// the error of the store or the runner.
func (a *attempt) clientError(ctx context.Context, err, failed error) error {
	var ofStore *storeError
	switch {
	case errors.Is(err, tx.ErrOutcomeUnknown):
		return outcomePending()
	case failed != nil && errors.Is(err, failed):
		return err
	case errors.As(err, &ofStore), errors.Is(err, tx.ErrUnavailable):
		return a.guard.storeFailed(ctx, err)
	}
	return err
}

// withoutTransaction claims the operation, runs it, and stores its record, without a transaction.
func (a *attempt) withoutTransaction(ctx context.Context) (Prior, error) {
	prior, err := a.acquire(ctx)
	if err != nil {
		a.releaseClaim(ctx) // the claim may exist although the call has failed
		return prior, a.guard.storeFailed(ctx, err)
	}
	if prior.State != Fresh {
		return prior, nil
	}
	settled := false
	defer func() {
		if !settled { // after an error, a panic or runtime.Goexit
			a.abandon(ctx)
		}
	}()
	err = a.perform(ctx, a.guard.opts.Lease)
	switch {
	case err == nil && a.record.Status < http.StatusInternalServerError:
		settled = true
		a.settle(ctx, "finish", func(ctx context.Context) error { return a.complete(ctx, a.record) })
	case err != nil && nothingDone(err):
		settled = true
		a.releaseClaim(ctx)
	case errors.Is(err, tx.ErrOutcomeUnknown):
		err = outcomePending()
	}
	return prior, err
}

// abandon ends an operation with an unknown outcome. If it may run again, the claim is released;
// otherwise a record without a status is stored.
func (a *attempt) abandon(ctx context.Context) {
	if a.level == ByIdentity || a.guard.opts.AtLeastOnce {
		a.releaseClaim(ctx)
		return
	}
	a.settle(ctx, "abandon",
		func(ctx context.Context) error { return a.complete(ctx, Record{Done: a.guard.opts.Now()}) })
}

// releaseClaim gives the claim up after an operation that had no effect, so that a repeat with the
// same key is executed.
func (a *attempt) releaseClaim(ctx context.Context) {
	a.settle(ctx, "release", func(ctx context.Context) error {
		err := a.guard.store.Release(ctx, a.running.id, a.token)
		if errors.Is(err, ErrLost) { // the claim was not stored or another call has it
			return nil
		}
		return err
	})
}

// settleBound limits a store call that must not end with the request's context.
const settleBound = 5 * time.Second

// settle ends a claim in the store, even if the context is done. If the store fails, the claim
// remains, and after its lease the outcome is unknown.
func (a *attempt) settle(ctx context.Context, step string, end func(ctx context.Context) error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleBound)
	defer cancel()
	if err := end(ctx); err != nil {
		a.guard.logger().ErrorContext(ctx, "idempotency: ending a claim failed", "step", step, "error", err)
	}
}

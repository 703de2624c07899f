package idempotencytest

// Cases for stores with transactions: a record commits and rolls back with the write.

import (
	"context"
	"errors"
	"strconv"
	"sync"

	"github.com/stoa-go/stoa/idempotency"
)

var errUndo = errors.New("roll back")

// txCases tests a Transactor: claims and records commit or roll back with the transaction.
func txCases() []testCase {
	return []testCase{
		{
			// The operation and its record must be atomic. If the record survived, a retry would
			// replay a response of an operation that never happened.
			name: "rollback",
			inTx: true,
			contract: "A transaction that is rolled back, by an error or by a panic, claims, finishes, " +
				"releases and takes over nothing.",
			try: tryRollback,
		},
		{
			// The same calls as in the rollback, to show that they take effect otherwise.
			name:     "commit",
			inTx:     true,
			contract: "Claim, Finish and Release in a transaction take effect at its commit.",
			try: func(k *kit) {
				k.want(idempotency.Fresh, "released", k.claim("t1"), "first claim")
				err := runnerOf(k.store).InTx(k.ctx, func(ctx context.Context) error {
					k.wantIn(ctx, idempotency.Fresh, "x", k.claim("t1"), "in the transaction")
					k.must(k.finishIn(ctx, "x", "t1", 201), "Finish in the transaction")
					k.must(k.store.Release(ctx, id("released"), "t1"), "Release in the transaction")
					k.wantIn(ctx, idempotency.Fresh, "claimed", k.claim("t1"), "in the transaction")
					return nil
				})
				k.must(err, "the transaction")
				k.want(idempotency.Finished, "x", k.claim("t2"), "after the commit")
				k.want(idempotency.Fresh, "released", k.claim("t2"), "after the commit")
				k.want(idempotency.InFlight, "claimed", k.claim("t2"), "after the commit")
				k.must(k.finish("claimed", "t1", 201), "Finish after the commit")
			},
		},
		{
			// A counter that is kept outside of the transaction drifts with each rollback.
			name:     "quota after rollback",
			inTx:     true,
			contract: "Claims that were rolled back do not count for the quota.",
			try: func(k *kit) {
				k.undone(func(ctx context.Context) {
					k.wantIn(ctx, idempotency.Fresh, "x", k.claim("t1"), "in the transaction")
				})
				c := k.claim("t2")
				c.Quota = 1
				k.want(idempotency.Fresh, "y", c, "after the rollback of another")
			},
		},
		{
			// A claim in a transaction locks its row until the commit. Others must get InFlight, or
			// wait for the record, and must not fail with a deadlock or a serialization error.
			name: "concurrent claims in transactions",
			inTx: true,
			contract: "Of many concurrent transactions that claim and finish one id, exactly one is " +
				"Fresh. The others get InFlight, or Finished with its record, and do not fail.",
			try: tryCopiesInTx,
		},
	}
}

// undone runs fn in two transactions: one is rolled back by an error, one by a panic. Both ends are
// tested, because a store that registers a function for the error path may miss the panic.
func (k *kit) undone(fn func(ctx context.Context)) {
	runner := runnerOf(k.store)
	err := runner.InTx(k.ctx, func(ctx context.Context) error {
		fn(ctx)
		return errUndo
	})
	if !errors.Is(err, errUndo) {
		k.errorf("the transaction ended with %v, want the error of its function", err)
	}
	defer func() {
		if p := recover(); p != nil && p != any(errUndo) {
			panic(p)
		}
	}()
	_ = runner.InTx(k.ctx, func(ctx context.Context) error {
		fn(ctx)
		panic(errUndo)
	})
}

// tryCopiesInTx claims and finishes one id in concurrent transactions. The status of each record
// identifies its transaction, so the stored record can be attributed to the one that was Fresh.
func tryCopiesInTx(k *kit) {
	var mu sync.Mutex
	var fresh, last int
	k.together(func(n int) {
		won := false
		err := runnerOf(k.store).InTx(k.ctx, func(ctx context.Context) error {
			won = false // a transaction may be repeated
			token := "t" + strconv.Itoa(n)
			prior, err := k.store.Claim(ctx, id("x"), k.claim(token))
			if err != nil {
				return err
			}
			switch prior.State {
			case idempotency.Fresh:
				won = true
				return k.finishIn(ctx, "x", token, 200+n)
			case idempotency.InFlight, idempotency.Finished:
			default:
				k.errorf("Claim in concurrent transactions returned %s, want Fresh, InFlight or Finished",
					prior.State)
			}
			return nil
		})
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			k.errorf("a concurrent transaction failed: %v", err)
		} else if won {
			fresh++
			last = 200 + n
		}
	})
	rec := k.want(idempotency.Finished, "x", k.claim("late"), "after all")
	if fresh != 1 || rec.Status != last {
		k.errorf("%d of %d transactions were Fresh, want 1; the record has %d, want %d", fresh, k.Copies,
			rec.Status, last)
	}
}

// tryRollback rolls back each method, and then checks the state that was there before it.
func tryRollback(k *kit) {
	other := k.claim("t9")
	other.Fingerprint[0] = 'B'
	k.undone(func(ctx context.Context) {
		k.wantIn(ctx, idempotency.Fresh, "claimed", k.claim("t1"), "in the transaction")
		k.wantIn(ctx, idempotency.Fresh, "finished", k.claim("t1"), "in the transaction")
		k.must(k.finishIn(ctx, "finished", "t1", 201), "Finish in the transaction")
	})
	k.want(idempotency.Fresh, "claimed", other, "after the rollback of a claim")
	k.want(idempotency.Fresh, "finished", other, "after the rollback of a record")
	k.want(idempotency.Fresh, "x", k.claim("t1"), "first claim")
	k.undone(func(ctx context.Context) {
		k.must(k.finishIn(ctx, "x", "t1", 500), "Finish in the transaction")
	})
	k.want(idempotency.InFlight, "x", k.claim("t2"), "after the rollback of Finish")
	k.undone(func(ctx context.Context) {
		k.must(k.store.Release(ctx, id("x"), "t1"), "Release in the transaction")
	})
	k.want(idempotency.InFlight, "x", k.claim("t2"), "after the rollback of Release")
	over := k.at("t3", k.now.Add(lease))
	over.TakeOver = true
	k.undone(func(ctx context.Context) {
		k.wantIn(ctx, idempotency.Fresh, "x", over, "with TakeOver in the transaction")
	})
	k.must(k.finish("x", "t1", 201), "Finish, after the rollback of a takeover,")
}

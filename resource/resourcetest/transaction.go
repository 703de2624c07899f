package resourcetest

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/tx"
)

// errRollback is returned by a function to roll its transaction back.
var errRollback = errors.New("rolled back by resourcetest")

// transactionCases test Transactor.
func transactionCases() []testCase {
	return []testCase{
		{
			name:  "tx-runner",
			needs: transactor,
			contract: "Transactions returns the same Runner each time, comparable with ==. The " +
				"library compares Runners to find the collections, logs and records that can share a " +
				"transaction.",
			run: txRunner,
		},
		{
			name:  "tx-commit",
			needs: transactor | filler,
			contract: "Reads in a transaction return its writes, and after the commit all reads do. " +
				"(Every method must use the transaction in its context.)",
			run: txCommit,
		},
		{
			name:  "tx-rollback",
			needs: transactor | filler,
			contract: "If the function returns an error, InTx returns that error and the transaction " +
				"has no effect: no item, change, deletion or tombstone remains.",
			run: txRollback,
		},
		{
			name:  "tx-panic",
			needs: transactor | filler,
			contract: "If the function panics, InTx rolls back and panics with the same value. The " +
				"store remains usable.",
			run: txPanic,
		},
		{
			name:  "tx-nested",
			needs: transactor | filler,
			contract: "InTx with a context that carries a transaction of the same Runner joins it. " +
				"Nothing is committed and no AfterCommit function runs before the outermost call " +
				"returns, and its rollback undoes everything.",
			run: txNested,
		},
		{
			name:  "tx-after-commit",
			needs: transactor,
			contract: "A function given to tx.AfterCommit runs once, after the commit, and never if " +
				"the transaction is rolled back, because it publishes events. One given to " +
				"tx.AfterRollback runs only then. (Call tx.Begin for each attempt, Scope.Commit " +
				"after the commit and Scope.Rollback after a rollback.)",
			run: txAfterCommit,
		},
		{
			name:  "tx-isolation",
			needs: transactor | replacer | filler,
			contract: "Other callers do not see the writes of a transaction before it commits, " +
				"because it may be rolled back. They see the state before it, or wait.",
			run: txIsolation,
		},
		{
			name:  "tx-race",
			needs: transactor | replacer | filler,
			contract: "Concurrent transactions that read and write one item lose no update. A " +
				"rollback undoes the writes of its own transaction, and never an acknowledged write " +
				"of another caller. (Undo each write; do not restore a copy of all data.)",
			run: txRace,
		},
		{
			name:  "tx-lock",
			needs: transactor | locker | replacer | filler,
			contract: "GetForUpdate returns the item as Get does, and no other transaction changes it " +
				"until the transaction of its context ends. Without a transaction it is an error, " +
				"because there would be no lock.",
			run: txLock,
		},
	}
}

// inTx runs fn in a transaction of the collection.
func (k *kit) inTx(ctx context.Context, fn func(ctx context.Context) error) error {
	return k.ops.Transactions().InTx(ctx, fn)
}

// txRunner compares Runners with ==, like package resource.
func txRunner(k *kit) {
	a, b := k.ops.Transactions(), k.ops.Transactions()
	if a == nil {
		k.fatalf("Transactions returned nil")
	}
	if a != b {
		k.errorf("two calls of Transactions returned different Runners")
	}
}

// change calls each write method inside a transaction and checks that the transaction sees the
// changes. It returns the expected items. items has at least two.
func (k *kit) change(ctx context.Context, items []resource.Item[any]) (
	after []resource.Item[any], err error,
) {
	made, err := k.tryPut(ctx, k.fresh())
	if err != nil {
		return nil, err
	}
	after = append([]resource.Item[any]{made}, items[2:]...)
	replaced := items[0]
	if k.ops.Replace != nil {
		replaced, err = k.ops.Replace(ctx, items[0].ID, items[0].Rev, k.changed(items[0].Value))
		if err != nil {
			return nil, err
		}
		replaced = k.vet(replaced, "Replace")
	}
	after = append(after, replaced)
	if k.ops.Delete != nil {
		if err := k.ops.Delete(ctx, items[1].ID, items[1].Rev); err != nil {
			return nil, err
		}
		_, err := k.ops.Get(ctx, items[1].ID)
		k.wantError(err, "Get of an item that was deleted in the same transaction", k.gone()...)
	} else {
		after = append(after, items[1])
	}
	for _, it := range after {
		got, err := k.ops.Get(ctx, it.ID)
		if err != nil {
			k.errorf("Get inside the transaction that wrote the item failed: %v", err)
			return nil, err
		}
		k.sameItem(it, k.vet(got, "Get"), "Get inside the transaction that wrote the item")
	}
	return after, nil
}

// holds compares the collection with the expected items.
func (k *kit) holds(want []resource.Item[any], where string) {
	k.sameSet(want, k.all(), where)
	for _, it := range want {
		k.sameItem(it, k.get(it.ID), where)
		if k.ops.Deleted != nil {
			_, err := k.ops.Deleted(k.ctx, it.ID)
			k.wantError(err, where+": Deleted of an existing item", resource.ErrNotFound)
		}
	}
}

// works checks that the collection accepts writes after the end of a transaction.
func (k *kit) works(items []resource.Item[any]) {
	k.put(k.fresh())
	if k.ops.Replace != nil {
		k.replace(items[0], k.changed(items[0].Value))
	}
	if k.ops.Delete != nil {
		k.remove(items[1])
	}
}

// txCommit calls each write method in one transaction.
func txCommit(k *kit) {
	items := k.fill(3, distinct)
	var after []resource.Item[any]
	err := k.inTx(k.ctx, func(ctx context.Context) (err error) {
		after, err = k.change(ctx, items)
		return err
	})
	k.must(err, "a transaction without a conflict")
	k.holds(after, "after the commit")
}

// txRollback does the same, rolls back, and then writes: a transaction that was not ended holds its
// locks.
func txRollback(k *kit) {
	items := k.fill(3, distinct)
	var after []resource.Item[any]
	err := k.inTx(k.ctx, func(ctx context.Context) (err error) {
		if after, err = k.change(ctx, items); err != nil {
			return err
		}
		return errRollback
	})
	k.wantError(err, "InTx with a function that failed", errRollback)
	k.holds(items, "after the rollback")
	for _, it := range after {
		if k.ops.Replace != nil && it.ID == items[0].ID && it.Rev != items[0].Rev {
			_, err := k.ops.Replace(k.ctx, it.ID, it.Rev, k.changed(it.Value))
			k.wantError(err, "Replace with a revision that was rolled back", resource.ErrStale)
		}
	}
	k.works(items)
}

// txPanic is txRollback for a function that panics. It finds stores that do not use defer.
func txPanic(k *kit) {
	items := k.fill(3, distinct)
	const thrown = "thrown by resourcetest"
	func() {
		defer func() {
			if p := recover(); p != thrown {
				k.errorf("InTx panicked with %v, want the value of its function's panic", p)
			}
		}()
		err := k.inTx(k.ctx, func(ctx context.Context) error {
			if _, err := k.change(ctx, items); err != nil {
				return err
			}
			panic(thrown)
		})
		k.errorf("InTx returned %s although its function panicked", quoted(err))
	}()
	k.holds(items, "after the panic")
	k.works(items)
}

// txNested has the outer call fail after the inner one succeeded. The inner call must not have
// committed.
func txNested(k *kit) {
	items := k.fill(3, distinct)
	announced := false
	err := k.inTx(k.ctx, func(ctx context.Context) error {
		err := k.inTx(ctx, func(ctx context.Context) error {
			tx.AfterCommit(ctx, func() { announced = true })
			_, err := k.change(ctx, items)
			return err
		})
		if err != nil {
			return err
		}
		if announced {
			k.errorf("an AfterCommit function of the inner InTx ran before the outer one returned")
		}
		return errRollback
	})
	k.wantError(err, "InTx with a function that failed after an inner InTx", errRollback)
	if announced {
		k.errorf("an AfterCommit function of the inner InTx ran although the outer one was rolled back")
	}
	k.holds(items, "after the rollback of the outer transaction")
	k.works(items)
}

// txAfterCommit needs only the Runner: two functions, one rollback, one commit.
func txAfterCommit(k *kit) {
	var ran []string
	undone := 0
	body := func(name string, result error) func(ctx context.Context) error {
		return func(ctx context.Context) error {
			if !tx.ActiveFor(ctx, k.ops.Transactions()) {
				k.errorf("the context in InTx does not carry a transaction of its Runner (tx.Begin)")
			}
			for _, n := range []string{"first", "second"} {
				tx.AfterCommit(ctx, func() { ran = append(ran, name+" "+n) })
			}
			tx.AfterRollback(ctx, func() { undone++ })
			if len(ran) > 0 {
				k.errorf("AfterCommit ran before the function had returned")
			}
			return result
		}
	}
	k.wantError(k.inTx(k.ctx, body("rollback", errRollback)), "InTx with a function that failed", errRollback)
	if len(ran) > 0 {
		k.fatalf("AfterCommit ran after a rollback: %q", ran)
	}
	if undone == 0 {
		k.errorf("AfterRollback did not run after a rollback (Scope.Rollback)")
	}
	undone = 0
	k.must(k.inTx(k.ctx, body("commit", nil)), "an empty transaction")
	if len(ran) != 2 || ran[0] != "commit first" || ran[1] != "commit second" {
		k.errorf("after the commit %q ran, want the functions of that transaction, each once and in "+
			"order",
			ran)
	}
	if undone > 0 {
		k.errorf("AfterRollback ran after a commit")
	}
}

// txIsolation reads from outside while a transaction is open. The reader may be delayed, but must
// not return data that is rolled back later.
func txIsolation(k *kit) {
	items := k.fill(2, distinct)
	answers := make(chan resource.Item[any], 1)
	reader := sync.OnceFunc(func() { // once, because a function may be run again
		go func() {
			defer close(answers)
			defer k.rec.catch()
			answers <- k.get(items[0].ID)
		}()
	})
	err := k.inTx(k.ctx, func(ctx context.Context) error {
		if _, _, err := k.attempt(ctx, items[0].ID); err != nil {
			return err
		}
		reader()
		time.Sleep(20 * time.Millisecond) // lets the reader start; the result does not depend on it
		return errRollback
	})
	k.wantError(err, "InTx with a function that failed", errRollback)
	reader()
	if got, ok := <-answers; ok {
		k.sameItem(items[0], got, "Get outside of an open transaction")
	}
}

// txRace runs transactions on one item, half of which are rolled back, writes to another item
// outside of transactions, and inserts. The two chains and the list of acknowledged items show
// which writes were lost.
func txRace(k *kit) {
	items := k.fill(2, distinct)
	inside, outside := newChain(items[0]), newChain(items[1])
	k.writeBesideRollback(inside, outside)
	created := make([][]resource.Item[any], k.Writers)
	k.race(k.Writers, func(w int) {
		for i := range max(6, k.Items/k.Writers/2) {
			switch w % 4 {
			case 0, 1:
				k.lengthenInTx(inside, i%2 == 1, linger)
				continue
			case 2:
				k.lengthen(outside)
			case 3:
				created[w] = append(created[w], k.putBeside())
			}
			linger()
		}
	})
	k.checkChain(inside)
	k.checkChain(outside)
	for _, made := range created {
		for _, it := range made {
			k.sameItem(it, k.get(it.ID), "an item that was stored during concurrent transactions")
		}
	}
}

// writeBesideRollback writes to one item while a transaction is open that has written to another,
// and is then rolled back. If the store does not permit concurrent writes, the write waits for the
// transaction.
func (k *kit) writeBesideRollback(inside, outside *chain) {
	var beside sync.WaitGroup
	write := sync.OnceFunc(func() { // once, because a function may be run again
		beside.Go(func() {
			defer k.rec.catch()
			k.lengthen(outside)
		})
	})
	k.lengthenInTx(inside, true, func() {
		write()
		linger()
	})
	beside.Wait()
}

// putBeside is put while transactions may keep the store busy.
func (k *kit) putBeside() (it resource.Item[any]) {
	v := k.fresh()
	err := k.persist(func() (err error) {
		it, err = k.tryPut(k.ctx, v)
		return err
	})
	k.must(err, "storing an item during concurrent transactions")
	return it
}

// linger lets other goroutines run. No result depends on its duration.
func linger() { time.Sleep(50 * time.Microsecond) }

// lengthenInTx is lengthen in a transaction, which is committed, or rolled back after the write.
// open is called inside the transaction.
func (k *kit) lengthenInTx(c *chain, rollback bool, open func()) {
	const tries = 10_000
	for range tries {
		var l link
		var read resource.Item[any]
		err := k.inTx(k.ctx, func(ctx context.Context) (err error) {
			l, read, err = k.attempt(ctx, c.first.ID)
			if open(); err == nil && rollback {
				err = errRollback
			}
			return err
		})
		switch {
		case err == nil:
			c.add(l, read)
			return
		case errors.Is(err, errRollback):
			return
		case errors.Is(err, resource.ErrStale), errors.Is(err, resource.ErrUnavailable):
		default:
			k.fatalf("a transaction that reads and replaces failed: %v", err)
		}
	}
	k.fatalf("%d transactions on one item failed with ErrStale or ErrUnavailable", tries)
}

// txLock runs pairs of transactions. Each locks the item of the other and, if that is unchanged,
// replaces its own. If the lock holds, only one of each pair replaces.
func txLock(k *kit) {
	items := k.fill(2, distinct)
	if _, err := k.ops.GetForUpdate(k.ctx, items[0].ID); err == nil {
		k.errorf("GetForUpdate without a transaction succeeded")
	}
	err := k.inTx(k.ctx, func(ctx context.Context) error {
		got, err := k.ops.GetForUpdate(ctx, items[0].ID)
		if err == nil {
			k.sameItem(items[0], k.vet(got, "GetForUpdate"), "GetForUpdate")
			_, absent := k.ops.GetForUpdate(ctx, k.newID())
			k.wantError(absent, "GetForUpdate of an item that does not exist", resource.ErrNotFound)
		}
		return err
	})
	k.must(err, "GetForUpdate in a transaction")
	for range 2 { // PostgreSQL detects a deadlock after a second
		pair := k.fill(2, distinct)
		k.race(2, func(i int) { k.replaceUnlessChanged(pair[i], pair[1-i]) })
		if a, b := k.get(pair[0].ID), k.get(pair[1].ID); (a.Rev == pair[0].Rev) == (b.Rev == pair[1].Rev) {
			k.errorf("of two transactions that each replace an item unless the other is changed, " +
				"which GetForUpdate shows, not exactly one has replaced its item")
		}
	}
}

// replaceUnlessChanged replaces one item in a transaction that has locked another, unless the other
// was changed.
func (k *kit) replaceUnlessChanged(own, other resource.Item[any]) {
	err := k.persist(func() error {
		return k.inTx(k.ctx, func(ctx context.Context) error {
			got, err := k.ops.GetForUpdate(ctx, other.ID)
			linger()
			if err != nil || got.Rev != other.Rev {
				return err
			}
			_, err = k.ops.Replace(ctx, own.ID, own.Rev, k.changed(own.Value))
			return err
		})
	})
	k.must(err, "a transaction that locks one item and replaces another")
}

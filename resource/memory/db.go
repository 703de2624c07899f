package memory

// Transactions and locks. Lock order: writer before mu. A write holds both; a transaction holds
// writer until it ends, and mu for each of its writes.

import (
	"context"
	"errors"
	"sync"

	"github.com/stoa-go/stoa/resource/tx"
)

// DB is a transaction scope that collections share; see [Options].DB. It is their [tx.Runner] and
// safe for concurrent use.
//
// Transactions are exclusive: no other writer runs between the beginning and the end of one, so fn
// runs once and there are no conflicts. Other writers wait, and readers also wait if the
// transaction has written something, so that they never see data that may be rolled back. Waiting
// ends when the context is done.
//
// Inside a transaction, always use its context. A call with an outer context waits for the end of
// the transaction, which may be a deadlock.
type DB struct {
	// writer is a lock for one write or one transaction. It is a channel because waiting for it
	// must end with the context.
	writer chan struct{}
	// mu guards the collections. It is never held while user code runs.
	mu sync.RWMutex
	// dirty is the open transaction if it has written. Until it ends, only its own calls may read.
	dirty *txn
}

// NewDB returns a DB that collections can share.
func NewDB() *DB {
	return &DB{writer: make(chan struct{}, 1)}
}

// txn is an open transaction. Its fields are guarded by DB.mu, because fn may start goroutines.
type txn struct {
	undo []func() // reverts each write, in the order of the writes
	done bool
}

// txnKey is the context key of the transaction of one DB.
type txnKey struct{ db *DB }

var errDone = errors.New("memory: transaction of the context has ended")

// txnOf returns the transaction of ctx, or nil.
func (db *DB) txnOf(ctx context.Context) *txn {
	t, _ := ctx.Value(txnKey{db}).(*txn)
	return t
}

// InTx runs fn in a transaction; see [tx.Runner]. It calls fn once. If ctx already has a
// transaction of the same DB, fn joins it.
func (db *DB) InTx(ctx context.Context, fn func(ctx context.Context) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if t := db.txnOf(ctx); t != nil {
		if db.isDone(t) {
			return errDone
		}
		return fn(ctx)
	}
	if err := db.lockWriter(ctx); err != nil {
		return err
	}
	t := &txn{}
	// The context value has the undo list; the scope makes the transaction visible to package tx.
	inner, scope := tx.Begin(ctx, db)
	inner = context.WithValue(inner, txnKey{db}, t)
	committed := false
	defer func() {
		if !committed { // an error, a panic or runtime.Goexit
			db.end(t, true)
			scope.Rollback()
		}
	}()
	if err := fn(inner); err != nil {
		return err
	}
	// All writes have been applied, so the commit cannot fail, even if ctx is done.
	committed = true
	db.end(t, false)
	scope.Commit() // after the writer lock is released, because commit hooks may write
	return nil
}

// Nested implements [tx.Nester].
func (db *DB) Nested(ctx context.Context, fn func(ctx context.Context) error) error {
	t := db.txnOf(ctx)
	if t == nil {
		return db.InTx(ctx, fn)
	}
	from, done := len(t.undo), false
	inner, scope := tx.Begin(ctx, db)
	defer func() {
		if !done {
			db.mu.Lock()
			t.revert(from)
			db.mu.Unlock()
			scope.Rollback()
		}
	}()
	if err := fn(inner); err != nil {
		return err
	}
	done = true
	scope.Commit()
	return nil
}

// CheckNow implements [tx.Nester]. No constraint waits for the commit.
func (db *DB) CheckNow(context.Context) error { return nil }

// Isolation returns "serializable", for the start-up report.
func (db *DB) Isolation() string { return "serializable" }

func (db *DB) isDone(t *txn) bool {
	db.mu.RLock()
	defer db.mu.RUnlock()
	return t.done
}

// end ends t and releases the writer lock. For a rollback it reverts the writes, the last one
// first.
func (db *DB) end(t *txn, rollback bool) {
	db.mu.Lock()
	if rollback {
		t.revert(0)
	}
	t.undo, t.done, db.dirty = nil, true, nil
	db.mu.Unlock()
	db.unlockWriter()
}

// revert reverts the writes from the one with this index on, the last one first.
func (t *txn) revert(from int) {
	for i := len(t.undo) - 1; i >= from; i-- {
		t.undo[i]()
	}
	t.undo = t.undo[:from]
}

// lockWriter waits for the writer lock, or until ctx is done. The first select makes the result
// deterministic if the lock is free and ctx is done.
func (db *DB) lockWriter(ctx context.Context) error {
	select {
	case db.writer <- struct{}{}: // fast path
		return nil
	default:
	}
	select {
	case db.writer <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (db *DB) unlockWriter() { <-db.writer }

// write calls change with all locks held: in the transaction of ctx, or on its own with a nil txn.
// A change that returns an error must not have changed anything.
func (db *DB) write(ctx context.Context, change func(*txn) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	t := db.txnOf(ctx)
	if t == nil {
		if err := db.lockWriter(ctx); err != nil {
			return err
		}
		defer db.unlockWriter()
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	if t == nil {
		return change(nil)
	}
	if t.done { // the context is used after the end of its transaction
		return errDone
	}
	err := change(t)
	// A failed write leaves nothing that readers must not see.
	if len(t.undo) > 0 {
		db.dirty = t
	}
	return err
}

// startRead acquires db.mu for reading; the caller releases it. It searches the context for a
// transaction only if one is dirty.
func (db *DB) startRead(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	db.mu.RLock()
	if db.dirty == nil || db.dirty == db.txnOf(ctx) {
		return nil
	}
	db.mu.RUnlock()
	// No transaction is dirty while this goroutine holds the writer lock. Waiting for that lock
	// also ensures that the reader gets its turn between many transactions.
	if err := db.lockWriter(ctx); err != nil {
		return err
	}
	db.mu.RLock()
	db.unlockWriter()
	return nil
}

package memory

import (
	"context"
	"errors"
	"sync"

	"github.com/stoa-go/stoa/resource/tx"
)

// DB holds collections that take part in the same transactions; see [Options].DB. It is their [tx.Runner].
//
// Transactions are exclusive: between the beginning of one and its end nobody else writes, so it never runs twice and
// never fails for a conflict. Others who want to write wait, and so do readers once the transaction has
// written something: they never see what may be taken back. Waiting ends with the context.
//
// Inside of a transaction pass on its context. A call with the context from outside waits for the end of the
// transaction, which may be waiting for the call.
type DB struct {
	// turn is held by whoever may write: for one write, or for a transaction. It is a channel because waiting for it
	// must end with a context.
	turn chan struct{}
	// mu guards the collections themselves and is never held while anybody else's code runs.
	mu sync.RWMutex
	// dirty is the open transaction, if it has written. Until it ends, only its own calls may read.
	dirty *txn
}

// NewDB returns a DB for collections to share.
func NewDB() *DB {
	return &DB{turn: make(chan struct{}, 1)}
}

// txn is an open transaction. Its fields are guarded by DB.mu, since nothing keeps fn from starting goroutines.
type txn struct {
	undo []func() // takes back each write, in the order of the writes
	over bool
}

// txnKey finds the transaction of one DB in a context.
type txnKey struct{ db *DB }

var errOver = errors.New("memory: the transaction of this context has ended")

// txn returns the transaction that ctx carries, or nil.
func (db *DB) txn(ctx context.Context) *txn {
	t, _ := ctx.Value(txnKey{db}).(*txn)
	return t
}

// InTx runs fn in a transaction, as [tx.Runner] says. It does not run fn twice. A call inside of a transaction of the
// same DB joins it.
func (db *DB) InTx(ctx context.Context, fn func(ctx context.Context) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if t := db.txn(ctx); t != nil {
		if db.ended(t) {
			return errOver
		}
		return fn(ctx)
	}
	if err := db.takeTurn(ctx); err != nil {
		return err
	}
	t := &txn{}
	// The value finds what to undo; the scope lets others see that there is a transaction, and wait for its commit.
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
	// All has been written already, so that the commit cannot fail, not even for a context that has ended.
	committed = true
	db.end(t, false)
	scope.Commit() // after the turn has been passed on: what waited for the commit may write
	return nil
}

func (db *DB) ended(t *txn) bool {
	db.mu.RLock()
	defer db.mu.RUnlock()
	return t.over
}

// end closes t, takes back its writes if asked to, and passes the turn on. The last write is taken back first, as each
// undo puts back what its own write found.
func (db *DB) end(t *txn, rollback bool) {
	db.mu.Lock()
	for i := len(t.undo) - 1; i >= 0 && rollback; i-- {
		t.undo[i]()
	}
	t.undo, t.over, db.dirty = nil, true, nil
	db.mu.Unlock()
	db.endTurn()
}

func (db *DB) takeTurn(ctx context.Context) error {
	select {
	case db.turn <- struct{}{}: // the usual case is cheaper alone
		return nil
	default:
	}
	select {
	case db.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (db *DB) endTurn() { <-db.turn }

// write calls change with everything locked: as part of the transaction that ctx carries, or else, with a nil txn, by
// itself. A change that fails has changed nothing.
func (db *DB) write(ctx context.Context, change func(*txn) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	t := db.txn(ctx)
	if t == nil {
		if err := db.takeTurn(ctx); err != nil {
			return err
		}
		defer db.endTurn()
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	if t == nil {
		return change(nil)
	}
	if t.over { // its caller believes that a rollback is still possible
		return errOver
	}
	err := change(t)
	// A refused write is nothing that others must not see.
	if len(t.undo) > 0 {
		db.dirty = t
	}
	return err
}

// startRead locks for reading. The caller unlocks db.mu. As long as no transaction is dirty this is all that reading
// costs; only then is the context searched for one.
func (db *DB) startRead(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	db.mu.RLock()
	if db.dirty == nil || db.dirty == db.txn(ctx) {
		return nil
	}
	db.mu.RUnlock()
	// Nothing is dirty while the turn is ours. Standing in line for it keeps one transaction after another from
	// overtaking this reader for ever.
	if err := db.takeTurn(ctx); err != nil {
		return err
	}
	db.mu.RLock()
	db.endTurn()
	return nil
}

package sqltx

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/stoa-go/stoa/resource/tx"
)

// ErrOutcomeUnknown is [tx.ErrOutcomeUnknown]: InTx returns it if the connection was lost while a transaction was being
// committed.
var ErrOutcomeUnknown = tx.ErrOutcomeUnknown

var errOver = errors.New("sqltx: the transaction of this context is over")

// InTx runs fn in a transaction, as [tx.Runner] says. A call inside of a transaction of the same DB joins it.
//
// If the engine reports a conflict with another transaction (40001, 40P01 or SQLITE_BUSY), fn is run again from the
// start, after a short random wait, until it succeeds, [Options].Attempts is reached or ctx ends. It does not matter
// whether fn returns the engine's error, another one, or none. An error that is no conflict is returned as it is.
// It is [tx.ErrUnavailable] as well if the database cannot be reached to begin, or if there were conflicts to the end, or if
// SQLite has waited for others for a second or more (PRAGMA busy_timeout) and did not get its turn.
//
// A ctx that ends before the commit rolls back. Once begun, a commit is not interrupted; if it fails so that its outcome
// is unknown, the error is [ErrOutcomeUnknown].
func (db *DB) InTx(ctx context.Context, fn func(ctx context.Context) error) error {
	if a := db.currentAttempt(ctx); a != nil {
		if a.over {
			return errOver
		}
		return fn(ctx)
	}
	wait := 2 * time.Millisecond
	for n := 1; ; n++ {
		again, err := db.try(ctx, fn)
		if !again {
			return err
		}
		if n >= db.attempts {
			return fmt.Errorf("%w: gave up after %d attempts: %w", tx.ErrUnavailable, n, err)
		}
		select {
		case <-time.After(rand.N(wait)):
		case <-ctx.Done():
			return fmt.Errorf("%w, while waiting after: %w", ctx.Err(), err)
		}
		wait = min(2*wait, 200*time.Millisecond)
	}
}

// attempt is one run of a function in one transaction. It is the [Conn] of its stores and belongs, like the [tx.Scope]
// beside it, to one goroutine.
type attempt struct {
	db         *DB
	session    session
	conflicted bool // a statement met a conflict, whatever has become of its error
	over       bool
}

// attemptKey finds the attempt of one DB in a context.
type attemptKey struct{ db *DB }

// currentAttempt returns the attempt that ctx carries, or nil.
func (db *DB) currentAttempt(ctx context.Context) *attempt {
	a, _ := ctx.Value(attemptKey{db}).(*attempt)
	return a
}

// try makes one attempt, and tells whether it failed so that another may succeed.
func (db *DB) try(ctx context.Context, fn func(context.Context) error) (again bool, err error) {
	a := &attempt{db: db}
	inner, scope := tx.Begin(ctx, db)
	inner = context.WithValue(inner, attemptKey{db}, a) // already here, since a Guard looks at who begins
	if a.session, err = db.begin(inner, a); err != nil {
		return db.notBegun(err)
	}
	rolledBack := true
	defer func() { // unless committed: an error, a panic or runtime.Goexit
		if a.rollbackSession(); rolledBack {
			scope.Rollback()
		}
	}()
	err = a.run(inner, fn)
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		err = a.commitSession()
		rolledBack = err != nil && !errors.Is(err, ErrOutcomeUnknown)
	}
	if err == nil {
		scope.Commit() // now that the connection is free: what waited for the commit may need it
		return false, nil
	}
	a.rollbackSession() // before the next attempt, which may need the connection
	conflicted := a.conflicted || db.dialect.Fault(err).Kind == Conflict
	return conflicted && !errors.Is(err, ErrOutcomeUnknown), err
}

// notBegun tells what an error of begin means. Some drivers find out only then that a connection has been lost.
func (db *DB) notBegun(err error) (again bool, _ error) {
	switch kind := db.dialect.Fault(err).Kind; {
	case kind == Conflict && !errors.Is(err, errWaited):
		return true, err
	case kind == Conflict, kind == Unavailable:
		return false, fmt.Errorf("%w: %w", tx.ErrUnavailable, err)
	}
	return false, err
}

// run calls fn, under watch in debug mode.
func (a *attempt) run(ctx context.Context, fn func(context.Context) error) error {
	if w := a.db.watch; w != nil {
		defer w.enter(a)()
	}
	return fn(ctx)
}

// commitSession marks the attempt as over even if it fails: then there is nothing left to roll back.
func (a *attempt) commitSession() error {
	a.over = true
	return a.note(a.session.Commit())
}

// rollbackSession does nothing for an attempt that is over. Its error would be of no use: a connection that cannot roll back is
// closed, and then the engine does.
func (a *attempt) rollbackSession() {
	if !a.over {
		a.over = true
		a.session.Rollback()
	}
}

// note remembers conflicts, because nothing obliges a store to hand on the error that it got.
func (a *attempt) note(err error) error {
	if err != nil && a.db.dialect.Fault(err).Kind == Conflict {
		a.conflicted = true
	}
	return err
}

// ExecContext is that of [Conn].
func (a *attempt) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if a.over {
		return nil, errOver
	}
	result, err := a.session.ExecContext(ctx, query, args...)
	return result, a.note(err)
}

// QueryContext is that of [Conn].
func (a *attempt) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if a.over {
		return nil, errOver
	}
	rows, err := a.session.QueryContext(ctx, query, args...)
	return rows, a.note(err)
}

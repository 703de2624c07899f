package sqltx

// InTx, which stores and the write path share through the context.

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/stoa-go/stoa/resource/internal/tally"
	"github.com/stoa-go/stoa/resource/tx"
)

// ErrOutcomeUnknown is [tx.ErrOutcomeUnknown]. InTx returns it if the connection was lost during a
// commit.
var ErrOutcomeUnknown = tx.ErrOutcomeUnknown

var errEnded = errors.New("sqltx: transaction of this context has ended")

// InTx runs fn in a transaction, as specified by [tx.Runner]. Inside a transaction of the same DB,
// it runs fn in that transaction.
//
// If the engine reports a conflict with another transaction (40001, 40P01 or SQLITE_BUSY) or, after a
// migration, "cached plan must not change result type", fn runs again after a short random delay,
// until it succeeds, [Options.Attempts] is reached or ctx is done. This does not depend on the error
// that fn returns. Other errors are returned unchanged. The error matches [tx.ErrUnavailable] if the
// database cannot be reached, if all attempts met conflicts, if commits wait for a standby, or if
// SQLite was locked for its busy_timeout of a second or more.
//
// If ctx is done before the commit, the transaction rolls back. A commit is not interrupted. If its
// outcome is unknown, the error is [ErrOutcomeUnknown].
//
// If fn ignores the error of a statement, such as a violated constraint, the transaction continues without
// the statement. PostgreSQL aborts such a transaction, so there fn runs again, with a savepoint before each
// statement.
func (db *DB) InTx(ctx context.Context, fn func(ctx context.Context) error) error {
	if a := db.currentAttempt(ctx); a != nil {
		if a.ended {
			return errEnded
		}
		return fn(ctx)
	}
	wait := 2 * time.Millisecond
	savepoints := false
	for n := 1; ; n++ {
		again, err := db.try(ctx, fn, savepoints)
		if !again {
			return err
		}
		if err == errAborted {
			savepoints = true
			continue
		}
		if n >= db.attempts {
			return fmt.Errorf("%w: conflict in each of %d attempts: %w", tx.ErrUnavailable, n, err)
		}
		tally.From(ctx).AddRetry()
		select {
		case <-time.After(rand.N(wait)):
		case <-ctx.Done():
			return fmt.Errorf("%w, while waiting after: %w", ctx.Err(), err)
		}
		wait = min(2*wait, 200*time.Millisecond)
	}
}

// Nested implements [tx.Nester] with a savepoint.
func (db *DB) Nested(ctx context.Context, fn func(ctx context.Context) error) error {
	a := db.currentAttempt(ctx)
	if a == nil {
		return db.InTx(ctx, fn)
	}
	if _, err := a.ExecContext(ctx, "SAVEPOINT stoa_nested"); err != nil {
		return a.commitError(err)
	}
	inner, scope := tx.Begin(ctx, db)
	done := false
	defer func() {
		if !done {
			// If this fails as well, the transaction cannot continue, and the caller gets the first error.
			_, _ = a.ExecContext(ctx, "ROLLBACK TO SAVEPOINT stoa_nested")
			_, _ = a.ExecContext(ctx, "RELEASE SAVEPOINT stoa_nested")
			scope.Rollback()
		}
	}()
	err := fn(inner)
	if err == nil {
		_, err = a.ExecContext(ctx, "RELEASE SAVEPOINT stoa_nested")
		err = a.commitError(err)
	}
	if err != nil {
		return err
	}
	done = true
	scope.Commit()
	return nil
}

// CheckNow implements [tx.Nester]. SQLite checks deferred constraints at the commit alone.
func (db *DB) CheckNow(ctx context.Context) (err error) {
	if db.dialect == PostgreSQL {
		_, err = db.Writer(ctx).ExecContext(ctx, "SET CONSTRAINTS ALL IMMEDIATE")
	}
	return err
}

// CommitClassifier is a store that gives an error of a commit its meaning; see [DB.ClassifyCommit].
type CommitClassifier interface {
	// CommitError returns an error that wraps err, a violation of a constraint that the database checks at
	// the commit, with its meaning, or nil if the constraint is not one of the store.
	CommitError(err error) error
}

// ClassifyCommit lets c classify the error of the commit, if ctx carries a transaction. A store calls it
// when it writes. Outside of transactions the error is that of the statement. c must be comparable.
func (db *DB) ClassifyCommit(ctx context.Context, c CommitClassifier) {
	if a := db.currentAttempt(ctx); a != nil && !slices.Contains(a.classifiers, c) {
		a.classifiers = append(a.classifiers, c)
	}
}

// attempt is one run of a function in one transaction. It is the [Conn] of its stores and belongs
// to one goroutine.
type attempt struct {
	db         *DB
	session    session
	vars       variables
	savepoints bool // each statement has a savepoint
	pointSet   bool // the last statement has one
	aborted    bool // the function continued after a statement that has aborted the transaction
	conflicted bool // a statement met a conflict, even if its error was ignored
	ended      bool
	// of the stores that have written; two are the usual maximum, without an allocation of their own
	classifiers []CommitClassifier
	first       [2]CommitClassifier
}

// attemptKey is the context key of the attempt of one DB.
type attemptKey struct{ db *DB }

// currentAttempt returns the attempt that ctx carries, or nil.
func (db *DB) currentAttempt(ctx context.Context) *attempt {
	a, _ := ctx.Value(attemptKey{db}).(*attempt)
	return a
}

// try makes one attempt, and reports whether another may succeed. If that needs savepoints, the error is
// errAborted.
func (db *DB) try(
	ctx context.Context, fn func(context.Context) error, savepoints bool,
) (again bool, err error) {
	vars, err := db.sessionVariables(ctx) // without an attempt in ctx, which has no session yet
	if err != nil {
		return false, err
	}
	a := &attempt{db: db, vars: vars, savepoints: savepoints}
	a.classifiers = a.first[:0]
	inner, scope := tx.Begin(ctx, db)
	inner = context.WithValue(inner, attemptKey{db}, a) // before begin, because a Guard checks it
	if a.session, err = db.beginSession(inner, a); err != nil {
		return db.notBegun(err)
	}
	rolledBack := true
	defer func() { // after an error, a panic or runtime.Goexit
		if a.rollbackSession(); rolledBack {
			scope.Rollback()
		}
	}()
	err = a.run(inner, fn)
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		err = a.commitError(a.endStatement(inner))
	}
	if err == nil && a.needsSavepoints() {
		err = errAborted
	}
	if err == nil {
		err = a.commitError(a.commitSession())
		rolledBack = err != nil && !errors.Is(err, ErrOutcomeUnknown)
	}
	if err == nil {
		scope.Commit() // after the connection was returned, because AfterCommit functions may need it
		return false, nil
	}
	a.rollbackSession() // before the next attempt, which may need the connection
	switch conflicted := a.conflicted || db.dialect.Fault(err).Kind == Conflict; {
	case errors.Is(err, ErrOutcomeUnknown):
		return false, err
	case a.needsSavepoints():
		return true, errAborted
	default:
		return conflicted, err
	}
}

// notBegun classifies an error of beginSession. Some drivers detect a lost connection only then.
func (db *DB) notBegun(err error) (again bool, _ error) {
	switch kind := db.dialect.Fault(err).Kind; {
	case kind == Conflict && !errors.Is(err, errBusyTimeout):
		return true, err
	case kind == Conflict, kind == Unavailable:
		return false, fmt.Errorf("%w: %w", tx.ErrUnavailable, err)
	}
	return false, err
}

// commitError classifies an error of a commit or of a savepoint. SQLite writes at the commit, so a full
// disk fails there. Stores classify the errors of statements, and violations of deferred constraints.
func (a *attempt) commitError(err error) error {
	switch kind := a.db.dialect.Fault(err).Kind; {
	case kind == Other, kind == Conflict, errors.Is(err, ErrOutcomeUnknown):
		return err
	case kind == Unavailable:
		return fmt.Errorf("%w: %w", tx.ErrUnavailable, err)
	}
	for _, c := range a.classifiers {
		if meaning := c.CommitError(err); meaning != nil {
			return meaning
		}
	}
	return err
}

// run calls fn, under watch in debug mode.
func (a *attempt) run(ctx context.Context, fn func(context.Context) error) error {
	if w := a.db.tracker; w != nil {
		defer w.enter(a)()
	}
	return fn(ctx)
}

// commitSession marks the attempt as over even if it fails, because it cannot be rolled back then.
func (a *attempt) commitSession() error {
	a.ended = true
	return a.note(a.session.Commit())
}

// rollbackSession rolls back unless the attempt is over. Its error is ignored: the connection is
// then closed, and the engine rolls back.
func (a *attempt) rollbackSession() {
	if !a.ended {
		a.ended = true
		a.session.Rollback()
	}
}

// note records conflicts, because a store may not return the error that it got.
func (a *attempt) note(err error) error {
	if err == nil {
		return nil
	}
	if a.db.dialect.Fault(err).Kind == Conflict {
		a.conflicted = true
	}
	if a.db.dialect == PostgreSQL {
		a.aborted = a.aborted || sqlState(err) == stateAborted || rolledBack(err)
		return explainPooler(err)
	}
	return err
}

// ExecContext implements [Conn].
func (a *attempt) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if err := a.beginStatement(ctx, query); err != nil {
		return nil, err
	}
	result, err := a.session.ExecContext(ctx, query, args...)
	return result, a.note(err)
}

// QueryContext implements [Conn].
func (a *attempt) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if err := a.beginStatement(ctx, query); err != nil {
		return nil, err
	}
	rows, err := a.session.QueryContext(ctx, query, args...)
	return rows, a.note(err)
}

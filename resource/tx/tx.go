// Package tx carries a database transaction in a context, independent of the database.
//
// A [Runner] runs a function inside a transaction. Stores with transactions implement it. To make
// several writes atomic, call InTx and pass the context that it provides to each write:
//
//	err := runner.InTx(ctx, func(ctx context.Context) error {
//		if _, err := orders.Create(ctx, order); err != nil {
//			return err // everything is rolled back
//		}
//		tx.AfterCommit(ctx, func() { metrics.Orders.Add(1) })
//		return nil
//	})
//
// Applications need only InTx, [AfterCommit], [AfterRollback] and [Active]. An implementation of
// Runner creates a [Scope] with [Begin] for each attempt, and ends it with [Scope.Commit] or
// [Scope.Rollback].
package tx

import (
	"context"
	"errors"
	"slices"
)

// ErrUnavailable means that no transaction took place: it could not begin, or it was rolled back
// because of too many conflicts. No write was made, and a retry may succeed. A [Runner] returns
// errors that wrap ErrUnavailable.
var ErrUnavailable = errors.New("tx: transaction unavailable")

// ErrOutcomeUnknown means that a transaction or a single statement may or may not have been
// committed, because the connection was lost before the database confirmed it. Only reading the
// data shows the outcome. A [Runner] does not retry after this error, because that could repeat the
// writes.
var ErrOutcomeUnknown = errors.New("tx: outcome unknown")

// Runner runs functions inside a transaction.
//
// InTx begins a transaction and calls fn with a context that carries it. It commits if fn returns
// nil, and otherwise rolls back and returns the error of fn. If fn panics, InTx rolls back and
// panics with the same value. If ctx already carries a transaction of an equal Runner, InTx joins
// it: fn runs inside that transaction, and the outermost call commits.
//
// If a transaction cannot begin because the database is unreachable, the error wraps
// [ErrUnavailable], so that servers can respond with 503 instead of 500.
//
// An implementation may call fn again if the database reports a conflict, or if fn ignores an error
// that has aborted the transaction. Therefore fn must not have effects that a rollback does not undo;
// use [AfterCommit] for them.
//
// Runners are compared with ==. Collections with equal Runners share a database, and their writes
// can be in one transaction.
//
// InTx must be safe for concurrent use.
type Runner interface {
	InTx(ctx context.Context, fn func(ctx context.Context) error) error
}

// Nester is a [Runner] with savepoints. An import that is all or nothing uses them to go on after a
// line that the store refuses.
type Nester interface {
	Runner
	// Nested calls fn in the transaction of ctx. If fn fails, its writes are undone, its functions of
	// [AfterCommit] are dropped, and the transaction can continue. Without a transaction in ctx it is InTx.
	Nested(ctx context.Context, fn func(ctx context.Context) error) error
	// CheckNow makes each statement of the transaction of ctx check the constraints that the database
	// would check at the commit, as far as it can.
	CheckNow(ctx context.Context) error
}

// Scope is one attempt at a transaction. It has the Runner of the transaction and the functions to
// call after its end. It is not safe for concurrent use; only the goroutine that runs the
// transaction may use it.
type Scope struct {
	runner Runner
	outer  *Scope          // of the enclosing transaction of another Runner, or nil
	parent context.Context // the argument of Begin, for Without
	after  []func()        // of AfterCommit
	undo   []func()        // of AfterRollback
}

// scopeKey is the context key of the innermost Scope.
type scopeKey struct{}

// Begin returns a Scope for an attempt of r, and a context that carries it. Implementations of
// [Runner] call it once per attempt, so that the functions registered in a failed attempt are
// dropped with its Scope. A Runner that joins the transaction of ctx does not call Begin.
func Begin(ctx context.Context, r Runner) (context.Context, *Scope) {
	outer, _ := ctx.Value(scopeKey{}).(*Scope)
	s := &Scope{runner: r, outer: outer, parent: ctx}
	return context.WithValue(ctx, scopeKey{}, s), s
}

// Commit ends the scope after the attempt has been committed, and calls the functions registered
// with [AfterCommit], in order of registration. If the transaction was begun inside a transaction
// of another Runner, the functions are called after that one commits, because it can still fail.
//
// A panic in one function does not prevent the calls of the others. Commit panics with the same
// value after all of them have been called.
func (s *Scope) Commit() {
	if s.outer != nil {
		s.outer.after = append(s.outer.after, s.after...)
		s.outer.undo = append(s.outer.undo, s.undo...)
		return
	}
	runAll(s.after)
}

// runAll calls all functions, even if one of them panics or calls runtime.Goexit.
func runAll(fns []func()) {
	next := 0
	defer func() {
		if next < len(fns) {
			runAll(fns[next:])
		}
	}()
	for next < len(fns) {
		next++
		fns[next-1]()
	}
}

// Rollback ends the scope after the attempt has been rolled back or could not be committed, and
// calls the functions registered with [AfterRollback] in reverse order. If the outcome is unknown
// ([ErrOutcomeUnknown]), the Runner calls neither Commit nor Rollback.
func (s *Scope) Rollback() {
	for _, fn := range slices.Backward(s.undo) {
		fn()
	}
	s.undo = nil
}

// AfterCommit calls fn after the outermost transaction in ctx has been committed. If it is rolled
// back, fn is not called. If ctx carries no transaction, AfterCommit calls fn immediately. fn runs
// on the goroutine that commits, and should return quickly.
func AfterCommit(ctx context.Context, fn func()) {
	if s, ok := ctx.Value(scopeKey{}).(*Scope); ok {
		s.after = append(s.after, fn)
		return
	}
	fn()
}

// AfterRollback calls fn after the outermost transaction in ctx has been rolled back. If it is
// committed, if the outcome is unknown, or if ctx carries no transaction, fn is not called. Use it
// to undo changes that must be made before the commit and that the database does not roll back,
// such as an entry in memory. fn runs on the goroutine of the transaction, after its end, and
// should return quickly. It requires a Runner that calls [Scope.Rollback].
func AfterRollback(ctx context.Context, fn func()) {
	if s, ok := ctx.Value(scopeKey{}).(*Scope); ok {
		s.undo = append(s.undo, fn)
	}
}

// Active reports whether ctx carries a transaction.
func Active(ctx context.Context) bool {
	_, ok := ctx.Value(scopeKey{}).(*Scope)
	return ok
}

// ActiveFor reports whether ctx carries a transaction of a Runner equal to r. It finds enclosing
// transactions too.
func ActiveFor(ctx context.Context, r Runner) bool {
	s, _ := ctx.Value(scopeKey{}).(*Scope)
	for ; s != nil; s = s.outer {
		if s.runner == r {
			return true
		}
	}
	return false
}

// Without returns the context in which the outermost transaction in ctx was begun, or ctx if it
// carries no transaction. A function registered with [AfterCommit] runs when the transaction is
// over, so it needs this context for its own writes.
func Without(ctx context.Context) context.Context {
	s, ok := ctx.Value(scopeKey{}).(*Scope)
	if !ok {
		return ctx
	}
	for s.outer != nil {
		s = s.outer
	}
	return s.parent
}

// Package tx carries a transaction in a context, whatever the engine.
//
// Its nouns are a [Runner], which runs a function inside one transaction, and a [Scope], which is one attempt at that
// transaction. A store that has transactions implements Runner and hands it out; whoever wants several writes to stand
// or fall together calls InTx and passes the context it is given to every call that shall take part:
//
//	err := runner.InTx(ctx, func(ctx context.Context) error {
//		if _, err := orders.Create(ctx, order); err != nil {
//			return err // everything is rolled back
//		}
//		tx.AfterCommit(ctx, func() { metrics.Orders.Add(1) })
//		return nil
//	})
//
// The package knows no database. An implementer of Runner brackets each attempt with [Begin] and [Scope.Commit] or [Scope.Rollback]; all
// others need only InTx, [AfterCommit] and [Active].
package tx

import (
	"context"
	"errors"
	"slices"
)

// ErrUnavailable says that there was no transaction: it could not be begun, or lost against others too often. Nothing of
// it has happened, and the same may succeed later. A [Runner] returns errors that match it.
var ErrUnavailable = errors.New("tx: no transaction at the moment")

// ErrOutcomeUnknown says that something may have been done, or not: the connection was lost while a transaction was being
// committed, or while a statement was being carried out by itself. Only reading the data tells. A [Runner] does not run its
// function again then, as that could do everything twice.
var ErrOutcomeUnknown = errors.New("tx: it is not known whether this was done")

// Runner runs functions inside a transaction.
//
// InTx begins a transaction, calls fn with a context that carries it, and commits if fn returns nil, else rolls back
// and returns fn's error. A panic in fn rolls back and goes on. A call with a context that already carries a
// transaction of an equal Runner joins it: nothing commits before the outermost call does.
//
// Where the engine cannot be reached to begin one, the error matches [ErrUnavailable], so that whoever serves the data can
// tell that from a fault.
//
// An implementation may run fn more than once when the engine reports a conflict, so fn must not do anything that a
// rollback cannot undo; such work belongs in [AfterCommit].
//
// Runners are compared with ==. Two collections whose Runners are equal share a database and can take part in one
// transaction.
type Runner interface {
	InTx(ctx context.Context, fn func(ctx context.Context) error) error
}

// Scope is one attempt at one transaction: it knows its Runner and what waits for the commit.
// A Scope belongs to the goroutine that runs the transaction and is not safe for concurrent use.
type Scope struct {
	runner  Runner
	outer   *Scope
	outside context.Context // what Begin was given, for Outside: it has no other life than the Scope
	after   []func()
	undo    []func()
}

type scopeKey struct{}

// Begin opens a Scope for an attempt of r and returns a context that carries it. It is for implementers of [Runner],
// who call it once for each attempt, so that whatever an abandoned attempt asked for is forgotten with it. A Runner
// that joins a transaction which ctx already carries does not call Begin.
func Begin(ctx context.Context, r Runner) (context.Context, *Scope) {
	outer, _ := ctx.Value(scopeKey{}).(*Scope)
	s := &Scope{runner: r, outer: outer, outside: ctx}
	return context.WithValue(ctx, scopeKey{}, s), s
}

// Commit says that the attempt has been committed. The functions given to [AfterCommit] run, in the order given; where
// this transaction was begun inside one of another Runner, they wait for that one instead, so that nothing is announced
// which an enclosing failure may still take back.
//
// A function that panics keeps none of the others from running; the panic goes on when all have.
func (s *Scope) Commit() {
	if s.outer != nil {
		s.outer.after = append(s.outer.after, s.after...)
		s.outer.undo = append(s.outer.undo, s.undo...)
		return
	}
	runAll(s.after)
}

// runAll calls functions of which none knows of the others: what one of them does not do is no reason to forget the rest.
func runAll(fns []func()) {
	next := 0
	defer func() {
		if next < len(fns) { // a panic, or runtime.Goexit
			runAll(fns[next:])
		}
	}()
	for next < len(fns) {
		next++
		fns[next-1]()
	}
}

// Rollback says that the attempt has been rolled back, or was never committed. The functions given to [AfterRollback] run,
// the last one first, as each takes back what it found. Where nobody knows whether it was committed ([ErrOutcomeUnknown])
// neither Commit nor Rollback is called.
func (s *Scope) Rollback() {
	for _, fn := range slices.Backward(s.undo) {
		fn()
	}
	s.undo = nil
}

// AfterCommit calls fn once the outermost transaction that ctx carries has been committed, and never if it is rolled
// back. Without a transaction it calls fn at once. fn runs on the goroutine that commits and should be short.
func AfterCommit(ctx context.Context, fn func()) {
	if s, ok := ctx.Value(scopeKey{}).(*Scope); ok {
		s.after = append(s.after, fn)
		return
	}
	fn()
}

// AfterRollback calls fn if the outermost transaction that ctx carries is rolled back, and never otherwise: not where it is
// committed, not where that is unknown, and not without a transaction. It is for what has to be changed before the commit
// though no database takes it back, such as an entry in memory. fn runs on the goroutine of the transaction, after its end,
// and should be short. A Runner that does not call [Scope.Rollback] never calls it.
func AfterRollback(ctx context.Context, fn func()) {
	if s, ok := ctx.Value(scopeKey{}).(*Scope); ok {
		s.undo = append(s.undo, fn)
	}
}

// Active reports whether ctx carries a transaction of any Runner.
func Active(ctx context.Context) bool {
	_, ok := ctx.Value(scopeKey{}).(*Scope)
	return ok
}

// ActiveFor reports whether ctx carries a transaction of a Runner equal to r, innermost or enclosing.
func ActiveFor(ctx context.Context, r Runner) bool {
	s, _ := ctx.Value(scopeKey{}).(*Scope)
	for ; s != nil; s = s.outer {
		if s.runner == r {
			return true
		}
	}
	return false
}

// Without returns the context in which the outermost transaction that ctx carries was begun, and ctx itself if it carries
// none. What is given to [AfterCommit] runs when the transaction is over, so where it writes it needs a context without.
func Without(ctx context.Context) context.Context {
	s, ok := ctx.Value(scopeKey{}).(*Scope)
	if !ok {
		return ctx
	}
	for s.outer != nil {
		s = s.outer
	}
	return s.outside
}

package feedtest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/tx"
)

var errUndo = errors.New("roll back")

// txCases tests events that are appended in transactions: visibility, order and rollback.
func txCases() []testCase {
	return []testCase{
		{
			// The events describe changes that did not happen. Both ends of a transaction are
			// tested, because a log that registers a function for the error path may miss the
			// panic.
			name:  "rollback",
			needs: transactions,
			contract: "Events of a transaction that is rolled back, by an error or by a panic, do not " +
				"exist, and the log continues after them.",
			try: func(k *kit) {
				start := k.head()
				k.append("a")
				k.undone(func(ctx context.Context) {
					k.must(k.log.Append(ctx, k.event("x", "1"), k.event("y", "1")),
						"Append in the transaction")
				})
				got := k.tail(k.log, start, 1)
				k.wantItems("a", got, "Tail after transactions that were rolled back")
				k.append("b")
				got = append(got, k.tail(k.log, got[len(got)-1].Cursor, 1)...)
				k.wantItems("a b", got, "Tail around transactions that were rolled back")
				k.wantItems("a b", k.tail(k.log, start, 2), "Tail from the start")
			},
		},
		{
			// A subscriber that receives an event reads the item next. Before the commit it would
			// read the old item, and it would not be notified again.
			name:  "commit",
			needs: transactions,
			contract: "Events of a transaction become visible when it commits, not before, together, and " +
				"in the order of their Append calls.",
			try: func(k *kit) {
				start := k.head()
				k.must(runnerOf(k.log).InTx(k.ctx, func(ctx context.Context) error {
					k.must(k.log.Append(ctx, k.event("a", "1")), "Append in the transaction")
					k.must(k.log.Append(ctx, k.event("b", "1"), k.event("c", "1")),
						"Append in the transaction")
					k.unseen(start)
					return nil
				}), "InTx")
				k.wantItems("a b c", k.tail(k.log, start, 3), "Tail after the commit")
			},
		},
		{
			// A log that appends in AfterCommit passes every other case and fails this one: the
			// functions of two transactions may run in either order.
			name:  "order of commits",
			needs: transactions,
			contract: "Events of one item are in the order in which its changes were committed, also if " +
				"the next change follows before the AfterCommit functions of the first have run.",
			try: tryCommitOrder,
		},
		{
			// The slow transaction takes its number first and commits last. Tail must end before
			// the number until the transaction has ended.
			name:  "slow commit",
			needs: transactions,
			contract: "Tail does not return a position after an event of an open transaction: a reader " +
				"that continues from the last position gets the event when it commits.",
			try: func(k *kit) { k.trySlow(nil, "slow fast late") },
		},
		{
			// Some logs wait for a gap in the numbers to be filled. After a rollback that never
			// happens, and all later events would be withheld.
			name:     "slow rollback",
			needs:    transactions,
			contract: "A rolled back transaction does not hold back the events after it.",
			try:      func(k *kit) { k.trySlow(errUndo, "fast late") },
		},
	}
}

// undone calls fn in two transactions: one is rolled back by an error, one by a panic.
func (k *kit) undone(fn func(ctx context.Context)) {
	for _, end := range []func() error{func() error { return errUndo }, func() error { panic(errUndo) }} {
		func() {
			defer func() {
				if p := recover(); p != nil && p != any(errUndo) {
					panic(p)
				}
			}()
			err := runnerOf(k.log).InTx(k.ctx, func(ctx context.Context) error {
				fn(ctx)
				return end()
			})
			if !errors.Is(err, errUndo) {
				k.errorf("InTx returned %v, want the error of its function", err)
			}
		}()
	}
}

// unseen records a failure if there is an event after at. An engine that does not allow reads
// during a transaction has no result to check.
func (k *kit) unseen(at feed.Cursor) {
	ctx, cancel := context.WithTimeout(k.ctx, k.Patience/50)
	defer cancel()
	if events, _, err := k.tailOutside(ctx, at); err == nil && len(events) > 0 {
		k.errorf("Tail outside of the open transaction: events [%s], want none before the commit",
			items(events))
	}
}

// tailOutside calls Tail in a goroutine that is not in the transaction.
func (k *kit) tailOutside(ctx context.Context,
	at feed.Cursor) (events []*feed.Event, next feed.Cursor, err error) {
	var wg sync.WaitGroup
	wg.Go(func() { events, next, err = k.log.Tail(ctx, at, 10) })
	wg.Wait()
	return events, next, err
}

// trySlow appends in a transaction, and before it ends begins, appends and commits in another. If
// the engine does not allow concurrent writers, the second follows the first. Readers poll during
// the overlap, because the fault is a position that Tail has returned too early. After the end it
// is too late to detect it.
func (k *kit) trySlow(end error, want string) {
	start := k.head()
	runner := runnerOf(k.log)
	at := start
	var got []*feed.Event
	concurrent := false
	const early, late = "1", "2" // revisions, which distinguish the attempts
	fast := func(ctx context.Context, rev string) error {
		return runner.InTx(ctx,
			func(ctx context.Context) error { return k.log.Append(ctx, k.event("fast", rev)) })
	}
	err := runner.InTx(k.ctx, func(ctx context.Context) error {
		k.must(k.log.Append(ctx, k.event("slow", "1")), "Append in the slow transaction")
		done := make(chan error, 1)
		timed, cancel := context.WithTimeout(k.ctx, k.Patience/50)
		defer cancel()
		go func() { done <- fast(timed, early) }()
		if concurrent = <-done == nil; concurrent {
			for range 5 {
				events, next, err := k.tailOutside(timed, at)
				if err != nil {
					break // the engine does not allow reads during the transaction
				}
				got, at = append(got, events...), next
				time.Sleep(time.Millisecond)
			}
		}
		return end
	})
	if !errors.Is(err, end) {
		k.errorf("InTx returned %v, want %v", err, end)
	}
	if !concurrent {
		k.must(fast(k.ctx, late), "the second transaction")
	}
	k.append("late")
	got = append(got, k.tailUntil(k.log, at, about("late"))...)
	if !concurrent { // the first attempt may have committed although its context expired
		got = slices.DeleteFunc(got, func(e *feed.Event) bool { return e.ID == "fast" && e.Rev == early })
	}
	k.wantItems(want, got, "Tail during and after the slow transaction")
}

// tryCommitOrder appends in two transactions, the second of which begins in an AfterCommit
// function of the first.
func tryCommitOrder(k *kit) {
	start := k.head()
	runner := runnerOf(k.log)
	k.must(runner.InTx(k.ctx, func(ctx context.Context) error {
		// This runs before the functions that Append registers, like another goroutine
		// that is faster.
		tx.AfterCommit(ctx, func() {
			k.must(runner.InTx(k.ctx, func(ctx context.Context) error {
				return k.log.Append(ctx, k.event("second", "2"))
			}), "InTx after the commit")
		})
		return k.log.Append(ctx, k.event("first", "1"))
	}), "InTx")
	k.wantItems("first second", k.tail(k.log, start, 2), "Tail after both commits")
}

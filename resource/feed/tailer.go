package feed

// The goroutine that copies new events from the log to the ring, for all subscribers.

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"time"

	"github.com/stoa-go/stoa/resource/internal/pace"
)

const (
	// tailMax is how many events tailLoop reads at a time.
	tailMax = 512
	// maxBackoff is the longest delay after a failure of the log.
	maxBackoff = 5 * time.Second
	// purgeMax is how many events are purged at a time, to keep transactions of the log short.
	purgeMax = 1000
)

// tailLoop copies new events from the log to the ring until the Feed is closed.
func (f *Feed) tailLoop() {
	if u, ok := f.log.(*watchLog); ok {
		defer u.stop()
	}
	wake := f.log.Wake()
	failures := 0
	for f.ctx.Err() == nil {
		more, err := f.tailOnce()
		switch {
		case f.ctx.Err() != nil:
			return
		case err != nil:
			failures++
			f.failures.Store(int64(failures))
			f.opts.Logger.Warn("feed: reading the log failed; retrying", "error", err, "failures", failures)
			f.backOff(failures)
			continue
		case failures > 0:
			f.opts.Logger.Info("feed: reading the log succeeded again", "failures", failures)
			failures = 0
			f.failures.Store(0)
		}
		f.lastRead.Store(time.Now().UnixNano())
		if more {
			continue
		}
		poll := time.NewTimer(f.opts.PollInterval)
		select {
		case <-wake:
		case <-f.wake:
		case <-poll.C:
		case <-f.ctx.Done():
		}
		poll.Stop()
	}
}

// tailOnce copies one batch and reports whether there may be more.
func (f *Feed) tailOnce() (more bool, err error) {
	defer recoverPanic(&err)
	from := f.position.Load()
	if from == nil {
		return true, f.restart()
	}
	ctx, cancel := f.withReadTimeout(f.ctx)
	events, end, err := f.log.Tail(ctx, *from, tailMax)
	cancel()
	if errors.Is(err, ErrExpired) {
		// All subscribers have to start again: this process may have delivered events that a
		// restored backup has lost.
		f.opts.Logger.Warn("feed: the log cannot continue from its last position; cursors may have expired",
			"error", err)
		if f.expired++; f.expired > 1 {
			// avoids a busy loop if the log rejects the position that it returned last
			f.backOff(f.expired - 1)
		}
		return true, f.restart()
	}
	if err != nil {
		return false, err
	}
	if err := checkOrder(events, *from, end); err != nil {
		return false, err
	}
	f.expired = 0
	if end != *from {
		f.publish(events, end)
	}
	return isFullPage(events, tailMax), nil
}

// errInvalidLog reports that a log violates the contract of [Log].
var errInvalidLog = errors.New("feed: invalid result of the log")

// checkOrder checks that events are in order and after a position. Otherwise subscribers could
// receive events twice or miss some.
func checkOrder(events []*Event, at, end Cursor) error {
	for _, e := range events {
		if e == nil || e.Cursor.Epoch != at.Epoch || e.Cursor.Seq <= at.Seq {
			return fmt.Errorf("%w: Tail returned an event out of order after %v", errInvalidLog, at)
		}
		at = e.Cursor
	}
	if len(events) > 0 && end != at {
		return fmt.Errorf("%w: Tail returned the end %[3]v after an event with cursor %[2]v", errInvalidLog,
			at, end)
	}
	return nil
}

// recoverPanic converts a panic of the log to an error, because the goroutine serves all
// subscribers.
func recoverPanic(err *error) {
	if v := recover(); v != nil {
		*err = fmt.Errorf("%w: panic: %v\n%s", errInvalidLog, v, debug.Stack())
	}
}

// withReadTimeout applies [Options.ReadTimeout]. It does not apply to a [Watcher], which streams as
// long as it has subscribers.
func (f *Feed) withReadTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := f.log.(*watchLog); ok || f.opts.ReadTimeout < 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, f.opts.ReadTimeout)
}

// isFullPage reports whether a page was cut by max or PageBytes, so that there may be more events.
func isFullPage(events []*Event, most int) bool {
	bytes := 0
	for _, e := range events {
		bytes += len(e.Before) + len(e.After)
	}
	return len(events) >= most || bytes >= PageBytes
}

// restart restarts the ring at the head of the log.
func (f *Feed) restart() error {
	ctx, cancel := f.withReadTimeout(f.ctx)
	defer cancel()
	head, err := f.log.Head(ctx)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ring.reset(head)
	f.setEnd(head)
	return nil
}

// publish adds events to the ring and wakes the subscribers of their collections.
func (f *Feed) publish(events []*Event, end Cursor) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ring.add(events, end)
	f.setEnd(end)
	// Wake each collection once, independent of its number of events.
	woken := make([]*eventList, 0, 8)
	for _, e := range events {
		if c := f.ring.list(e.Collection); !slices.Contains(woken, c) {
			woken = append(woken, c)
			c.wakeSubscribers()
		}
	}
}

// setEnd records the new end of the ring.
func (f *Feed) setEnd(end Cursor) {
	f.position.Store(&end)
	if f.moved != nil {
		close(f.moved)
		f.moved = nil
	}
}

// backOff waits after a failure. The delay doubles with each failure and is random between half of
// it and all of it.
func (f *Feed) backOff(failures int) {
	most := maxBackoff
	if doublings := failures - 1; doublings < 10 {
		most = min(f.opts.PollInterval<<doublings, max(maxBackoff, f.opts.PollInterval))
	}
	f.sleep(most/2 + rand.N(most/2+1))
}

// sleep waits for d or until Close. It returns false after Close.
func (f *Feed) sleep(d time.Duration) bool { return pace.Pause(f.ctx, d) == nil }

// purgeLoop applies [Options.Retention] and [Options.MaxEvents] about once a minute, at random
// intervals because several processes may share the log.
func (f *Feed) purgeLoop() {
	pause := time.Minute
	if f.opts.Retention > 0 {
		pause = min(max(f.opts.Retention/100, time.Second), pause)
	}
	for f.sleep(pause/2 + rand.N(pause)) {
		var before time.Time // the zero time disables the limit
		if f.opts.Retention > 0 {
			before = time.Now().Add(-f.opts.Retention)
		}
		for more := true; more; {
			n, err := f.purgeOnce(before)
			if err != nil && f.ctx.Err() == nil {
				f.opts.Logger.Warn("feed: purging the log failed", "error", err)
			}
			more = err == nil && n >= purgeMax
		}
	}
}

func (f *Feed) purgeOnce(before time.Time) (n int, err error) {
	defer recoverPanic(&err)
	ctx, cancel := f.withReadTimeout(f.ctx)
	defer cancel()
	return f.log.Purge(ctx, before, f.opts.MaxEvents, purgeMax)
}

// readLog reads the log for a subscriber. It waits if [Options.MaxReads] others are reading.
func (f *Feed) readLog(ctx context.Context, after, until Cursor, max int) ([]*Event, error) {
	select {
	case f.reads <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-f.ctx.Done():
		return nil, ErrClosed
	}
	defer func() { <-f.reads }()
	if f.ctx.Err() != nil { // select may have chosen reads although the Feed is closed
		return nil, ErrClosed
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(f.ctx, cancel)()
	ctx, enough := f.withReadTimeout(ctx)
	defer enough()
	events, err := f.log.Read(ctx, after, until, max)
	if err != nil && f.ctx.Err() != nil {
		return nil, ErrClosed
	}
	return events, err
}

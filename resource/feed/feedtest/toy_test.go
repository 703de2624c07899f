package feedtest_test

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/tx"
)

// toy is a log in a table: numbers are assigned when rows are inserted, and rows become visible at
// commit. Its faults are common faults of outbox tables.
type toy struct {
	*table
	faults toyFaults
	copies bool // another process: has its own faults
}

type toyFaults struct {
	passes     bool // Tail returns the rows it sees with seq > last
	byEnd      bool // orders by the end of transactions
	holds      bool // waits for numbers that were rolled back
	unmarked   bool // identifies a position by its number only
	skips      bool // skips purged events
	looks      bool // checks a position and reads after it, without a transaction
	all        bool // purges the newest event
	hasty      bool // purges visible events after open positions
	renumbered bool // each process has its own epoch
	trusting   bool // events after one with a time ahead of the clock are not purged
}

type table struct {
	runner tx.Runner
	mu     sync.Mutex
	epoch  uint64
	seq    uint64
	purged feed.Cursor // the newest purged event
	rows   []*row
}

type row struct {
	event     *feed.Event
	committed bool
	dead      bool
}

func newToy(f toyFaults) *toy {
	t := &table{runner: &atOnce{}, epoch: rand.Uint64()>>1 + 1, seq: 10}
	t.purged = feed.Cursor{Epoch: t.epoch, Seq: t.seq, Mark: rand.Uint64()}
	return &toy{table: t, faults: f}
}

func (l *toy) Transactions() tx.Runner { return l.runner }
func (l *toy) Wake() <-chan struct{}   { return nil }

func (l *toy) Append(ctx context.Context, events ...*feed.Event) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, e := range events {
		l.seq++
		r := &row{event: copied(e)}
		if r.event.Time.IsZero() {
			r.event.Time = time.Now()
		}
		r.event.Cursor = feed.Cursor{Epoch: l.epoch, Seq: l.seq, Mark: rand.Uint64()}
		l.rows = append(l.rows, r)
		if !tx.Active(ctx) {
			r.committed = true
			continue
		}
		tx.AfterRollback(ctx, func() { l.end(r, false) })
		tx.AfterCommit(ctx, func() { l.end(r, true) })
	}
	return nil
}

func (l *toy) end(r *row, committed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r.committed, r.dead = committed, !committed
	if committed && l.faults.byEnd {
		l.seq++
		r.event.Cursor.Seq = l.seq
		slices.SortFunc(l.rows,
			func(a, b *row) int { return cmp.Compare(a.event.Cursor.Seq, b.event.Cursor.Seq) })
	}
}

func (l *toy) Head(ctx context.Context) (feed.Cursor, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	head := l.purged
	for _, r := range l.seen() {
		head = r.event.Cursor
	}
	return l.own(head), ctx.Err()
}

// own returns a cursor with the epoch of this process.
func (l *toy) own(c feed.Cursor) feed.Cursor {
	if l.faults.renumbered && l.copies {
		c.Epoch++
	}
	return c
}

// seen returns the rows that Tail may return.
func (l *toy) seen() (rows []*row) {
	for _, r := range l.rows {
		switch {
		case r.committed:
			rows = append(rows, r)
		case r.dead && !l.faults.holds:
		case !l.faults.passes:
			return rows
		}
	}
	return rows
}

func (l *toy) Tail(ctx context.Context, after feed.Cursor, max int) ([]*feed.Event, feed.Cursor, error) {
	events, err := l.Read(ctx, after, feed.Cursor{Epoch: after.Epoch, Seq: 1 << 40}, max)
	if err != nil {
		return nil, feed.Cursor{}, err
	}
	if n := len(events); n > 0 {
		after = events[n-1].Cursor
	}
	return events, after, nil
}

func (l *toy) Read(ctx context.Context, after, until feed.Cursor, max int) (events []*feed.Event, _ error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.knows(after) {
		return nil, feed.ErrExpired
	}
	if l.faults.looks { // in a bubble, a purge of 6 ms ends before this does
		l.mu.Unlock()
		time.Sleep(10 * time.Millisecond)
		l.mu.Lock()
	}
	for _, r := range l.seen() {
		if c := r.event.Cursor; c.Seq > after.Seq && c.Seq <= until.Seq && len(events) < max {
			e := copied(r.event)
			e.Cursor = l.own(c)
			events = append(events, e)
		}
	}
	return events, ctx.Err()
}

func (l *toy) knows(c feed.Cursor) bool {
	same := func(place feed.Cursor) bool {
		return c == l.own(place) || l.faults.unmarked && c.Seq == place.Seq && c.Epoch == place.Epoch
	}
	return same(l.purged) ||
		slices.ContainsFunc(l.rows, func(r *row) bool { return r.committed && same(r.event.Cursor) }) ||
		l.faults.skips && c.Epoch == l.epoch && c.Seq < l.purged.Seq
}

func (l *toy) Purge(ctx context.Context, before time.Time, keep, max int) (n int, _ error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	rows := l.seen()
	if l.faults.hasty {
		rows = slices.DeleteFunc(slices.Clone(l.rows), func(r *row) bool { return !r.committed })
	}
	surplus := 0
	if keep > 0 {
		surplus = len(rows) - keep
	}
	if len(rows) > 0 && !l.faults.all {
		rows = rows[:len(rows)-1]
	}
	last, now := 0, time.Now()
	for i, r := range rows {
		if i < surplus || r.event.Time.Before(before) {
			last = i + 1
		} else if !r.event.Time.After(now) || l.faults.trusting {
			break
		}
	}
	for _, r := range rows[:min(last, max)] {
		if ctx.Err() != nil {
			break
		}
		n++
		l.rows = slices.DeleteFunc(l.rows, func(old *row) bool { return old == r })
		if l.purged = r.event.Cursor; l.faults.all {
			l.purged.Mark++ // the mark is lost with the row
		}
	}
	return n, ctx.Err()
}

// another returns the same table for another process.
func another(_ *testing.T, log feed.Log) feed.Log {
	l := log.(*toy)
	return &toy{table: l.table, faults: l.faults, copies: true}
}

// backup copies the table while no writer is active.
func backup(_ *testing.T, log feed.Log) func(*testing.T) feed.Log {
	l := log.(*toy)
	old := &table{runner: l.runner, epoch: l.epoch, seq: l.seq, purged: l.purged, rows: slices.Clone(l.rows)}
	return func(*testing.T) feed.Log { return &toy{table: old, faults: l.faults} }
}

package sqltable

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"time"

	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/sqltx"
)

// PostgreSQL gives numbers out before it is known whether, and when, their transactions commit. So a number that is missing
// may turn up: whoever goes on behind it loses an event. But every transaction that has taken a number below one that is seen
// had a number of its own by then, which is below that of a transaction that begins now, the horizon. Once all transactions
// before the horizon have ended, what is still missing was rolled back.
//
// The horizon is of all that write to the server, whatever they write. So where nothing is missing, nobody waits for it: below
// the newest number that is seen, all belong to what is committed, and a transaction that runs, or begins, has one above it
// or none yet.

// horizon is what somebody who has come to a gap waits for.
type horizon struct {
	seq uint64 // up to here nothing is missing
	xid int64  // once all transactions before this one have ended; 0 if nobody waits
}

// knowledge is what is known of the transactions that have ended. It is of the database as it was: where a backup takes its
// place, numbers are given again, and it is wrong.
type knowledge struct {
	settled uint64 // the transactions of all numbers up to here have ended
	pending horizon
	// turn tells what was learned since the log was found to be another from what was not.
	turn int
}

// state is what a statement saw, and what was known before it.
type state struct {
	floor   feed.Cursor // the place up to which events were purged
	xmin    int64       // all transactions before this one had ended
	settled uint64      // all numbers up to here, too
	turn    int         // of what was known
	newest  feed.Cursor // of the rows
	whole   bool        // no number up to newest is missing, but for those that were settled or purged
	place   bool        // the row at the first number was seen, with the mark that was asked for
	events  []*feed.Event
	bytes   int // of their Before and After
}

// reader is what the log is read by. PostgreSQL has to be read where it is written: a replica may lack what has been told.
func (l *Log) reader(ctx context.Context) sqltx.Conn {
	if l.db.Dialect() == sqltx.PostgreSQL {
		return l.db.Writer(ctx)
	}
	return l.db.Reader(ctx)
}

// knows returns what is known. It has to be called before the statement whose rows are judged by it: what it says of them
// holds in all later states of the table.
func (l *Log) knows() knowledge {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.known
}

// learn notes that the transactions of all numbers up to one have ended, unless all was forgotten since that turn.
func (l *Log) learn(settled uint64, turn int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known.turn != turn {
		return
	}
	l.known.settled = max(l.known.settled, settled)
	if l.known.pending.seq <= l.known.settled {
		l.known.pending = horizon{}
	}
}

// forget is for when the log is not what it was: neither its numbers nor the transactions that were waited for have to do
// with those that there are now.
func (l *Log) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.known = knowledge{turn: l.known.turn + 1}
}

// look reads the rows of a place and behind it, up to and with until.
func (l *Log) look(ctx context.Context, after feed.Cursor, until uint64, most int) (*state, error) {
	if after.Seq > math.MaxInt64 {
		return nil, feed.ErrExpired
	}
	known := l.knows()
	args := []any{int64(after.Seq), int64(min(max(until, after.Seq), math.MaxInt64)), most + 1, int64(feed.PageBytes)}
	if l.db.Dialect() == sqltx.SQLite {
		args = args[:3] // it reads row by row, as it is asked to
	}
	rows, err := l.reader(ctx).QueryContext(ctx, l.text.rows, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	s := &state{settled: known.settled, turn: known.turn}
	for s.bytes < feed.PageBytes && rows.Next() {
		e, err := s.scan(rows)
		switch {
		case err != nil:
			return nil, err
		case e == nil:
		case e.Cursor.Seq == after.Seq:
			s.place = e.Cursor == after
		case len(s.events) < most && e.Cursor.Seq <= until:
			s.events, s.bytes = append(s.events, e), s.bytes+len(e.Before)+len(e.After)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	switch {
	case s.floor.Epoch == 0:
		return nil, errNoLog
	case !s.place && after != s.floor:
		return nil, feed.ErrExpired
	}
	l.settle(s, known)
	return s, nil
}

// settle looks whether the transactions that were waited for had ended.
func (l *Log) settle(s *state, known knowledge) {
	if known.pending.xid > 0 && s.xmin >= known.pending.xid {
		s.settled = max(s.settled, known.pending.seq)
		l.learn(s.settled, s.turn)
	}
}

// scan reads a row; the event is nil if there is none in it.
func (s *state) scan(rows *sql.Rows) (*feed.Event, error) {
	var epoch, floor, floorMark int64
	var seq, mark, kind, at sql.NullInt64
	var collection, item sql.NullString
	var rev, was, now []byte
	err := rows.Scan(&epoch, &floor, &floorMark, &s.xmin, &seq, &mark, &kind, &collection, &item, &rev, &was, &now, &at)
	if err != nil {
		return nil, err
	}
	s.floor = feed.Cursor{Epoch: uint64(epoch), Seq: uint64(floor), Mark: uint64(floorMark)}
	if !seq.Valid {
		return nil, nil
	}
	return &feed.Event{Kind: feed.Kind(kind.Int64), Collection: collection.String, ID: item.String, Rev: string(rev),
		Before: was, After: now, Time: time.UnixMicro(at.Int64).UTC(),
		Cursor: feed.Cursor{Epoch: uint64(epoch), Seq: uint64(seq.Int64), Mark: uint64(mark.Int64)}}, nil
}

// gaps reports whether numbers may be missing whose transactions have not ended.
func (l *Log) gaps() bool { return l.db.Dialect() == sqltx.PostgreSQL && !l.lock }

// Tail is that of feed.Log.
func (l *Log) Tail(ctx context.Context, after feed.Cursor, most int) ([]*feed.Event, feed.Cursor, error) {
	// Most transactions are over in no time: it is better to wait for them than to be back in a moment.
	const patience = 16 * time.Millisecond
	for wait := time.Millisecond; ; wait *= 2 {
		s, err := l.look(ctx, after, math.MaxInt64, most)
		if errors.Is(err, feed.ErrExpired) {
			l.forget() // only who tails is asked: clients make up cursors
		}
		if err != nil {
			return nil, feed.Cursor{}, err
		}
		events, gap := s.events, false
		if l.gaps() {
			events, gap = s.contiguous(after.Seq)
		}
		if gap {
			err = l.await(ctx, s.events[len(s.events)-1].Cursor.Seq, s.turn)
		}
		if n := len(events); err == nil && n > 0 {
			return events, events[n-1].Cursor, nil
		}
		if err != nil || !gap || wait > patience {
			return nil, after, err
		}
		if err := pause(ctx, wait); err != nil {
			return nil, feed.Cursor{}, err
		}
	}
}

// contiguous returns the events before the first number that may still turn up, and whether there is one.
func (s *state) contiguous(last uint64) (events []*feed.Event, gap bool) {
	for i, e := range s.events {
		if e.Cursor.Seq > last+1 && e.Cursor.Seq > s.settled {
			return s.events[:i], true
		}
		last = e.Cursor.Seq
	}
	return s.events, false
}

// await draws a horizon for a gap before a number that was seen, unless one is waited for already.
func (l *Log) await(ctx context.Context, seen uint64, turn int) error {
	if l.knows().pending.xid > 0 {
		return nil
	}
	xid, err := l.xid(ctx)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known.pending.xid == 0 && l.known.turn == turn {
		l.known.pending = horizon{seen, xid}
	}
	return nil
}

// xid is the number of a transaction that begins now. That of a snapshot will not do: it may be below some that run.
func (l *Log) xid(ctx context.Context) (xid int64, err error) {
	rows, err := l.db.Writer(ctx).QueryContext(ctx, l.text.own)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		if err := rows.Scan(&xid); err != nil {
			return 0, err
		}
	}
	return xid, rows.Err()
}

// Head is that of feed.Log. It waits while a number below the newest is missing, until the transactions that may have it are
// over: with those that only write elsewhere on the server, as they cannot be told apart.
func (l *Log) Head(ctx context.Context) (feed.Cursor, error) {
	s, err := l.newest(ctx, math.MaxInt64)
	if err != nil || !l.gaps() || l.over(&s) {
		return s.newest, err
	}
	seen, turn := s.newest.Seq, s.turn
	horizon, err := l.xid(ctx)
	for wait := time.Millisecond; err == nil; wait = min(2*wait, 200*time.Millisecond) {
		if s, err = l.newest(ctx, seen); err != nil {
			break
		}
		if s.xmin >= horizon {
			l.learn(seen, turn)
			return s.newest, nil
		}
		if l.over(&s) { // what was missing has come
			return s.newest, nil
		}
		err = pause(ctx, wait)
	}
	return feed.Cursor{}, err
}

// over reports whether no number up to the newest can turn up any more. What is counted begins where all is settled, or
// where events were purged, as Purge goes no further than that.
func (l *Log) over(s *state) bool {
	if s.whole {
		l.learn(s.newest.Seq, s.turn)
	}
	return s.whole || s.newest.Seq <= s.settled
}

// newest looks for the newest place up to a number, and, where numbers may be missing, for whether there are any in the run
// behind what is settled or purged.
func (l *Log) newest(ctx context.Context, until uint64) (s state, err error) {
	const longest = 100_000 // of a run that is counted: some 25 ms
	known := l.knows()
	s.settled, s.turn = known.settled, known.turn
	var epoch, floor, floorMark int64
	var seq, mark sql.NullInt64
	text, args, row := l.text.newest, []any{int64(until)}, []any{&epoch, &floor, &floorMark, &s.xmin, &seq, &mark}
	if l.gaps() {
		text, args, row = l.text.whole, append(args, int64(known.settled), int64(longest)), append(row, &s.whole)
	}
	rows, err := l.reader(ctx).QueryContext(ctx, text, args...)
	if err != nil {
		return s, err
	}
	defer rows.Close()
	for rows.Next() {
		if err := rows.Scan(row...); err != nil {
			return s, err
		}
		s.newest = feed.Cursor{Epoch: uint64(epoch), Seq: uint64(floor), Mark: uint64(floorMark)}
		if seq.Valid && seq.Int64 > floor {
			s.newest.Seq, s.newest.Mark = uint64(seq.Int64), uint64(mark.Int64)
		}
	}
	if err := rows.Err(); err != nil {
		return s, err
	}
	if s.newest.IsZero() {
		return s, errNoLog
	}
	return s, nil
}

// Read is that of feed.Log.
func (l *Log) Read(ctx context.Context, after, until feed.Cursor, most int) ([]*feed.Event, error) {
	s, err := l.look(ctx, after, until.Seq, most)
	if err != nil {
		return nil, err
	}
	if until.Epoch != s.floor.Epoch {
		return nil, feed.ErrExpired
	}
	return s.events, nil
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

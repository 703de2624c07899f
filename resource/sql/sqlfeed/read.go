package sqlfeed

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"math/rand/v2"
	"time"

	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// state is what a statement saw, and what was known before it.
type state struct {
	floor   feed.Cursor // the place up to which events were purged
	same    bool        // the rows that knowledge goes by were there
	xmin    int64       // all transactions before this one had ended
	xmax    int64       // none from this one on had
	settled uint64      // the transactions of all numbers up to here had, too
	turn    int         // of what was known
	newest  feed.Cursor // of the rows
	wiped   bool        // there is none, though the newest is never purged
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

// look reads the rows of a place and behind it, up to and with until.
func (l *Log) look(ctx context.Context, after feed.Cursor, until uint64, most int) (*state, error) {
	if after.Seq > math.MaxInt64 {
		return nil, feed.ErrExpired
	}
	known := l.knows()
	most = min(max(most, 0), math.MaxInt32)
	args := []any{int64(after.Seq), int64(min(max(until, after.Seq), math.MaxInt64)), most + 1}
	if l.db.Dialect() == sqltx.PostgreSQL { // SQLite reads row by row, as it is asked to
		args = append(known.args(), append(args, int64(feed.PageBytes))...)
	}
	rows, err := l.reader(ctx).QueryContext(ctx, l.text.rows, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	s := &state{}
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
	if s.floor.Epoch == 0 {
		return nil, errNoLog
	}
	l.settle(s, known)
	if !s.place && after != s.floor {
		return nil, feed.ErrExpired
	}
	return s, nil
}

// scan reads a row; the event is nil if there is none in it.
func (s *state) scan(rows *sql.Rows) (*feed.Event, error) {
	var epoch, floor, floorMark int64
	var seq, mark, kind, at sql.NullInt64
	var collection, item sql.NullString
	var rev, was, now []byte
	err := rows.Scan(&epoch, &floor, &floorMark, &s.same, &s.xmin, &s.xmax, &seq, &mark, &kind, &collection, &item, &rev, &was, &now, &at)
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

// Tail is that of feed.Log.
func (l *Log) Tail(ctx context.Context, after feed.Cursor, most int) ([]*feed.Event, feed.Cursor, error) {
	// Most transactions are over in no time: it is better to wait for them than to be back in a moment.
	const patience = 16 * time.Millisecond
	for wait := time.Millisecond; ; wait *= 2 {
		turn := l.knows().turn
		s, err := l.look(ctx, after, math.MaxInt64, most)
		if errors.Is(err, feed.ErrExpired) {
			l.forget(turn) // only who tails is asked: clients make up cursors
		}
		if err != nil {
			return nil, feed.Cursor{}, err
		}
		events, gap := s.events, false
		if l.gaps() {
			events, gap = s.contiguous(after.Seq)
		}
		if gap {
			err = l.await(ctx, landmarkOf(s.events[len(s.events)-1].Cursor), s.turn)
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

// Head is that of feed.Log. It waits while a number below the newest is missing, until the transactions that may have it are
// over: with those that only write elsewhere on the server, as they cannot be told apart.
func (l *Log) Head(ctx context.Context) (feed.Cursor, error) {
	s, err := l.newest(ctx, math.MaxInt64)
	if err == nil && s.wiped {
		if err = l.renew(ctx, s.newest); err == nil {
			s, err = l.newest(ctx, math.MaxInt64)
		}
	}
	if err != nil || !l.gaps() || l.over(&s) {
		return s.newest, err
	}
	seen := s.newest
	horizon, err := l.xid(ctx)
	for wait := time.Millisecond; err == nil; wait = min(2*wait, 200*time.Millisecond) {
		s, err = l.newest(ctx, seen.Seq)
		switch {
		case err != nil:
			return feed.Cursor{}, err
		case s.newest != seen, s.xmax <= horizon: // it is another log, or what was seen is purged
			if err := pause(ctx, wait); err != nil {
				return feed.Cursor{}, err
			}
			return l.Head(ctx)
		case s.xmin >= horizon:
			l.learn(landmarkOf(seen), s.turn)
			return seen, nil
		case l.over(&s): // what was missing has come
			return seen, nil
		}
		err = pause(ctx, wait)
	}
	return feed.Cursor{}, err
}

// renew draws another epoch, unless somebody else has: where all events were removed by hand, numbers may be given again that
// are below the place up to which events were purged, and nobody would see these.
func (l *Log) renew(ctx context.Context, old feed.Cursor) error {
	_, err := l.db.Writer(ctx).ExecContext(ctx, l.text.renew, 1+rand.Int64N(1<<62), rand.Int64(), int64(old.Epoch))
	return err
}

// over reports whether no number up to the newest can turn up any more. What is counted begins where all is settled, or
// where events were purged, as Purge goes no further than that.
func (l *Log) over(s *state) bool {
	if s.whole {
		l.learn(landmarkOf(s.newest), s.turn)
	}
	return s.whole || s.newest.Seq <= s.settled
}

// newest looks for the newest place up to a number, and, where numbers may be missing, for whether there are any in the run
// behind what is settled or purged.
func (l *Log) newest(ctx context.Context, until uint64) (s state, err error) {
	const longest = 100_000 // of a run that is counted: some 25 ms
	known := l.knows()
	var epoch, floor, floorMark int64
	var seq, mark sql.NullInt64
	text, args, row := l.text.newest, []any{int64(until)}, []any{&epoch, &floor, &floorMark, &s.same, &s.xmin, &s.xmax, &seq, &mark}
	if l.db.Dialect() == sqltx.PostgreSQL {
		args = append(known.args(), args...)
	}
	if l.gaps() {
		text, args, row = l.text.whole, append(args, int64(longest)), append(row, &s.whole)
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
		s.wiped = floor > 0 && seq.Int64 < floor
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
	l.settle(&s, known)
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

// landmarkOf is the row that a place is behind.
func landmarkOf(c feed.Cursor) landmark { return landmark{c.Seq, int64(c.Mark)} }

package sqlfeed

// Reading of events in the order of their numbers.

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"time"

	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// maxWait is the longest delay between the attempts of Tail and Purge at a gap. Most transactions
// end sooner, so waiting for them is cheaper than asking which ones have appended events.
const maxWait = 16 * time.Millisecond

// Tail implements [feed.Log].
func (l *Log) Tail(ctx context.Context, after feed.Cursor, most int) ([]*feed.Event, feed.Cursor, error) {
	ctx = sqltx.WithoutSession(ctx)
	events, end, err := l.tail(ctx, after, most)
	return events, end, l.fault(err)
}

// tail is Tail with the errors of the driver.
func (l *Log) tail(ctx context.Context, after feed.Cursor, most int) ([]*feed.Event, feed.Cursor, error) {
	for wait := time.Millisecond; ; wait = min(2*wait, 2*maxWait) {
		generation := l.loadProgress().generation
		r, err := l.readPage(ctx, after, math.MaxInt64, most)
		if errors.Is(err, feed.ErrExpired) {
			l.resetProgress(generation) // not in Read, because clients invent cursors
		}
		if err != nil {
			return nil, feed.Cursor{}, err
		}
		events, gap := r.events, false
		if l.mayHaveGaps() {
			events, gap = r.untilGap(after.Seq)
		}
		if gap {
			err = l.drawBarrier(ctx, anchorOf(r.events[len(r.events)-1].Cursor), r.generation)
		}
		if n := len(events); err == nil && n > 0 {
			return events, events[n-1].Cursor, nil
		}
		if err != nil || !gap {
			return nil, after, err
		}
		if wait > maxWait {
			if passed, err := l.passBarrier(ctx); err != nil || !passed {
				return nil, after, err
			}
		} else if err := sleep(ctx, wait); err != nil {
			return nil, feed.Cursor{}, err
		}
	}
}

// Read implements [feed.Log].
func (l *Log) Read(ctx context.Context, after, until feed.Cursor, most int) ([]*feed.Event, error) {
	ctx = sqltx.WithoutSession(ctx)
	r, err := l.readPage(ctx, after, until.Seq, most)
	if err != nil {
		return nil, l.fault(err)
	}
	if until.Epoch != r.floor.Epoch {
		return nil, feed.ErrExpired
	}
	return r.events, nil
}

// result is what a query read, and the progress that applies to it.
type result struct {
	floor    feed.Cursor // events up to here were purged
	anchored bool        // the rows of the progress were present
	xmin     int64       // all transactions before this one had ended
	xmax     int64       // no transaction from this one on had ended

	settled    uint64 // all transactions with numbers up to this one had ended
	generation int    // of the progress

	// Of readPage.
	found  bool // the row of the cursor was present
	events []*feed.Event
	bytes  int // of Before and After of the events

	// Of readNewest.
	newest   feed.Cursor
	emptied  bool // there was no event, although Purge keeps the newest
	complete bool // no number up to newest is missing that was not settled or purged
}

// reader returns the connection that the log is read with. PostgreSQL must be read from the
// primary, because a replica may lack events that were reported.
func (l *Log) reader(ctx context.Context) sqltx.Conn {
	if l.db.Dialect() == sqltx.PostgreSQL {
		return l.db.Writer(ctx)
	}
	return l.db.Reader(ctx)
}

// readPage reads the events after a cursor, up to and including the number until, at most most and
// [feed.PageBytes].
func (l *Log) readPage(ctx context.Context, after feed.Cursor, until uint64, most int) (*result, error) {
	if after.Seq > math.MaxInt64 {
		return nil, feed.ErrExpired
	}
	p := l.loadProgress()
	most = min(max(most, 0), math.MaxInt32)
	args := []any{int64(after.Seq), int64(min(max(until, after.Seq), math.MaxInt64)), most + 1}
	// SQLite computes each row when it is read, so there the loop below limits the bytes.
	if l.db.Dialect() == sqltx.PostgreSQL {
		args = append(p.args(), append(args, int64(feed.PageBytes))...)
	}
	rows, err := l.reader(ctx).QueryContext(ctx, l.sql.page, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	r := &result{}
	for r.bytes < feed.PageBytes && rows.Next() {
		e, err := r.scanEvent(rows)
		switch {
		case err != nil:
			return nil, err
		case e == nil:
		case e.Cursor.Seq == after.Seq:
			r.found = e.Cursor == after
		case len(r.events) < most && e.Cursor.Seq <= until:
			r.events, r.bytes = append(r.events, e), r.bytes+len(e.Before)+len(e.After)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	if r.floor.Epoch == 0 {
		return nil, errNoEpoch
	}
	l.applyProgress(r, p)
	if !r.found && after != r.floor {
		return nil, feed.ErrExpired
	}
	return r, nil
}

// scanEvent reads a row. The event is nil if the row has only the columns of the log.
func (r *result) scanEvent(rows *sql.Rows) (*feed.Event, error) {
	var epoch, floor, floorMark int64
	var seq, mark, kind, at sql.NullInt64
	var collection, item, schema sql.NullString
	var rev, was, now []byte
	err := rows.Scan(&epoch, &floor, &floorMark, &r.anchored, &r.xmin, &r.xmax,
		&seq, &mark, &kind, &collection, &item, &rev, &was, &now, &schema, &at)
	if err != nil {
		return nil, err
	}
	r.floor = feed.Cursor{Epoch: uint64(epoch), Seq: uint64(floor), Mark: uint64(floorMark)}
	if !seq.Valid {
		return nil, nil
	}
	return &feed.Event{
		Kind: feed.Kind(kind.Int64), Collection: collection.String, ID: item.String, Rev: string(rev),
		Before: was, After: now, Schema: schema.String, Time: time.UnixMicro(at.Int64).UTC(),
		Cursor: feed.Cursor{Epoch: uint64(epoch), Seq: uint64(seq.Int64), Mark: uint64(mark.Int64)},
	}, nil
}

// sleep waits for d, or until ctx is done.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

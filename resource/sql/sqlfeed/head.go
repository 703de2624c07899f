package sqlfeed

// The current end of the log: no transaction can still add an event before it.

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// Head implements [feed.Log]. While a number below the newest is missing, it waits for the open
// transactions that have appended events, because one of them may have the number. If ctx is done
// first, the error describes them.
func (l *Log) Head(ctx context.Context) (feed.Cursor, error) {
	ctx = sqltx.WithoutSession(ctx)
	at, err := l.head(ctx)
	return at, l.fault(err)
}

// head is Head with the errors of the driver.
func (l *Log) head(ctx context.Context) (feed.Cursor, error) {
	r, err := l.readNewest(ctx, math.MaxInt64)
	if err == nil && r.emptied {
		if err = l.replaceEpoch(ctx, r.newest); err == nil {
			r, err = l.readNewest(ctx, math.MaxInt64)
		}
	}
	if err != nil || !l.mayHaveGaps() || l.isComplete(&r) {
		return r.newest, err
	}
	var open []string
	ended := false
	seen, from := r.newest, time.Now()
	barrier, err := l.currentXID(ctx)
	for wait := time.Millisecond; err == nil; wait = min(2*wait, 200*time.Millisecond) {
		r, err = l.readNewest(ctx, seen.Seq)
		switch {
		case err != nil:
			return feed.Cursor{}, err
		case r.newest != seen, r.xmax <= barrier: // the database was replaced, or the row was purged
			if err := sleep(ctx, wait); err != nil {
				return feed.Cursor{}, err
			}
			return l.head(ctx)
		case r.xmin >= barrier, ended:
			l.advance(anchorOf(seen), r.generation)
			return seen, nil
		case l.isComplete(&r): // the missing events were committed
			return seen, nil
		}
		if wait > maxWait {
			open, err = l.openAppends(ctx, barrier, from)
			ended = err == nil && len(open) == 0 // before the next query, which may find another database
		}
		if err == nil && !ended {
			err = sleep(ctx, wait)
		}
	}
	if len(open) > 0 {
		err = fmt.Errorf("sqlfeed: wait for the end of transactions (%s): %w", strings.Join(open, "; "), err)
	}
	return feed.Cursor{}, err
}

// replaceEpoch draws a new epoch, unless another process has. If all events were deleted by hand,
// numbers below the cursor of the last purge may be assigned again, and readers would skip these
// events.
func (l *Log) replaceEpoch(ctx context.Context, old feed.Cursor) error {
	_, err := l.db.Writer(ctx).ExecContext(ctx, l.sql.replaceEpoch,
		1+rand.Int64N(1<<62), rand.Int64(), int64(old.Epoch))
	return err
}

// isComplete reports whether no number up to the newest can still appear.
func (l *Log) isComplete(r *result) bool {
	if r.complete {
		l.advance(anchorOf(r.newest), r.generation)
	}
	return r.complete || r.newest.Seq <= r.settled
}

// readNewest returns the newest cursor up to a number. If numbers may be missing, it also counts
// the rows after the last that is settled or purged.
func (l *Log) readNewest(ctx context.Context, until uint64) (r result, err error) {
	const maxCount = 100_000 // rows; about 25 ms
	p := l.loadProgress()
	var epoch, floor, floorMark int64
	var seq, mark sql.NullInt64
	text, args := l.sql.newest, []any{int64(until)}
	columns := []any{&epoch, &floor, &floorMark, &r.anchored, &r.xmin, &r.xmax, &seq, &mark}
	if l.db.Dialect() == sqltx.PostgreSQL {
		args = append(p.args(), args...)
	}
	if l.mayHaveGaps() {
		text = l.sql.newestComplete
		args, columns = append(args, int64(maxCount)), append(columns, &r.complete)
	}
	rows, err := l.reader(ctx).QueryContext(ctx, text, args...)
	if err != nil {
		return r, err
	}
	defer rows.Close()
	for rows.Next() {
		if err := rows.Scan(columns...); err != nil {
			return r, err
		}
		r.newest = feed.Cursor{Epoch: uint64(epoch), Seq: uint64(floor), Mark: uint64(floorMark)}
		r.emptied = floor > 0 && seq.Int64 < floor
		if seq.Valid && seq.Int64 > floor {
			r.newest.Seq, r.newest.Mark = uint64(seq.Int64), uint64(mark.Int64)
		}
	}
	if err := rows.Err(); err != nil {
		return r, err
	}
	if r.newest.IsZero() {
		return r, errNoEpoch
	}
	l.applyProgress(&r, p)
	return r, nil
}

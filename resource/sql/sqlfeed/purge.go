package sqlfeed

// Removal of events that exceed the retention.

import (
	"context"
	"database/sql"
	"math"
	"time"

	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// Purge implements [feed.Log]. It computes how many events are newer from their numbers, because
// counting a million rows is slow. So on PostgreSQL a number that was rolled back counts as an
// event. The cursor after the last purged event stays valid.
func (l *Log) Purge(ctx context.Context, before time.Time, keep, max int) (int, error) {
	ctx = sqltx.WithoutSession(ctx)
	n, err := l.purge(ctx, before, keep, max)
	return n, l.fault(err)
}

// purge is Purge with the errors of the driver.
func (l *Log) purge(ctx context.Context, before time.Time, keep, max int) (int, error) {
	for wait := time.Millisecond; ; wait = min(2*wait, 2*maxWait) {
		old, err := l.deleteOldest(ctx, before, keep, max)
		if err == nil && old.gap.seq > 0 {
			// If this call has deleted events, the barrier is for the next one.
			err = l.drawBarrier(ctx, old.gap, old.generation)
		}
		if err != nil || old.n > 0 || old.gap.seq == 0 {
			return old.n, err
		}
		if wait > maxWait {
			if passed, err := l.passBarrier(ctx); err != nil || !passed {
				return 0, err
			}
		} else if err := sleep(ctx, wait); err != nil {
			return 0, err
		}
	}
}

// expired are the events that may be purged: the oldest n.
type expired struct {
	n          int
	last       rowAnchor
	gap        rowAnchor // the row after last, if a number before it may still appear; zero if not
	generation int       // of the progress
}

// deleteOldest deletes the events that may be purged now.
func (l *Log) deleteOldest(ctx context.Context, before time.Time, keep, max int) (old expired, err error) {
	err = l.db.InTx(ctx, func(ctx context.Context) error {
		if old, err = l.findExpired(ctx, before.UnixMicro(), keep, max); err != nil || old.n == 0 {
			return err
		}
		w := l.db.Writer(ctx)
		if _, err := w.ExecContext(ctx, l.sql.deleteUpTo, int64(old.last.seq)); err != nil {
			return err
		}
		_, err := w.ExecContext(ctx, l.sql.setFloor, int64(old.last.seq), old.last.mark)
		return err
	})
	if err != nil {
		return expired{}, err
	}
	return old, nil
}

// findExpired returns the events that may be purged, at most most.
func (l *Log) findExpired(ctx context.Context, before int64, keep, most int) (old expired, err error) {
	p := l.loadProgress()
	now := time.Now().UnixMicro()
	args := []any{min(max(most, 0), math.MaxInt32), now}
	if l.db.Dialect() == sqltx.PostgreSQL {
		args = append(p.args(), args...)
	}
	rows, err := l.db.Writer(ctx).QueryContext(ctx, l.sql.oldest, args...)
	if err != nil {
		return old, err
	}
	defer rows.Close()
	r := &result{}
	ahead := 0               // rows after last with a time ahead of the clock
	var previous rowAnchor   // the last of them, or last
	var oldest sql.NullInt64 // the time of the first row of the log without such a time
	for first := true; rows.Next(); first = false {
		var epoch, floor, floorMark int64
		var newest, seq, mark, at sql.NullInt64
		err := rows.Scan(&epoch, &floor, &floorMark, &r.anchored, &r.xmin, &r.xmax, &newest, &oldest, &seq,
			&mark, &at)
		if err != nil {
			return expired{}, err
		}
		if first {
			old.last = rowAnchor{uint64(floor), floorMark}
			previous = old.last
			l.applyProgress(r, p)
			old.generation = r.generation
		}
		isOld := at.Int64 < before || seq.Int64 <= newestExpired(newest.Int64, keep)
		if !seq.Valid || !isOld && at.Int64 <= now {
			break
		}
		row := rowAnchor{uint64(seq.Int64), mark.Int64}
		// A reader at the gap would get feed.ErrExpired although it has missed nothing.
		if l.mayHaveGaps() && row.seq > previous.seq+1 && row.seq > r.settled {
			if isOld {
				old.gap = row
			}
			break
		}
		previous = row
		if ahead++; isOld {
			old.n, old.last, ahead = old.n+ahead, row, 0
		}
	}
	if old.n == 0 && oldest.Valid && oldest.Int64 < before { // there may be more of them than most
		old.n, old.last = ahead, previous
	}
	return old, rows.Err()
}

// newestExpired returns the largest number that is not among the newest keep.
func newestExpired(newest int64, keep int) int64 {
	if keep < 1 {
		return math.MinInt64
	}
	return newest - int64(keep)
}

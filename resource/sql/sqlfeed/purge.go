package sqlfeed

import (
	"context"
	"database/sql"
	"math"
	"time"

	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// Purge is that of feed.Log. How many are newer it knows from the numbers, as counting a million rows takes time: so on
// PostgreSQL a number that was rolled back counts as an event. The place behind the last event that is purged stays known.
func (l *Log) Purge(ctx context.Context, before time.Time, keep, max int) (int, error) {
	// As in Tail: most transactions that may have taken a number which is missing are over in no time.
	const patience = 16 * time.Millisecond
	for wait := time.Millisecond; ; wait *= 2 {
		old, err := l.purge(ctx, before, keep, max)
		if err == nil && old.gap.seq > 0 {
			err = l.await(ctx, old.gap, old.turn) // for the next call, if this one has something to remove
		}
		if err != nil || old.n > 0 || old.gap.seq == 0 || wait > patience {
			return old.n, err
		}
		if err := pause(ctx, wait); err != nil {
			return 0, err
		}
	}
}

// purge removes what may be removed now.
func (l *Log) purge(ctx context.Context, before time.Time, keep, max int) (old aged, err error) {
	err = l.db.InTx(ctx, func(ctx context.Context) error {
		if old, err = l.oldest(ctx, before.UnixMicro(), keep, max); err != nil || old.n == 0 {
			return err
		}
		w := l.db.Writer(ctx)
		if _, err := w.ExecContext(ctx, l.text.purge, old.seq); err != nil {
			return err
		}
		_, err := w.ExecContext(ctx, l.text.purged, old.seq, old.mark)
		return err
	})
	if err != nil {
		return aged{}, err
	}
	return old, nil
}

// aged are the events that may be purged: all from the oldest on, up to one.
type aged struct {
	n         int
	seq, mark int64    // of the last
	gap       landmark // the row behind them, if others may turn up before it; zero if not
	turn      int      // of what was known
}

// oldest looks for the events that may be purged.
func (l *Log) oldest(ctx context.Context, before int64, keep, most int) (old aged, err error) {
	known := l.knows()
	args := []any{min(max(most, 0), math.MaxInt32)}
	if l.db.Dialect() == sqltx.PostgreSQL {
		args = append(known.args(), args...)
	}
	rows, err := l.db.Writer(ctx).QueryContext(ctx, l.text.oldest, args...)
	if err != nil {
		return old, err
	}
	defer rows.Close()
	s := &state{}
	for rows.Next() {
		var epoch, floor, floorMark int64
		var newest, seq, mark, at sql.NullInt64
		if err := rows.Scan(&epoch, &floor, &floorMark, &s.same, &s.xmin, &s.xmax, &newest, &seq, &mark, &at); err != nil {
			return aged{}, err
		}
		if old.n == 0 {
			old.seq = floor
			l.settle(s, known)
			old.turn = s.turn
		}
		if !seq.Valid || at.Int64 >= before && seq.Int64 > newestPurged(newest.Int64, keep) {
			break
		}
		// Who tails has come to here, and would be told to list anew though it has missed nothing.
		if l.gaps() && seq.Int64 > old.seq+1 && uint64(seq.Int64) > s.settled {
			old.gap = landmark{uint64(seq.Int64), mark.Int64}
			break
		}
		old.n, old.seq, old.mark = old.n+1, seq.Int64, mark.Int64
	}
	return old, rows.Err()
}

// newestPurged is the largest number that is not among the newest keep.
func newestPurged(newest int64, keep int) int64 {
	if keep < 1 {
		return math.MinInt64
	}
	return newest - int64(keep)
}

package sqlfeed

// Missing numbers: an event that may still be committed, or one that was rolled back. Readers must
// wait for the first and skip the second.

import (
	"context"
	"time"

	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// PostgreSQL assigns a number to an event before it is decided whether and when the transaction
// commits. So a number that is missing may appear later, and a reader that passes it would lose an
// event.
//
// A transaction gets its id (xid) before it takes a number; see insertEvents. So every transaction
// that holds a number below one that was read has a smaller xid than a transaction that begins now:
// the barrier. Once all transactions before the barrier have ended, numbers that are still missing
// were rolled back.
//
// All transactions that write to the server have such ids, in any table and database. If some before
// the barrier have not ended after maxWait, readers look for those that have appended events; see
// openAppends. Readers draw a barrier only if a number is missing. Without a gap nothing has to wait:
// all numbers below the newest that was read belong to committed events, and a transaction that runs
// has a higher one or none yet.

// rowAnchor identifies a row that was read. Another row with the same number has another mark.
type rowAnchor struct {
	seq  uint64
	mark int64
}

// anchorOf returns the row of a cursor.
func anchorOf(c feed.Cursor) rowAnchor { return rowAnchor{c.Seq, int64(c.Mark)} }

// xidBarrier is what a reader at a gap waits for. The zero value is no barrier.
type xidBarrier struct {
	row  rowAnchor // no number up to this row is undecided
	xid  int64     // once all transactions before this one have ended
	from time.Time // when it was drawn
}

// progress is what a Log has learned about transactions that have ended. It becomes wrong if a
// backup or a replica that lags replaces the database, because numbers and xids are then assigned
// again. It is therefore tied to rows that were read, and every query reports whether these are
// still present.
type progress struct {
	settled    rowAnchor // all transactions with numbers up to this row have ended
	barrier    xidBarrier
	generation int // increases when the Log finds that the database was replaced
}

// args returns the first arguments of the queries of PostgreSQL.
func (p *progress) args() []any {
	return []any{int64(p.settled.seq), p.settled.mark, int64(p.barrier.row.seq), p.barrier.row.mark}
}

// mayHaveGaps reports whether a number may be missing because its transaction has not ended.
func (l *Log) mayHaveGaps() bool { return l.db.Dialect() == sqltx.PostgreSQL && !l.serialized }

// loadProgress returns the current progress. The caller must load it before it runs the query that
// it judges by it: what progress states of a row holds in all later states of the table.
func (l *Log) loadProgress() progress {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.progress
}

// advance records that all transactions with numbers up to row have ended, unless progress was
// reset since generation.
func (l *Log) advance(row rowAnchor, generation int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := &l.progress
	if p.generation != generation {
		return
	}
	if row.seq > p.settled.seq {
		p.settled = row
	}
	if p.barrier.row.seq <= p.settled.seq {
		p.barrier = xidBarrier{}
	}
}

// resetProgress drops what was learned in a generation, because the database was replaced. It
// returns the next generation.
func (l *Log) resetProgress(generation int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.progress.generation == generation {
		l.progress = progress{generation: generation + 1}
	}
	return generation + 1
}

// applyProgress sets settled and generation of a result to those of p, which was loaded before the
// query. If the result contradicts p, it resets progress. If the transactions before the barrier
// have ended, it advances progress.
func (l *Log) applyProgress(r *result, p progress) {
	r.settled, r.generation = p.settled.seq, p.generation
	switch b := p.barrier; {
	case !r.anchored, b.xid > 0 && r.xmax <= b.xid:
		// The transaction that drew the barrier had ended, so xmax was above it.
		r.settled, r.generation, r.complete = 0, l.resetProgress(p.generation), false
	case b.xid > 0 && r.xmin >= b.xid:
		r.settled = max(r.settled, b.row.seq)
		l.advance(b.row, r.generation)
	}
}

// untilGap returns the events before the first number that may still appear, and whether there is
// one. after is the number of the cursor.
func (r *result) untilGap(after uint64) (events []*feed.Event, gap bool) {
	for i, e := range r.events {
		if e.Cursor.Seq > after+1 && e.Cursor.Seq > r.settled {
			return r.events[:i], true
		}
		after = e.Cursor.Seq
	}
	return r.events, false
}

// drawBarrier draws a barrier for a gap before a row that was read, unless there is a barrier
// already.
func (l *Log) drawBarrier(ctx context.Context, row rowAnchor, generation int) error {
	if p := l.loadProgress(); p.barrier.xid > 0 || p.generation != generation {
		return nil
	}
	xid, err := l.currentXID(ctx)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.progress.barrier.xid == 0 && l.progress.generation == generation {
		l.progress.barrier = xidBarrier{row, xid, time.Now()}
	}
	return nil
}

// currentXID returns the xid of a transaction that begins now. The xmax of a snapshot does not
// serve: it may be below the xid of a transaction that runs.
func (l *Log) currentXID(ctx context.Context) (xid int64, err error) {
	rows, err := l.db.Writer(ctx).QueryContext(ctx, l.sql.currentXID)
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

// passBarrier advances progress if no transaction before the barrier can still add an event. It
// returns false if one can.
func (l *Log) passBarrier(ctx context.Context) (bool, error) {
	p := l.loadProgress()
	if p.barrier.xid > 0 { // otherwise another reader has passed it
		open, err := l.openAppends(ctx, p.barrier.xid, p.barrier.from)
		if err != nil || len(open) > 0 {
			return false, err
		}
		l.advance(p.barrier.row, p.generation)
	}
	return true, nil
}

const (
	// slowWait is how long a reader waits for a transaction before the wait is logged.
	slowWait = 3 * time.Second
	// warnInterval is the shortest time between two such entries of the log.
	warnInterval = time.Minute
)

// openAppends describes the transactions before a barrier that have not ended and have appended to
// the log. It logs them if the caller has waited for slowWait.
//
// An append locks the table before it gets a number, and the lock is released after the transaction
// has ended. So a transaction without the lock, such as one of another database, has no number, or a
// later query sees its events.
func (l *Log) openAppends(ctx context.Context, barrier int64, from time.Time) (open []string, err error) {
	rows, err := l.db.Writer(ctx).QueryContext(ctx, l.sql.openAppends, barrier)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		open = append(open, text)
	}
	if waited := time.Since(from); len(open) > 0 && waited >= slowWait && l.mayWarn() {
		l.logger.WarnContext(ctx, "sqlfeed: events wait for the end of transactions", "transactions", open,
			"waited", waited.Round(time.Millisecond))
	}
	return open, rows.Err()
}

// mayWarn reports whether the last warning is older than warnInterval.
func (l *Log) mayWarn() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	may := now.Sub(l.warned) >= warnInterval
	if may {
		l.warned = now
	}
	return may
}

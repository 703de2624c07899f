package sqlfeed

import (
	"context"

	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// PostgreSQL gives numbers out before it is known whether, and when, their transactions commit. So a number that is missing
// may turn up: whoever goes on behind it loses an event. But every transaction that has taken a number below one that is seen
// had a number of its own by then, which is below that of a transaction that begins now, the horizon. Once all transactions
// before the horizon have ended, what is still missing was rolled back.
//
// The horizon is of all that write to the server, whatever they write. So where nothing is missing, nobody waits for it: below
// the newest number that is seen, all belong to what is committed, and a transaction that runs, or begins, has one above it
// or none yet.

// landmark is a row that was seen. No other that is given its number has its mark.
type landmark struct {
	seq  uint64
	mark int64
}

// horizon is what somebody who has come to a gap waits for.
type horizon struct {
	seen landmark // up to here nothing is missing
	xid  int64    // once all transactions before this one have ended; 0 if nobody waits
}

// knowledge is what is known of the transactions that have ended. It is of the database as it was: where a backup takes its
// place, or a replica that lags, numbers are given again, of events and of transactions, and it is wrong. So it goes by rows that
// were seen, and every statement that is judged by it says whether they are still there.
type knowledge struct {
	settled landmark // the transactions of all numbers up to here have ended
	pending horizon
	// turn tells what was learned since the log was found to be another from what was not.
	turn int
}

// args are the arguments with which the statements of PostgreSQL begin.
func (k *knowledge) args() []any {
	return []any{int64(k.settled.seq), k.settled.mark, int64(k.pending.seen.seq), k.pending.seen.mark}
}

// gaps reports whether numbers may be missing whose transactions have not ended.
func (l *Log) gaps() bool { return l.db.Dialect() == sqltx.PostgreSQL && !l.lock }

// knows returns what is known. It has to be called before the statement whose rows are judged by it: what it says of them
// holds in all later states of the table.
func (l *Log) knows() knowledge {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.known
}

// learn notes that the transactions of all numbers up to that of a row have ended, unless all was forgotten since that turn.
func (l *Log) learn(settled landmark, turn int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known.turn != turn {
		return
	}
	if settled.seq > l.known.settled.seq {
		l.known.settled = settled
	}
	if l.known.pending.seen.seq <= l.known.settled.seq {
		l.known.pending = horizon{}
	}
}

// forget is for when the log is not what it was in that turn: neither its numbers nor the transactions that were waited for
// have to do with those that there are now. It returns the turn that follows.
func (l *Log) forget(turn int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known.turn == turn {
		l.known = knowledge{turn: turn + 1}
	}
	return turn + 1
}

// settle judges what a statement saw by what was known before it: whether that still holds, and whether the transactions that
// were waited for had ended.
func (l *Log) settle(s *state, known knowledge) {
	s.settled, s.turn = known.settled.seq, known.turn
	switch pending := known.pending; {
	case !s.same, pending.xid > 0 && s.xmax <= pending.xid: // that transaction had ended, so that xmax was above it
		s.settled, s.turn, s.whole = 0, l.forget(known.turn), false
	case pending.xid > 0 && s.xmin >= pending.xid:
		s.settled = max(s.settled, pending.seen.seq)
		l.learn(pending.seen, s.turn)
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

// await draws a horizon for a gap before a row that was seen, unless one is waited for already.
func (l *Log) await(ctx context.Context, seen landmark, turn int) error {
	if k := l.knows(); k.pending.xid > 0 || k.turn != turn {
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

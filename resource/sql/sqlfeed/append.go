package sqlfeed

// Writing of events, in the transaction of the write that they report.

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
	"github.com/stoa-go/stoa/resource/tx"
)

// insertRows are the numbers of events that one statement inserts. They are few, because drivers
// and servers cache statements by their text. A statement of 100 rows has 900 arguments; the oldest
// engines accept 999.
var insertRows = [...]int{100, 20, 4, 1}

// insertBytes limits the items of a statement of more than one event. A driver may copy all of them
// before it sends any.
const insertBytes = 4 << 20

// Append implements [feed.Log].
func (l *Log) Append(ctx context.Context, events ...*feed.Event) error {
	ctx = sqltx.WithoutSession(ctx)
	if err := ctx.Err(); err != nil || len(events) == 0 {
		return err
	}
	if len(events) > 1 || l.serialized {
		return l.db.InTx(ctx, func(ctx context.Context) error { return l.insert(ctx, events) })
	}
	return l.insert(ctx, events)
}

// insert inserts events in the transaction of ctx. Without a transaction there is one event.
func (l *Log) insert(ctx context.Context, events []*feed.Event) error {
	w := l.db.Writer(ctx)
	if l.serialized {
		if _, err := w.ExecContext(ctx, l.sql.lock, l.sql.lockKey); err != nil {
			return l.fault(err)
		}
	}
	var args []any // reused, because drivers do not keep it
	for len(events) > 0 {
		size := statementSize(events)
		n := insertRows[size]
		args = args[:0]
		for _, e := range events[:n] {
			args = appendArgs(args, e)
		}
		if _, err := w.ExecContext(ctx, l.sql.insert[size], args...); err != nil {
			return l.fault(err)
		}
		events = events[n:]
	}
	tx.AfterCommit(ctx, l.notify)
	return nil
}

// statementSize returns the index in insertRows of the statement that inserts the first of events.
func statementSize(events []*feed.Event) (size int) {
	fit, bytes := 0, 0
	for ; fit < min(len(events), insertRows[0]); fit++ {
		if bytes += len(events[fit].Before) + len(events[fit].After); bytes > insertBytes {
			break
		}
	}
	for insertRows[size] > max(fit, 1) {
		size++
	}
	return size
}

// appendArgs appends the arguments of an event. The mark is drawn in this process, because a
// restored backup would make the database draw the same marks again.
func appendArgs(args []any, e *feed.Event) []any {
	at := e.Time
	if at.IsZero() {
		at = time.Now()
	}
	return append(args, rand.Int64(), int64(e.Kind), e.Collection, e.ID, []byte(e.Rev),
		nullIfEmpty(e.Before), nullIfEmpty(e.After), e.Schema, at.UnixMicro())
}

// nullIfEmpty returns b, or nil if b is empty, which no JSON value is.
func nullIfEmpty(b []byte) any {
	if len(b) == 0 {
		return nil
	}
	return b
}

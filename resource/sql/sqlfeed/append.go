package sqlfeed

import (
	"context"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
	"github.com/stoa-go/stoa/resource/tx"
)

// appendRows is how many events one statement adds. The numbers are few, as drivers and servers keep statements by their text,
// and a statement of 100 has 800 arguments, of which the oldest engines take 999.
var appendRows = [...]int{100, 20, 4, 1}

// appendBytes is how large the items of events are together that one statement adds, unless it is of one: the driver may copy
// them all before it sends any.
const appendBytes = 4 << 20

// insertEvents is the statement that adds so many events, in order.
func insertEvents(d sqltx.Dialect, table string, rows int) string {
	const columns = "mark, kind, collection, item, rev, was, now, at"
	if d == sqltx.SQLite {
		// Drivers look up what has a number, one after the other.
		return "INSERT INTO " + table + " (" + columns + ") VALUES " + strings.Repeat("(?, ?, ?, ?, ?, ?, ?, ?), ", rows-1) +
			"(?, ?, ?, ?, ?, ?, ?, ?)"
	}
	var b strings.Builder
	// The transaction has to have a number before an event gets one: that is what tailing goes by. Events get theirs behind
	// the sorting.
	b.WriteString("WITH own AS MATERIALIZED (SELECT pg_current_xact_id() AS id) INSERT INTO " + table + " (" + columns + ") SELECT " +
		columns + " FROM own, (VALUES ")
	types := [...]string{"bigint", "bigint", "text", "text", "bytea", "bytea", "bytea", "bigint"}
	for row := range rows {
		for i, typ := range types {
			b.WriteString([]string{"(", ", "}[min(i, 1)] + d.Placeholder(row*len(types)+i+1))
			if row == 0 { // the others follow it
				b.WriteString("::" + typ)
			}
		}
		b.WriteString(", " + strconv.Itoa(row) + [...]string{"), ", ")"}[(row+1)/rows])
	}
	b.WriteString(") AS fresh (" + columns + ", n) WHERE own.id IS NOT NULL ORDER BY n")
	return b.String()
}

// Append is that of feed.Log.
func (l *Log) Append(ctx context.Context, events ...*feed.Event) error {
	if err := ctx.Err(); err != nil || len(events) == 0 {
		return err
	}
	if len(events) > 1 || l.lock {
		return l.db.InTx(ctx, func(ctx context.Context) error { return l.add(ctx, events) })
	}
	return l.add(ctx, events)
}

// add appends in the transaction of ctx; without one, a single event.
func (l *Log) add(ctx context.Context, events []*feed.Event) error {
	w := l.db.Writer(ctx)
	if l.lock {
		if _, err := w.ExecContext(ctx, l.text.lock, l.text.key); err != nil {
			return l.fault(err)
		}
	}
	var args []any // used again: nobody keeps it
	for len(events) > 0 {
		size := together(events)
		n := appendRows[size]
		args = args[:0]
		for _, e := range events[:n] {
			args = appendEvent(args, e)
		}
		if _, err := w.ExecContext(ctx, l.text.add[size], args...); err != nil {
			return l.fault(err)
		}
		events = events[n:]
	}
	tx.AfterCommit(ctx, l.hint)
	return nil
}

// together returns which of appendRows is for the first of some events.
func together(events []*feed.Event) (size int) {
	fit, bytes := 0, 0
	for ; fit < min(len(events), appendRows[0]); fit++ {
		if bytes += len(events[fit].Before) + len(events[fit].After); bytes > appendBytes {
			break
		}
	}
	for appendRows[size] > max(fit, 1) {
		size++
	}
	return size
}

// appendEvent appends the arguments of an event. Marks are drawn at random, as who restores a backup would draw the same again
// of whatever is kept in the database.
func appendEvent(args []any, e *feed.Event) []any {
	at := e.Time
	if at.IsZero() {
		at = time.Now()
	}
	return append(args, rand.Int64(), int64(e.Kind), e.Collection, e.ID, []byte(e.Rev), orNull(e.Before), orNull(e.After), at.UnixMicro())
}

// orNull is how Before and After are kept: there is no JSON without content.
func orNull(b []byte) any {
	if len(b) == 0 {
		return nil
	}
	return b
}

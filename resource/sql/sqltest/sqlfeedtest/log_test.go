package sqlfeedtest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/feed/feedtest"
	"github.com/stoa-go/stoa/resource/sql/sqlfeed"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// openLog makes a database with a log.
func openLog(t *testing.T, e *enginetest.Engine, opts *sqlfeed.Options) (*sqltx.DB, *sqlfeed.Log) {
	t.Helper()
	db := e.OpenSchema(t)
	log := sqlfeed.New(db, opts)
	for range 2 { // it may be there already
		if err := log.CreateTable(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	return db, log
}

func TestLog(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		for name, opts := range map[string]*sqlfeed.Options{"concurrent": nil, "serialized": {SerializeAppends: true}} {
			if opts != nil && e.Dialect == sqltx.SQLite {
				continue // which knows no other way
			}
			t.Run(name, func(t *testing.T) {
				feedtest.Run(t, func(t *testing.T) feed.Log {
					_, log := openLog(t, e, opts)
					return log
				}, &feedtest.Options{
					Patience: time.Minute, // transactions of all tests of the server hold back readers
					Another: func(_ *testing.T, log feed.Log) feed.Log {
						return sqlfeed.New(log.(*sqlfeed.Log).Transactions().(*sqltx.DB), opts)
					},
					Backup: func(t *testing.T, log feed.Log) func(t *testing.T) feed.Log { return backup(t, log, opts) },
				})
			})
		}
	})
}

// backup copies the tables of a log to others.
func backup(t *testing.T, log feed.Log, opts *sqlfeed.Options) (restore func(t *testing.T) feed.Log) {
	t.Helper()
	db := log.(*sqlfeed.Log).Transactions().(*sqltx.DB)
	enginetest.MustExec(t, db, "CREATE TABLE old_events AS SELECT * FROM events", "CREATE TABLE old_events_log AS SELECT * FROM events_log")
	return func(t *testing.T) feed.Log {
		// In one transaction, so that no reader sees an intermediate state.
		if err := db.InTx(t.Context(), func(ctx context.Context) error {
			return enginetest.Exec(ctx, db, "DELETE FROM events", "INSERT INTO events SELECT * FROM old_events",
				"DELETE FROM events_log", "INSERT INTO events_log SELECT * FROM old_events_log")
		}); err != nil {
			t.Fatal(err)
		}
		if db.Dialect() == sqltx.PostgreSQL {
			enginetest.MustExec(t, db, "SELECT setval(pg_get_serial_sequence('events', 'seq'), (SELECT max(seq) FROM events))")
		}
		return sqlfeed.New(db, opts)
	}
}

// TestLogLosesNothing is the model test of the reader: 16 writers append 16,000 events in
// transactions of random length, some of which roll back. The control reads by number alone and has
// to lose events: at least that of a transaction which takes the first number and commits after the
// control has passed it.
func TestLogLosesNothing(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		const writers, each = 16, 1000
		db, log := openLog(t, e, nil)
		start, err := log.Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var over sync.WaitGroup
		done := make(chan struct{})
		var committed sync.Map
		var got, control []*feed.Event
		var tailers sync.WaitGroup
		tailers.Go(func() { got = tailAll(t, log, start, done) })
		appended, passed := make(chan struct{}), make(chan struct{})
		tailers.Go(func() { control = naive(t, db, done, passed) })
		if e.Dialect == sqltx.PostgreSQL { // other engines allow no concurrent write
			over.Go(func() {
				if writeOne(t, db, log, "slow", sync.OnceFunc(func() { close(appended); <-passed })) {
					committed.Store("slow", true)
				}
			})
			<-appended
		}
		begin := time.Now()
		for w := range writers {
			over.Go(func() {
				for n := range each {
					id := fmt.Sprintf("%d.%d", w, n)
					if writeOne(t, db, log, id, sometimes(e)) {
						committed.Store(id, true)
					}
				}
			})
		}
		over.Wait()
		took := time.Since(begin)
		close(done)
		tailers.Wait()
		total := 0
		committed.Range(func(any, any) bool { total++; return true })
		lost, surplus := compareAll(t, &committed, total, got)
		controlLost, _ := compareAll(t, &committed, total, control)
		t.Logf("%d events of %d transactions in %v (%.0f/s): lost %d, surplus %d; the control lost %d", total, writers*each, took.Round(time.Millisecond),
			float64(writers*each)/took.Seconds(), lost, surplus, controlLost)
		if lost > 0 || surplus > 0 {
			t.Errorf("of %d events %d were lost, and %d came that were not committed or twice", total, lost, surplus)
		}
		if controlLost == 0 && e.Dialect == sqltx.PostgreSQL {
			t.Errorf("the control lost nothing, so the test proves nothing")
		}
	})
}

var errUndone = errors.New("undo")

// sometimes returns a wait that makes transactions of different length, where they run at the same time.
func sometimes(e *enginetest.Engine) func() {
	return func() {
		if e.Dialect == sqltx.PostgreSQL && rand.N(4) == 0 {
			time.Sleep(rand.N(2 * time.Millisecond))
		}
	}
}

// writeOne appends an event in a transaction that waits after that, and reports whether it was committed. The first is.
func writeOne(t *testing.T, db *sqltx.DB, log *sqlfeed.Log, id string, wait func()) bool {
	err := db.InTx(t.Context(), func(ctx context.Context) error {
		if err := log.Append(ctx, &feed.Event{Kind: feed.Created, Collection: "orders", ID: id, Rev: "1", After: []byte(`{}`)}); err != nil {
			return err
		}
		if wait(); id != "slow" && rand.N(50) == 0 {
			return errUndone
		}
		return nil
	})
	if err != nil && err != errUndone {
		t.Errorf("the transaction of %s: %v", id, err)
	}
	return err == nil
}

// tailAll tails until done is closed and the head of the log is reached. It waits for transactions
// of other tests, which hold events back.
func tailAll(t *testing.T, log *sqlfeed.Log, at feed.Cursor, done <-chan struct{}) (events []*feed.Event) {
	for {
		ended := closed(done)
		got, next, err := log.Tail(t.Context(), at, 500)
		if err != nil {
			t.Errorf("Tail: %v", err)
			return events
		}
		events, at = append(events, got...), next
		switch {
		case len(got) > 0:
		case !ended:
			time.Sleep(time.Millisecond)
		default:
			head, err := log.Head(t.Context())
			if err != nil {
				t.Errorf("Head: %v", err)
			}
			if err != nil || head == at {
				return events
			}
		}
	}
}

func closed(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// naive reads all events with higher numbers than the last. It closes passed when it has read the
// first.
func naive(t *testing.T, db *sqltx.DB, done <-chan struct{}, passed chan<- struct{}) (events []*feed.Event) {
	tell := sync.OnceFunc(func() { close(passed) })
	defer tell() // where it fails
	text := "SELECT seq, item FROM events WHERE seq > $1 ORDER BY seq LIMIT 500"
	if db.Dialect() == sqltx.SQLite {
		text = "SELECT seq, item FROM events WHERE seq > ?1 ORDER BY seq LIMIT 500"
	}
	last := int64(0)
	for {
		ended := closed(done)
		rows, err := db.Reader(t.Context()).QueryContext(t.Context(), text, last)
		if err != nil {
			t.Errorf("the control: %v", err)
			return events
		}
		n := 0
		for ; rows.Next(); n++ {
			e := &feed.Event{}
			if err := rows.Scan(&last, &e.ID); err != nil {
				t.Errorf("the control: %v", err)
			}
			events = append(events, e)
		}
		rows.Close()
		if n > 0 {
			tell()
		}
		if n == 0 && ended {
			return events
		}
		time.Sleep(time.Millisecond)
	}
}

// compareAll counts what was lost, and what came that was not committed or came before.
func compareAll(t *testing.T, committed *sync.Map, total int, events []*feed.Event) (lost, surplus int) {
	t.Helper()
	seen := map[string]bool{}
	for _, e := range events {
		if _, ok := committed.Load(e.ID); !ok || seen[e.ID] {
			surplus++
			continue
		}
		seen[e.ID] = true
	}
	return total - len(seen), surplus
}

// TestLogNumbersTransactionsFirst: a transaction has its number before its event gets one, whatever it has done before. With
// the two in the other order a barrier could be drawn between them.
func TestLogNumbersTransactionsFirst(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		if e.Dialect != sqltx.PostgreSQL {
			t.Skip("transactions of SQLite have no numbers")
		}
		for name, opts := range map[string]*sqlfeed.Options{"concurrent": nil, "serialized": {SerializeAppends: true}} {
			t.Run(name, func(t *testing.T) {
				db, log := openLog(t, e, opts)
				enginetest.MustExec(t, db, "CREATE SEQUENCE numbers", `CREATE FUNCTION number() RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN
					IF pg_current_xact_id_if_assigned() IS NULL THEN RAISE EXCEPTION 'the transaction has no number yet'; END IF;
					RETURN nextval('numbers'); END $$`,
					"ALTER TABLE events ALTER COLUMN seq DROP IDENTITY", "ALTER TABLE events ALTER COLUMN seq SET DEFAULT number()")
				event := &feed.Event{Kind: feed.Created, Collection: "orders", ID: "1"}
				if err := log.Append(t.Context(), event); err != nil {
					t.Errorf("Append: %v", err)
				}
				if err := db.InTx(t.Context(), func(ctx context.Context) error { return log.Append(ctx, slices.Repeat([]*feed.Event{event}, 125)...) }); err != nil {
					t.Errorf("Append in a transaction: %v", err)
				}
				if _, err := db.Writer(t.Context()).ExecContext(t.Context(), "INSERT INTO events (mark, kind, collection, item, rev, schema, at) "+
					"VALUES (1, 1, '', '', '', '', 0)"); err == nil {
					t.Error("an event without a number of the transaction was taken, so the test proves nothing")
				}
			})
		}
	})
}

// TestLogRestoredBelow: after a backup is restored while a process runs, numbers are assigned
// again. Events with these numbers must not be skipped.
func TestLogRestoredBelow(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		if e.Dialect != sqltx.PostgreSQL {
			t.Skip("transactions of SQLite do not append at the same time")
		}
		db, log := openLog(t, e, nil)
		ctx := t.Context()
		event := func(id string) *feed.Event { return &feed.Event{Kind: feed.Created, Collection: "orders", ID: id} }
		start, err := log.Head(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if err := log.Append(ctx, event("kept")); err != nil {
			t.Fatal(err)
		}
		restore := backup(t, log, nil)
		// The lost events leave a gap, so that the log records which numbers have ended.
		for range 3 {
			if err := db.InTx(ctx, func(ctx context.Context) error { log.Append(ctx, event("undone")); return errUndone }); err != errUndone {
				t.Fatal(err)
			}
			if err := log.Append(ctx, event("lost")); err != nil {
				t.Fatal(err)
			}
		}
		at := start
		for n := 0; n < 4; n += len(step(t, log, &at)) {
		}
		restore(t)
		if _, _, err := log.Tail(ctx, at, 10); !errors.Is(err, feed.ErrExpired) {
			t.Fatalf("Tail behind what was lost: %v", err)
		}
		if at, err = log.Head(ctx); err != nil {
			t.Fatal(err)
		}
		appended, seen := make(chan bool), make(chan bool)
		var slow sync.WaitGroup
		slow.Go(func() {
			err := db.InTx(ctx, func(ctx context.Context) error {
				defer func() { <-seen }()
				defer close(appended)
				return log.Append(ctx, event("first"))
			})
			if err != nil {
				t.Error(err)
			}
		})
		<-appended
		if err := log.Append(ctx, event("second")); err != nil { // in a transaction of its own, which is over before
			t.Error(err)
		}
		if got, _, err := log.Tail(ctx, at, 10); len(got) > 0 || err != nil {
			t.Errorf("Tail passes over an event that is not committed yet: %d events, %v", len(got), err)
		}
		close(seen)
		slow.Wait()
		var ids []string
		for len(ids) < 2 && !t.Failed() {
			for _, e := range step(t, log, &at) {
				ids = append(ids, e.ID)
			}
		}
		if diff := cmp.Diff([]string{"first", "second"}, ids); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	})
}

// step tails until there is something, as there is to be.
func step(t *testing.T, log feed.Log, at *feed.Cursor) (events []*feed.Event) {
	t.Helper()
	for len(events) == 0 {
		got, next, err := log.Tail(t.Context(), *at, 100)
		if err != nil {
			t.Fatalf("Tail: %v", err)
		}
		events, *at = append(events, got...), next
	}
	return events
}

// TestLogPurgesAfterRollbacks: numbers that were rolled back do not delay readers, also without a
// tailer. A purge by number counts them as events.
func TestLogPurgesAfterRollbacks(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		if e.Dialect != sqltx.PostgreSQL {
			t.Skip("SQLite gives numbers that were rolled back again")
		}
		db, log := openLog(t, e, nil)
		ctx := t.Context()
		event := &feed.Event{Kind: feed.Created, Collection: "orders", ID: "1"}
		appendSome := func(committed, undone int) {
			for range committed {
				if err := log.Append(ctx, event); err != nil {
					t.Fatal(err)
				}
			}
			for range undone {
				if err := db.InTx(ctx, func(ctx context.Context) error { log.Append(ctx, event); return errUndone }); err != errUndone {
					t.Fatal(err)
				}
			}
		}
		appendSome(3, 10)
		appendSome(3, 0)
		for _, tt := range []struct {
			before     time.Time
			keep, want int
		}{{time.Time{}, 14, 2}, {time.Now().Add(time.Hour), 0, 3}} {
			for n := 0; n < tt.want; { // the other transactions of the server may run for some time
				got, err := log.Purge(ctx, tt.before, tt.keep, 100)
				if err != nil {
					t.Fatal(err)
				}
				if n += got; n > tt.want {
					t.Errorf("Purge of all but %d removed %d, want %d", tt.keep, n, tt.want)
				}
			}
			if n, err := log.Purge(ctx, tt.before, tt.keep, 100); n != 0 || err != nil {
				t.Errorf("Purge of all but %d, when there was nothing left to remove: %d, %v", tt.keep, n, err)
			}
		}
	})
}

// TestLogPagesAreBounded: a page of large events ends at PageBytes, and the next continues after
// it.
func TestLogPagesAreBounded(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		const n, size = 12, 1 << 20
		_, log := openLog(t, e, nil)
		start, err := log.Head(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		large := &feed.Event{Kind: feed.Updated, Collection: "orders", ID: "1", Before: make([]byte, size/2), After: make([]byte, size/2)}
		for range n {
			if err := log.Append(t.Context(), large); err != nil {
				t.Fatal(err)
			}
		}
		var pages []int
		for at, got := start, 0; got < n; {
			events, next, err := log.Tail(t.Context(), at, 100)
			if err != nil || len(events) == 0 {
				t.Fatalf("Tail behind %d events: %d, %v", got, len(events), err)
			}
			read, err := log.Read(t.Context(), at, next, 100)
			if err != nil || len(read) != len(events) {
				t.Errorf("Read returned %d events, and Tail %d; %v", len(read), len(events), err)
			}
			pages, at, got = append(pages, len(events)), next, got+len(events)
		}
		if want := []int{4, 4, 4}; !slices.Equal(want, pages) {
			t.Errorf("pages of %d events, want %d", pages, want)
		}
	})
}

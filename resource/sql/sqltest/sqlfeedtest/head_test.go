package sqlfeedtest

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/sql/sqlfeed"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// headKit has a log, and transactions that do not end by themselves.
type headKit struct {
	*testing.T
	e   *enginetest.Engine
	db  *sqltx.DB
	log *sqlfeed.Log
}

// TestLogHead: the head of a log without gaps is returned at once. With a gap, it waits for the
// transactions that may fill it.
func TestLogHead(t *testing.T) {
	tests := []struct {
		name string
		try  func(k headKit)
	}{
		{"a transaction elsewhere", func(k headKit) {
			k.append("a", "b", "c")
			k.begin(k.elsewhere)
			k.wantHead(k.log, 3)
		}},
		{"a transaction with a lower number", func(k headKit) {
			k.append("a")
			end := k.begin(k.appends("slow"))
			k.append("b")
			k.wantNoHead(k.log)
			k.begin(k.elsewhere)
			got := make(chan feed.Cursor, 1)
			go func() { got <- k.head(k.log) }()
			time.Sleep(100 * time.Millisecond) // it begins to wait; if not, the result is the same
			end(nil)
			if c := <-got; c.Seq != 3 {
				k.Errorf("Head is %d when what was missing has come, want 3", c.Seq)
			}
		}},
		{"a transaction with a higher number", func(k headKit) {
			k.append("a", "b")
			end := k.begin(k.appends("slow"))
			at := k.wantHead(k.log, 2)
			k.append("c")
			if got, _, err := k.log.Tail(k.Context(), at, 10); len(got) > 0 || err != nil {
				k.Errorf("Tail passes over an event that is not committed yet: %d events, %v", len(got), err)
			}
			end(nil)
			var ids []string
			for len(ids) < 2 && !k.Failed() {
				for _, e := range step(k.T, k.log, &at) {
					ids = append(ids, e.ID)
				}
			}
			if diff := cmp.Diff([]string{"slow", "c"}, ids); diff != "" {
				k.Errorf("events behind the head (-want +got):\n%s", diff)
			}
		}},
		{"a number that was rolled back", func(k headKit) {
			k.append("a")
			k.begin(k.appends("undone"))(errUndone)
			k.append("b")
			end := k.begin(k.mayAppend)
			k.wantNoHead(k.log)
			end(nil)
			k.wantHead(k.log, 3)
			k.begin(k.mayAppend)
			k.append("c")
			k.wantHead(k.log, 4) // what is missing is known to be settled
			k.wantNoHead(sqlfeed.New(k.db, nil))
		}},
		{"transactions that have not appended", func(k headKit) {
			at := k.wantHead(k.log, 0)
			k.begin(k.elsewhere)
			other := k.another()
			other.begin(other.appends("other"))
			k.append("a")
			k.begin(k.appends("undone"))(errUndone)
			k.append("b", "c")
			k.wantHead(k.log, 4)
			var ids []string
			for tailer := sqlfeed.New(k.db, nil); len(ids) < 3 && !k.Failed(); {
				for _, e := range step(k.T, tailer, &at) {
					ids = append(ids, e.ID)
				}
			}
			if diff := cmp.Diff([]string{"a", "b", "c"}, ids); diff != "" {
				k.Errorf("events (-want +got):\n%s", diff)
			}
			for i, purger := 0, sqlfeed.New(k.db, nil); i < 2; i++ {
				if n, err := purger.Purge(k.Context(), time.Time{}, 1, 10); n != 1 || err != nil {
					k.Errorf("Purge %d removes %d events, %v, want 1", i, n, err)
				}
			}
		}},
		{"what was purged", func(k headKit) {
			k.append("a")
			k.begin(k.appends("undone"))(errUndone)
			k.append("b", "c")
			enginetest.MustExec(k.T, k.db, "UPDATE events_log SET seq = 3, mark = (SELECT mark FROM events WHERE seq = 3)", "DELETE FROM events WHERE seq <= 3")
			k.begin(k.mayAppend)
			k.wantHead(k.log, 4)
		}},
		{"many events", func(k headKit) {
			const most = 100_000
			k.begin(k.mayAppend)
			enginetest.MustExec(k.T, k.db, "INSERT INTO events (mark, kind, collection, item, rev, schema, at) SELECT n, 1, 'orders', 'a', '', '', 0 FROM generate_series(1, 100000) AS n")
			k.wantHead(k.log, most)
			k.append("b")
			k.wantHead(k.log, most+1) // one more than it knows of
			k.wantNoHead(sqlfeed.New(k.db, nil))
		}},
	}
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		if e.Dialect != sqltx.PostgreSQL {
			t.Skip("transactions of SQLite do not append at the same time")
		}
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				db, log := openLog(t, e, nil)
				tt.try(headKit{t, e, db, log})
			})
		}
	})
}

// begin runs do in a transaction, which ends by the returned function or with the test.
func (k headKit) begin(do func(ctx context.Context) error) (end func(error)) {
	k.Helper()
	begun, outcome, over := make(chan struct{}), make(chan error, 1), make(chan struct{})
	go func() {
		defer close(over)
		err := k.db.InTx(context.WithoutCancel(k.Context()), func(ctx context.Context) error {
			err := do(ctx)
			close(begun)
			return errors.Join(err, <-outcome)
		})
		if err != nil && !errors.Is(err, errUndone) {
			k.Errorf("a transaction: %v", err)
		}
	}()
	<-begun
	end = func(err error) {
		select {
		case outcome <- err:
		default: // it has ended
		}
		<-over
	}
	k.Cleanup(func() { end(nil) })
	return end
}

// another returns the kit of a log with the same name in another database of the server.
func (k headKit) another() headKit {
	k.Helper()
	k.db = k.e.Open(k.T, &sqltx.Options{Idle: -1, Attempts: 1 << 30})
	k.log = sqlfeed.New(k.db, nil)
	if err := k.log.CreateTable(k.Context()); err != nil {
		k.Fatal(err)
	}
	return k
}

// mayAppend locks the table of events as an append does, and takes no number.
func (k headKit) mayAppend(ctx context.Context) error {
	return enginetest.Exec(ctx, k.db, "SELECT pg_current_xact_id()", "DELETE FROM events WHERE seq < 0")
}

// elsewhere writes, but not to the log.
func (k headKit) elsewhere(ctx context.Context) error {
	_, err := k.db.Writer(ctx).ExecContext(ctx, "SELECT pg_current_xact_id()")
	return err
}

func (k headKit) appends(id string) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		return k.log.Append(ctx, &feed.Event{Kind: feed.Created, Collection: "orders", ID: id})
	}
}

func (k headKit) append(ids ...string) {
	k.Helper()
	for _, id := range ids {
		if err := k.appends(id)(k.Context()); err != nil {
			k.Fatal(err)
		}
	}
}

// head is for what is not to wait for a transaction that ends with the test. It may wait for those of other tests.
func (k headKit) head(log *sqlfeed.Log) feed.Cursor {
	k.Helper()
	ctx, cancel := context.WithTimeout(k.Context(), 2*time.Minute)
	defer cancel()
	c, err := log.Head(ctx)
	if err != nil {
		k.Errorf("Head: %v", err)
	}
	return c
}

func (k headKit) wantHead(log *sqlfeed.Log, want uint64) feed.Cursor {
	k.Helper()
	c := k.head(log)
	if c.Seq != want {
		k.Errorf("Head is %d, want %d", c.Seq, want)
	}
	return c
}

// wantNoHead checks that Head waits until its context is done.
func (k headKit) wantNoHead(log *sqlfeed.Log) {
	k.Helper()
	ctx, cancel := context.WithTimeout(k.Context(), 300*time.Millisecond)
	defer cancel()
	if c, err := log.Head(ctx); !errors.Is(err, context.DeadlineExceeded) {
		k.Errorf("Head is %d, %v, although a number is missing that may turn up", c.Seq, err)
	}
}

// lines receives the lines of a logger.
type lines chan string

func (l lines) Write(b []byte) (int, error) {
	l <- string(b)
	return len(b), nil
}

// TestLogReportsWaits: Head and Tail log the transactions that they have waited for, and the error of
// Head names them.
func TestLogReportsWaits(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		if e.Dialect != sqltx.PostgreSQL {
			t.Skip("readers of SQLite do not wait for transactions")
		}
		db, log := openLog(t, e, nil)
		k := headKit{t, e, db, log}
		at := k.wantHead(log, 0)
		k.begin(k.appends("slow"))
		k.append("a")
		logged := func() (*sqlfeed.Log, lines) {
			l := make(lines, 100)
			return sqlfeed.New(db, &sqlfeed.Options{Logger: slog.New(slog.NewTextHandler(l, nil))}), l
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		waiting, ofHead := logged()
		failed := make(chan error, 1)
		go func() {
			_, err := waiting.Head(ctx)
			failed <- err
		}()
		tailer, ofTail := logged()
		for len(ofTail) == 0 {
			if got, _, err := tailer.Tail(t.Context(), at, 10); len(got) > 0 || err != nil {
				t.Fatalf("Tail: %d events, %v, want none", len(got), err)
			}
		}
		for _, line := range []string{<-ofHead, <-ofTail} {
			for _, want := range []string{"level=WARN", "events wait for the end of transactions", "pid ", ", user "} {
				if !strings.Contains(line, want) {
					t.Errorf("the entry of the log is %q, without %q", line, want)
				}
			}
		}
		cancel()
		if err := <-failed; !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "pid ") {
			t.Errorf("Head: %v, want an error with the transaction", err)
		}
		if len(ofTail) > 0 {
			t.Errorf("it is logged again: %s", <-ofTail)
		}
	})
}

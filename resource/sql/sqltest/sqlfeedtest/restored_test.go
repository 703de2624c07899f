package sqlfeedtest

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/sql/sqlfeed"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// TestLogRestoredUnseen: after a restore a process remembers numbers and transactions that do not
// exist any more, also if it has not read since. It must not rely on them.
func TestLogRestoredUnseen(t *testing.T) {
	tests := []struct {
		name string
		try  func(k headKit, restore func(t *testing.T) feed.Log)
	}{
		{"Head", func(k headKit, restore func(t *testing.T) feed.Log) {
			k.learn()
			restore(k.T)
			end := k.begin(k.appends("slow"))
			k.append("b")
			k.wantNoHead(k.log)
			end(nil)
			k.wantHead(k.log, 3)
		}},
		{"Purge", func(k headKit, restore func(t *testing.T) feed.Log) {
			k.learn()
			restore(k.T)
			end := k.begin(k.appends("slow"))
			k.append("b", "c", "d")
			for want := range 2 { // the first purges as much as allowed
				n, err := k.log.Purge(k.Context(), time.Now().Add(time.Hour), 0, 100)
				if n != 1-want || err != nil {
					k.Errorf("Purge removed %d, want %d, as an event may still turn up behind it; %v", n, 1-want, err)
				}
			}
			end(nil)
		}},
		{"Tail", func(k headKit, restore func(t *testing.T) feed.Log) {
			at := k.wantHead(k.log, 1)
			end := k.begin(k.appends("lost"))
			k.append("lost, too")
			if got, _, err := k.log.Tail(k.Context(), at, 10); len(got) > 0 || err != nil {
				k.Fatalf("Tail passes over an event that is not committed yet: %d events, %v", len(got), err)
			}
			end(errUndone)
			restore(k.T)
			end = k.begin(k.appends("slow"))
			k.append("b")
			if got, _, err := k.log.Tail(k.Context(), at, 10); len(got) > 0 || err != nil {
				k.Errorf("Tail passes over an event that is not committed yet: %d events, %v", len(got), err)
			}
			end(nil)
			k.wantBehind(at, "slow", "b")
		}},
	}
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		if e.Dialect != sqltx.PostgreSQL {
			t.Skip("transactions of SQLite do not append at the same time")
		}
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				db, log := openLog(t, e, nil)
				k := headKit{t, e, db, log}
				k.append("a")
				tt.try(k, backup(t, log, nil))
			})
		}
	})
}

// learn has the log settle numbers that are lost afterwards.
func (k headKit) learn() {
	k.Helper()
	at := k.head(k.log)
	for range 3 {
		k.begin(k.appends("undone"))(errUndone)
		k.append("lost")
	}
	k.wantBehind(at, "lost", "lost", "lost")
}

// wantBehind wants Tail to return these events, and no others.
func (k headKit) wantBehind(at feed.Cursor, want ...string) {
	k.Helper()
	var ids []string
	for len(ids) < len(want) && !k.Failed() {
		for _, e := range step(k.T, k.log, &at) {
			ids = append(ids, e.ID)
		}
	}
	if diff := cmp.Diff(want, ids); diff != "" {
		k.Errorf("events (-want +got):\n%s", diff)
	}
}

// TestLogAfterACrash: after a crash PostgreSQL may assign the same transaction ids again. A reader
// must not wait for an id that was never written, until a million others have ended.
func TestLogAfterACrash(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		if e.Dialect != sqltx.PostgreSQL {
			t.Skip("transactions of SQLite have no numbers")
		}
		var ahead atomic.Bool // the server gives out numbers of transactions which it forgets
		k := openEdited(t, e, func(query string) string {
			if ahead.Load() && strings.HasPrefix(query, "SELECT pg_current_xact_id()") {
				query += " + 1000000"
			}
			return query
		})
		log := k.log
		at := k.head(log)
		k.append("a")
		k.begin(k.appends("undone"))(errUndone)
		k.append("b")
		ahead.Store(true)
		k.wantNoHead(log) // although no transaction runs
		if got, _, err := log.Tail(t.Context(), at, 10); len(got) != 1 || err != nil {
			t.Fatalf("Tail returns %d events and %v, want what is before the gap", len(got), err)
		}
		ahead.Store(false)
		k.wantBehind(at, "a", "b")
		k.wantHead(log, 3)
	})
}

// TestLogRestoredDuringHead: the database is restored between two queries of a Head that waits.
func TestLogRestoredDuringHead(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		if e.Dialect != sqltx.PostgreSQL {
			t.Skip("transactions of SQLite have no numbers")
		}
		replace := func() {}
		k := openEdited(t, e, func(query string) string {
			if strings.Contains(query, "pg_locks") {
				replace()
			}
			return query
		})
		k.append("a")
		restore := backup(t, k.log, nil)
		k.begin(k.appends("undone"))(errUndone)
		k.append("lost") // which has number 3
		end := k.begin(k.mayAppend)
		replace = sync.OnceFunc(func() {
			restore(t)
			end(nil)
		})
		k.wantHead(k.log, 1)
	})
}

// openEdited makes a log, with queries that pass through edit.
func openEdited(t *testing.T, e *enginetest.Engine, edit func(query string) string) headKit {
	t.Helper()
	pool := sql.OpenDB(&editor{e.Connector(t), edit})
	t.Cleanup(func() { pool.Close() })
	db := sqltx.New(e.Dialect, pool, nil)
	log := sqlfeed.New(db, nil)
	if err := log.CreateTable(t.Context()); err != nil {
		t.Fatal(err)
	}
	return headKit{t, e, db, log}
}

type editor struct {
	driver.Connector
	edit func(query string) string
}

func (ed *editor) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := ed.Connector.Connect(ctx)
	return &editedConn{enginetest.NewConn(c, &enginetest.Recorder{}), ed.edit}, err
}

type editedConn struct {
	*enginetest.Conn
	edit func(query string) string
}

func (c *editedConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	return c.Conn.QueryContext(ctx, c.edit(query), args)
}

// TestLogWiped: after all events are deleted by hand, every cursor is expired, and later events are
// delivered, also if their numbers repeat.
func TestLogWiped(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		db, log := openLog(t, e, nil)
		k := headKit{t, e, db, log}
		start := k.head(log)
		k.append("a", "b", "c")
		at := k.wantHead(log, 3)
		for n := 0; n < 2; {
			got, err := log.Purge(t.Context(), time.Now().Add(time.Hour), 0, 100)
			if err != nil {
				t.Fatal(err)
			}
			n += got
		}
		enginetest.MustExec(t, db, "DELETE FROM events")
		another := sqlfeed.New(db, nil)
		head := k.head(another)
		if k.head(log) != head {
			t.Error("two processes draw an epoch each")
		}
		for _, old := range []feed.Cursor{start, at} {
			if _, _, err := log.Tail(t.Context(), old, 10); !errors.Is(err, feed.ErrExpired) {
				t.Errorf("Tail from %+v: %v, want feed.ErrExpired", old, err)
			}
		}
		k.append("d", "e")
		k.wantBehind(head, "d", "e")
	})
}

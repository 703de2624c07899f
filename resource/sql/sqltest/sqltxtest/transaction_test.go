package sqltxtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/sql/sqltest"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
	"github.com/stoa-go/stoa/resource/tx"
)

var errRefused = errors.New("refused by the test")

// counters opens a database with one table, and the counters a and b at 0 in it.
func counters(t *testing.T, e sqltest.Engine, opts *sqltx.Options) *sqltx.DB {
	t.Helper()
	db := e.Open(t, opts)
	exec(t, t.Context(), db, "CREATE TABLE counters (name varchar(20) PRIMARY KEY, n integer NOT NULL)",
		"INSERT INTO counters VALUES ('a', 0), ('b', 0)")
	return db
}

// read returns a counter.
func read(ctx context.Context, c sqltx.Conn, name string) (int, error) {
	list, err := column[int](ctx, c, "SELECT n FROM counters WHERE name = '"+name+"'")
	if err != nil || len(list) != 1 {
		return 0, errors.Join(err, fmt.Errorf("%d counters are called %s", len(list), name))
	}
	return list[0], nil
}

// write sets a counter.
func write(ctx context.Context, c sqltx.Conn, name string, n int) error {
	_, err := c.ExecContext(ctx, fmt.Sprintf("UPDATE counters SET n = %d WHERE name = '%s'", n, name))
	return err
}

// increment reads and writes, as two statements.
func increment(ctx context.Context, db *sqltx.DB, name string) error {
	n, err := read(ctx, db.Reader(ctx), name)
	if err != nil {
		return err
	}
	return write(ctx, db.Writer(ctx), name, n+1)
}

// state reads both counters from outside of any transaction.
func state(t *testing.T, db *sqltx.DB) [2]int {
	t.Helper()
	a, errA := read(t.Context(), db.Reader(t.Context()), "a")
	b, errB := read(t.Context(), db.Reader(t.Context()), "b")
	if err := errors.Join(errA, errB); err != nil {
		t.Fatal(err)
	}
	return [2]int{a, b}
}

func TestInTx(t *testing.T) {
	tests := []struct {
		name string
		do   func(ctx context.Context, db *sqltx.DB, note func(string)) error
		want [2]int
		err  error
		told []string
	}{
		{"commits", func(ctx context.Context, db *sqltx.DB, note func(string)) error {
			return db.InTx(ctx, func(ctx context.Context) error {
				tx.AfterCommit(ctx, func() { note("committed") })
				return errors.Join(increment(ctx, db, "a"), increment(ctx, db, "a"), increment(ctx, db, "b"))
			})
		}, [2]int{2, 1}, nil, []string{"committed"}},
		{"rolls back on an error", func(ctx context.Context, db *sqltx.DB, note func(string)) error {
			return db.InTx(ctx, func(ctx context.Context) error {
				tx.AfterCommit(ctx, func() { note("committed") })
				return errors.Join(increment(ctx, db, "a"), errRefused)
			})
		}, [2]int{}, errRefused, nil},
		{"joins", func(ctx context.Context, db *sqltx.DB, note func(string)) error {
			return db.InTx(ctx, func(ctx context.Context) error {
				err := db.InTx(ctx, func(ctx context.Context) error {
					tx.AfterCommit(ctx, func() { note("committed") })
					return increment(ctx, db, "a")
				})
				note("joined")
				return errors.Join(err, increment(ctx, db, "b"))
			})
		}, [2]int{1, 1}, nil, []string{"joined", "committed"}},
		{"joins what is rolled back", func(ctx context.Context, db *sqltx.DB, note func(string)) error {
			return db.InTx(ctx, func(ctx context.Context) error {
				err := db.InTx(ctx, func(ctx context.Context) error { return increment(ctx, db, "a") })
				return errors.Join(err, errRefused)
			})
		}, [2]int{}, errRefused, nil},
		{"rolls back when the context ends", func(ctx context.Context, db *sqltx.DB, note func(string)) error {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			return db.InTx(ctx, func(ctx context.Context) error {
				err := increment(ctx, db, "a")
				cancel()
				return err
			})
		}, [2]int{}, context.Canceled, nil},
		{"is over afterwards", func(ctx context.Context, db *sqltx.DB, note func(string)) error {
			var kept context.Context
			err := db.InTx(ctx, func(ctx context.Context) error {
				kept = ctx
				return increment(ctx, db, "a")
			})
			for what, err := range map[string]error{
				"a write":     write(kept, db.Writer(kept), "b", 5),
				"another one": increment(kept, db, "b"),
				"InTx":        db.InTx(kept, func(ctx context.Context) error { return nil }),
			} {
				if err == nil {
					note(what + " was possible with the context of a transaction that is over")
				}
			}
			return err
		}, [2]int{1, 0}, nil, nil},
		{"lets what waits for the commit write", func(ctx context.Context, db *sqltx.DB, note func(string)) error {
			return db.InTx(ctx, func(ctx context.Context) error {
				outside := tx.Without(ctx)
				tx.AfterCommit(ctx, func() {
					if err := increment(outside, db, "b"); err != nil {
						note(err.Error())
					}
				})
				return increment(ctx, db, "a")
			})
		}, [2]int{1, 1}, nil, nil},
	}
	enginetest.Each(t, func(t *testing.T, e sqltest.Engine) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				t.Parallel()
				db := counters(t, e, nil)
				var told []string
				err := tt.do(t.Context(), db, func(s string) { told = append(told, s) })
				if !errors.Is(err, tt.err) {
					t.Errorf("the error is %v, want %v", err, tt.err)
				}
				if diff := cmp.Diff(tt.told, told); diff != "" {
					t.Errorf("what was told (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(tt.want, state(t, db)); diff != "" {
					t.Errorf("the counters (-want +got):\n%s", diff)
				}
				// Nothing may have kept a lock or the only connection.
				if err := db.InTx(t.Context(), func(ctx context.Context) error { return increment(ctx, db, "a") }); err != nil {
					t.Errorf("the next transaction: %v", err)
				}
			})
		}
	})
}

func TestPanicRollsBack(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e sqltest.Engine) {
		db := counters(t, e, nil)
		func() {
			defer func() {
				if p := recover(); p != "thrown" {
					t.Errorf("the panic came out as %v", p)
				}
			}()
			db.InTx(t.Context(), func(ctx context.Context) error {
				if err := increment(ctx, db, "a"); err != nil {
					t.Error(err)
				}
				panic("thrown")
			})
		}()
		if diff := cmp.Diff([2]int{}, state(t, db)); diff != "" {
			t.Errorf("the counters (-want +got):\n%s", diff)
		}
		if err := increment(t.Context(), db, "b"); err != nil {
			t.Errorf("the next write: %v", err)
		}
	})
}

// TestConflictsAreRetried has many goroutines read a counter and write it back, which loses increments if any of them
// reads what another has replaced.
func TestConflictsAreRetried(t *testing.T) {
	const goroutines, times = 8, 12
	enginetest.Each(t, func(t *testing.T, e sqltest.Engine) {
		connector := e.Connector(t)
		pool := sql.OpenDB(connector)
		defer pool.Close()
		pool.SetMaxOpenConns(goroutines)
		impatient(t, e, pool, goroutines)
		db := sqltx.New(e.Dialect, pool, &sqltx.Options{Attempts: 1 << 30})
		exec(t, t.Context(), db, "CREATE TABLE counters (name varchar(20) PRIMARY KEY, n integer NOT NULL)",
			"INSERT INTO counters VALUES ('a', 0), ('b', 0)")
		var wg sync.WaitGroup
		var mu sync.Mutex
		runs, told := 0, 0
		for range goroutines {
			wg.Go(func() {
				for range times {
					err := db.InTx(t.Context(), func(ctx context.Context) error {
						mu.Lock()
						runs++
						mu.Unlock()
						tx.AfterCommit(ctx, func() {
							mu.Lock()
							told++
							mu.Unlock()
						})
						if err := increment(ctx, db, "a"); err != nil {
							return errRefused // as a store may that does not care for drivers' errors
						}
						return increment(ctx, db, "b")
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		if diff := cmp.Diff([2]int{goroutines * times, goroutines * times}, state(t, db)); diff != "" {
			t.Errorf("the counters (-want +got):\n%s", diff)
		}
		if told != goroutines*times {
			t.Errorf("%d commits were announced, want %d", told, goroutines*times)
		}
		t.Logf("%d runs for %d transactions", runs, told)
	})
}

// impatient makes the connections of a pool fail with SQLITE_BUSY at once.
func impatient(t *testing.T, e sqltest.Engine, pool *sql.DB, n int) {
	t.Helper()
	pool.SetMaxIdleConns(n)
	for range n {
		conn, err := pool.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if e.Dialect == sqltx.SQLite {
			if _, err := conn.ExecContext(t.Context(), "PRAGMA busy_timeout = 0"); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestGivesUp holds the lock that the transaction needs.
func TestGivesUp(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e sqltest.Engine) {
		pool := sql.OpenDB(e.Connector(t))
		defer pool.Close()
		impatient(t, e, pool, 3)
		db := sqltx.New(e.Dialect, pool, &sqltx.Options{Attempts: 3})
		exec(t, t.Context(), db, "CREATE TABLE counters (name varchar(20) PRIMARY KEY, n integer NOT NULL)",
			"INSERT INTO counters VALUES ('a', 0), ('b', 0)")
		runs := 0
		err := db.InTx(t.Context(), func(ctx context.Context) error {
			return db.InTx(context.WithoutCancel(t.Context()), func(ctx context.Context) error { // a transaction of its own
				if runs++; e.Dialect == sqltx.SQLite {
					t.Error("two transactions write at once")
				}
				if _, err := read(ctx, db.Reader(ctx), "a"); err != nil {
					return err
				}
				if err := increment(context.WithoutCancel(t.Context()), db, "a"); err != nil { // in the meantime
					return err
				}
				return increment(ctx, db, "a")
			})
		})
		if got := e.Dialect.Fault(err).Kind; got != sqltx.Conflict {
			t.Errorf("the fault is %d, want Conflict: %v", got, err)
		}
		if want := map[sqltx.Dialect]int{sqltx.SQLite: 0, sqltx.PostgreSQL: 9}[e.Dialect]; runs != want {
			t.Errorf("the inner function was run %d times, want %d", runs, want)
		}
	})
}

// TestDeadlock has two transactions take two locks in opposite order. PostgreSQL ends one of them.
func TestDeadlock(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e sqltest.Engine) {
		if e.Dialect == sqltx.SQLite {
			t.Skip("SQLite has one lock")
		}
		db := counters(t, e, &sqltx.Options{Isolation: sql.LevelReadCommitted})
		lock := func(ctx context.Context, name string) error {
			_, err := db.Writer(ctx).ExecContext(ctx, "UPDATE counters SET n = n + 1 WHERE name = $1", name)
			return err
		}
		var both, wg sync.WaitGroup
		both.Add(2)
		for _, order := range [][]string{{"a", "b"}, {"b", "a"}} {
			wg.Go(func() {
				first := true
				err := db.InTx(t.Context(), func(ctx context.Context) error {
					exec(t, ctx, db, "SET LOCAL deadlock_timeout = '20ms'")
					if err := lock(ctx, order[0]); err != nil {
						return err
					}
					if first {
						first = false
						both.Done()
						both.Wait()
					}
					return lock(ctx, order[1])
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if diff := cmp.Diff([2]int{2, 2}, state(t, db)); diff != "" {
			t.Errorf("the counters (-want +got):\n%s", diff)
		}
	})
}

// TestOutcomeUnknown loses the connection before the commit is acknowledged.
func TestOutcomeUnknown(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e sqltest.Engine) {
		if e.Dialect == sqltx.SQLite {
			t.Skip("SQLite has no connection to lose")
		}
		connector := e.Connector(t)
		pool, killer := sql.OpenDB(connector), sql.OpenDB(connector)
		defer pool.Close()
		defer killer.Close()
		db := sqltx.New(e.Dialect, pool, nil)
		runs := 0
		err := db.InTx(t.Context(), func(ctx context.Context) error {
			runs++
			pids, err := column[int](ctx, db.Writer(ctx), "SELECT pg_backend_pid()")
			if err != nil {
				return err
			}
			_, err = killer.ExecContext(ctx, "SELECT pg_terminate_backend($1, 60000)", pids[0])
			return err
		})
		if !errors.Is(err, sqltx.ErrOutcomeUnknown) {
			t.Errorf("the error is %v, want ErrOutcomeUnknown", err)
		}
		if runs != 1 {
			t.Errorf("the function was run %d times although its effect may have been there", runs)
		}
		if err := db.InTx(t.Context(), func(ctx context.Context) error { return nil }); err != nil {
			t.Errorf("the next transaction: %v", err)
		}
	})
}

// TestTwoPools reads beside an open transaction.
func TestTwoPools(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e sqltest.Engine) {
		db := counters(t, e, nil)
		outside := context.WithoutCancel(t.Context())
		err := db.InTx(t.Context(), func(ctx context.Context) error {
			if err := increment(ctx, db, "a"); err != nil {
				return err
			}
			seen := make(chan int, 1)
			go func() { // elsewhere, as Debug would have it
				defer close(seen)
				if n, err := read(outside, db.Reader(outside), "a"); err == nil {
					seen <- n
				}
			}()
			if n, ok := <-seen; n != 0 || !ok {
				t.Errorf("a reader beside the transaction saw %d, %v", n, ok)
			}
			n, err := read(ctx, db.Reader(ctx), "a")
			if n != 1 {
				t.Errorf("the transaction reads %d after writing 1", n)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([2]int{1, 0}, state(t, db)); diff != "" {
			t.Errorf("the counters (-want +got):\n%s", diff)
		}
	})
}

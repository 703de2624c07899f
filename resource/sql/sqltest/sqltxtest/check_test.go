package sqltxtest

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stoa-go/stoa/resource/sql/sqltest"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// check returns the readiness check of a database.
func check(t *testing.T, db *sqltx.DB) func(context.Context) error {
	t.Helper()
	ready, err := db.NewCheck(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return ready
}

// TestCheckLeavesTheDatabase: the check passes, also during a transaction, and changes nothing.
func TestCheckLeavesTheDatabase(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e sqltest.Engine) {
		db := e.Open(t, nil)
		exec(t, t.Context(), db, "CREATE TABLE t (a integer)")
		settings := []string{"SELECT 'no settings'"}
		if e.Dialect == sqltx.SQLite {
			exec(t, t.Context(), db, "PRAGMA user_version = 7")
			settings = []string{"PRAGMA user_version", "PRAGMA busy_timeout"}
		}
		read := func() (values []string) {
			for _, s := range settings {
				v, err := column[string](t.Context(), db.Writer(t.Context()), s)
				if err != nil {
					t.Fatal(err)
				}
				values = append(values, v...)
			}
			return values
		}
		before := strings.Join(read(), " ")
		ready, first := check(t, db), check(t, db)
		if err := first(t.Context()); err != nil {
			t.Error(err)
		}
		err := db.InTx(t.Context(), func(context.Context) error { return ready(t.Context()) })
		if err != nil {
			t.Errorf("during a transaction: %v", err)
		}
		if after := strings.Join(read(), " "); after != before {
			t.Errorf("the settings are %s after the check, want %s", after, before)
		}
	})
}

// openFile opens a file of SQLite with one connection.
func openFile(t *testing.T, driver, path string) *sqltx.DB {
	t.Helper()
	pool, err := sql.Open(driver, "file:"+path+"?_pragma=busy_timeout(10000)&_pragma=journal_mode(wal)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pool.Close() })
	pool.SetMaxOpenConns(1)
	return sqltx.New(sqltx.SQLite, pool, nil)
}

// sqliteFiles runs a test with each driver of SQLite, on a new file.
func sqliteFiles(t *testing.T, test func(t *testing.T, path string, open func() *sqltx.DB)) {
	for _, driver := range []string{"sqlite", "sqlite3"} {
		t.Run(driver, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "test.db")
			test(t, path, func() *sqltx.DB { return openFile(t, driver, path) })
		})
	}
}

// TestCheckOfAMovedFile: the process would write to a file that others do not open.
func TestCheckOfAMovedFile(t *testing.T) {
	t.Parallel()
	sqliteFiles(t, func(t *testing.T, path string, open func() *sqltx.DB) {
		db := open()
		exec(t, t.Context(), db, "CREATE TABLE t (a integer)")
		ready := check(t, db)
		want := func(text string) {
			t.Helper()
			err := ready(t.Context())
			if text == "" && err != nil || text != "" && (err == nil || !strings.Contains(err.Error(), text)) {
				t.Errorf("the check returns %v, want %q", err, text)
			}
		}
		move := func(from, to string) {
			t.Helper()
			if err := os.Rename(from, to); err != nil {
				t.Fatal(err)
			}
		}
		want("")
		move(path, path+".old")
		want("moved or removed")
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		want("replaced")
		move(path+".old", path)
		want("")
	})
}

// TestCheckWhileAnotherProcessWrites: a lock of another connection does not make the check fail.
func TestCheckWhileAnotherProcessWrites(t *testing.T) {
	t.Parallel()
	sqliteFiles(t, func(t *testing.T, _ string, open func() *sqltx.DB) {
		db, other := open(), open()
		ready := check(t, db)
		err := other.InTx(t.Context(), func(context.Context) error { return ready(t.Context()) })
		if err != nil {
			t.Error(err)
		}
	})
}

// TestCheckWithoutWrites: the check fails while no write can succeed. It writes once a second.
func TestCheckWithoutWrites(t *testing.T) {
	t.Parallel()
	for _, driver := range []string{"sqlite", "sqlite3"} {
		t.Run(driver, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				db := openFile(t, driver, filepath.Join(t.TempDir(), "test.db"))
				ready := check(t, db)
				for _, step := range []struct {
					setting string
					pause   time.Duration
					fails   bool
				}{
					{"PRAGMA query_only = 1", 0, true},
					{"PRAGMA query_only = 0", 0, true}, // the result of the last second
					{"PRAGMA query_only = 0", time.Second, false},
					{"PRAGMA query_only = 1", 0, false},
					{"PRAGMA query_only = 1", time.Second, true},
				} {
					time.Sleep(step.pause)
					exec(t, t.Context(), db, step.setting)
					if err := ready(t.Context()); (err != nil) != step.fails {
						t.Errorf("%s, after %v: the check returns %v", step.setting, step.pause, err)
					}
				}
				exec(t, t.Context(), db, "PRAGMA query_only = 0")
				if err := db.InTx(t.Context(), func(context.Context) error { return nil }); err != nil {
					t.Errorf("InTx after the check: %v", err)
				}
			})
		})
	}
}

package sqltx_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"weak"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/sql/sqltx"
	"github.com/stoa-go/stoa/resource/sql/sqltx/internal/fakesqlite"
	"github.com/stoa-go/stoa/resource/tx"
)

// TestIdle: the timeout is set once per connection of PostgreSQL.
func TestIdle(t *testing.T) {
	t.Parallel()
	const told = "SELECT set_config"
	twice := []string{"OPEN", told, "BEGIN", "w", "COMMIT", "BEGIN", "w", "COMMIT"}
	tests := []struct {
		name    string
		dialect sqltx.Dialect
		opts    *sqltx.Options
		fail    func(string, int) error
		want    []string
	}{
		{"by default", sqltx.PostgreSQL, nil, nil, twice},
		{
			"for ever",
			sqltx.PostgreSQL,
			&sqltx.Options{Idle: -1},
			nil,
			[]string{"OPEN", "BEGIN", "w", "COMMIT", "BEGIN", "w", "COMMIT"},
		},
		{"a server without the setting", sqltx.PostgreSQL, nil, func(what string, _ int) error {
			if strings.HasPrefix(what, told) {
				return errors.New("no such function")
			}
			return nil
		}, twice},
		{"of SQLite there is no such thing", sqltx.SQLite, nil, nil,
			[]string{"OPEN", "BEGIN IMMEDIATE", "w", "COMMIT", "BEGIN IMMEDIATE", "w", "COMMIT"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			db, fake := open(t, tt.dialect, tt.fail, tt.opts)
			for range 2 {
				err := db.InTx(t.Context(), func(ctx context.Context) error {
					_, err := db.Writer(ctx).ExecContext(ctx, "w")
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			got := fake.Log()
			for i, line := range got {
				if strings.HasPrefix(line, told) {
					got[i] = told
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("what was done (-want +got):\n%s", diff)
			}
		})
	}
}

// TestIdleOnALostConnection: if the connection is lost while the timeout is set, no transaction
// begins.
func TestIdleOnALostConnection(t *testing.T) {
	t.Parallel()
	db, _ := open(t, sqltx.PostgreSQL, func(what string, _ int) error {
		if strings.HasPrefix(what, "SELECT set_config") {
			return driver.ErrBadConn
		}
		return nil
	}, nil)
	if err := db.InTx(t.Context(), func(context.Context) error { return nil }); !errors.Is(err,
		tx.ErrUnavailable) {
		t.Errorf("InTx: %v, want tx.ErrUnavailable", err)
	}
}

// TestIdleReleasesConnections: connections that the pool has closed are not kept in memory.
func TestIdleReleasesConnections(t *testing.T) {
	t.Parallel()
	var opened []weak.Pointer[byte]
	fake := &fakesqlite.Driver{Opened: func(c driver.Conn) {
		opened = append(opened, weak.Make((*byte)(reflect.ValueOf(c).UnsafePointer())))
	}}
	pool := sql.OpenDB(fake)
	defer pool.Close()
	pool.SetMaxIdleConns(-1) // a new connection for each transaction
	db := sqltx.New(sqltx.PostgreSQL, pool, nil)
	for range 300 {
		if err := db.InTx(t.Context(), func(context.Context) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	runtime.GC()
	kept := 0
	for _, c := range opened {
		if c.Value() != nil {
			kept++
		}
	}
	runtime.KeepAlive(db)
	if len(opened) != 300 || kept > 10 {
		t.Errorf("%d of %d closed connections are in memory", kept, len(opened))
	}
}

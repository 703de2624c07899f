package sqltabletest

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// interruption runs a function before a statement.
type interruption struct {
	driver.Connector
	before string // the beginning of the statement; empty for none
	do     func()
}

func (i *interruption) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := i.Connector.Connect(ctx)
	return &interruptedConn{enginetest.NewConn(c, &enginetest.Recorder{}), i}, err
}

type interruptedConn struct {
	*enginetest.Conn
	at *interruption
}

// check runs the function once.
func (c *interruptedConn) check(statement string) {
	if i := c.at; i.before != "" && strings.HasPrefix(strings.ReplaceAll(statement, "`", `"`), i.before) {
		i.before = ""
		i.do()
	}
}

func (c *interruptedConn) QueryContext(
	ctx context.Context, statement string, args []driver.NamedValue,
) (driver.Rows, error) {
	c.check(statement)
	return c.Conn.QueryContext(ctx, statement, args)
}

func (c *interruptedConn) PrepareContext(ctx context.Context, statement string) (driver.Stmt, error) {
	c.check(statement)
	return c.Conn.PrepareContext(ctx, statement)
}

// TestSoftDeleteRestoredBetween: an item that was deleted and is restored between the two statements of an
// operation exists, as does its deletion: no operation reports that it was never there.
func TestSoftDeleteRestoredBetween(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		connector := e.Connector(t)
		pause := &interruption{Connector: connector}
		open := func(c driver.Connector) resource.Ops[numbered] {
			pool := sql.OpenDB(c)
			t.Cleanup(func() { pool.Close() })
			pool.SetMaxOpenConns(1)
			table := sqltable.New[numbered](sqltx.New(e.Dialect, pool, nil), "numbered",
				&sqltable.Options{SoftDelete: "deleted_at"})
			if err := table.CreateTable(t.Context()); err != nil {
				t.Fatal(err)
			}
			return table.Ops()
		}
		other, ops := open(connector), resource.Ops[numbered]{}
		deletion := `SELECT "deleted_at" FROM`
		tests := []struct {
			name string
			run  func(ctx context.Context, id string, rev resource.Rev) error
			want error
		}{
			{"get", func(ctx context.Context, id string, _ resource.Rev) error {
				item, err := ops.Get(ctx, id)
				if err == nil && item.Value.Title != "a" {
					t.Errorf("got %+v", item)
				}
				return err
			}, nil},
			{"replace", func(ctx context.Context, id string, rev resource.Rev) error {
				_, err := ops.Replace(ctx, id, rev, numbered{Title: "b"})
				return err
			}, resource.ErrStale},
			{"delete", func(ctx context.Context, id string, rev resource.Rev) error {
				return ops.Delete(ctx, id, rev)
			}, resource.ErrStale},
		}
		for _, tt := range tests {
			ops = open(pause) // without prepared statements, which pause does not see
			item, err := other.Create(t.Context(), numbered{Title: "a"})
			if err == nil {
				err = other.Delete(t.Context(), item.ID, item.Rev)
			}
			if err != nil {
				t.Fatal(err)
			}
			restored := false
			pause.before, pause.do = deletion, func() {
				_, err := other.Restore(t.Context(), item.ID)
				if restored = err == nil; !restored {
					t.Errorf("%s: restore: %v", tt.name, err)
				}
			}
			if err := tt.run(t.Context(), item.ID, item.Rev); !errors.Is(err, tt.want) {
				t.Errorf("%s: error %v, want %v", tt.name, err, tt.want)
			}
			if diff := cmp.Diff(true, restored); diff != "" {
				t.Errorf("%s: restored between the statements (-want +got):\n%s", tt.name, diff)
			}
		}
	})
}

package sqltxtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltest"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

const family = `CREATE TABLE parents (id integer PRIMARY KEY, tenant integer, email varchar(20), nick varchar(20),
	CONSTRAINT parents_email UNIQUE (tenant, email));
CREATE UNIQUE INDEX parents_lower ON parents (lower(nick));
CREATE TABLE children (id integer PRIMARY KEY, parent integer NOT NULL, "the age" integer,
	later integer REFERENCES parents (id) DEFERRABLE INITIALLY DEFERRED,
	CONSTRAINT has_parent FOREIGN KEY (parent) REFERENCES parents (id),
	CONSTRAINT age_sane CHECK ("the age" < 150));
CREATE UNIQUE INDEX children_age ON children ("the age");
INSERT INTO parents VALUES (1, 1, 'ann', 'ann');
INSERT INTO children VALUES (1, 1, 7, 1)`

func TestFault(t *testing.T) {
	tests := []struct {
		name      string
		statement string
		want      sqltx.Fault
		sqlite    sqltx.Fault // if SQLite reports less
	}{
		{"primary key", "INSERT INTO parents VALUES (1, 2, 'bob', NULL)",
			sqltx.Fault{Kind: sqltx.Unique, Constraint: "parents_pkey", Table: "parents", Columns: []string{"id"}},
			sqltx.Fault{Kind: sqltx.Unique, Columns: []string{"id"}}},
		{"unique", "INSERT INTO parents VALUES (2, 1, 'ann', NULL)",
			sqltx.Fault{Kind: sqltx.Unique, Constraint: "parents_email", Table: "parents", Columns: []string{"tenant", "email"}},
			sqltx.Fault{Kind: sqltx.Unique, Columns: []string{"tenant", "email"}}},
		{"unique with a name to quote", `INSERT INTO children VALUES (2, 1, 7, NULL)`,
			sqltx.Fault{Kind: sqltx.Unique, Constraint: "children_age", Table: "children", Columns: []string{"the age"}},
			sqltx.Fault{Kind: sqltx.Unique, Columns: []string{"the age"}}},
		{"unique expression", "INSERT INTO parents VALUES (2, 1, 'bob', 'ANN')",
			sqltx.Fault{Kind: sqltx.Unique, Constraint: "parents_lower", Table: "parents", Columns: []string{"lower(nick::text)"}},
			sqltx.Fault{Kind: sqltx.Unique, Constraint: "parents_lower"}},
		{"no parent", "INSERT INTO children VALUES (2, 9, 8, NULL)",
			sqltx.Fault{Kind: sqltx.ForeignKey, Constraint: "has_parent", Table: "children", Columns: []string{"parent"}},
			sqltx.Fault{Kind: sqltx.ForeignKey}},
		{"has children", "DELETE FROM parents",
			sqltx.Fault{Kind: sqltx.ForeignKey, Constraint: "has_parent", Table: "children", Columns: []string{"id"}},
			sqltx.Fault{Kind: sqltx.ForeignKey}},
		{"no parent at commit", "INSERT INTO children VALUES (2, 1, 8, 9)",
			sqltx.Fault{Kind: sqltx.ForeignKey, Constraint: "children_later_fkey", Table: "children", Columns: []string{"later"}},
			sqltx.Fault{Kind: sqltx.ForeignKey}},
		{"check", "INSERT INTO children VALUES (2, 1, 200, NULL)",
			sqltx.Fault{Kind: sqltx.Check, Constraint: "age_sane", Table: "children"},
			sqltx.Fault{Kind: sqltx.Check, Constraint: "age_sane"}},
		{"missing", "INSERT INTO children VALUES (2, NULL, 8, NULL)",
			sqltx.Fault{Kind: sqltx.NotNull, Table: "children", Columns: []string{"parent"}},
			sqltx.Fault{Kind: sqltx.NotNull, Columns: []string{"parent"}}},
		{"mistake", "SELECT FROM WHERE", sqltx.Fault{}, sqltx.Fault{}},
		{"nothing", "DELETE FROM children", sqltx.Fault{}, sqltx.Fault{}},
	}
	enginetest.Each(t, func(t *testing.T, e sqltest.Engine) {
		db := e.Open(t, nil)
		exec(t, t.Context(), db, family)
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				err := db.InTx(t.Context(), func(ctx context.Context) error {
					if _, err := db.Writer(ctx).ExecContext(ctx, tt.statement); err != nil {
						return fmt.Errorf("by the store: %w", errors.Join(errRefused, err))
					}
					if tt.name == "nothing" {
						return errRefused
					}
					return nil
				})
				want := tt.want
				if e.Dialect == sqltx.SQLite {
					want = tt.sqlite
				}
				if diff := cmp.Diff(want, e.Dialect.Fault(err)); diff != "" {
					t.Errorf("the fault of %q (-want +got):\n%s", err, diff)
				}
				if err == nil || errors.Is(err, sqltx.ErrOutcomeUnknown) {
					t.Errorf("the error is %v", err)
				}
			})
		}
	})
}

// TestUnavailable asks databases that are not there.
func TestUnavailable(t *testing.T) {
	t.Parallel()
	for name, source := range map[string]struct {
		dialect     sqltx.Dialect
		driver, dsn string
	}{
		"modernc": {sqltx.SQLite, "sqlite", "file:/nowhere/at/all.db"},
		"ncruces": {sqltx.SQLite, "sqlite3", "file:/nowhere/at/all.db"},
		"pgx":     {sqltx.PostgreSQL, "pgx", "postgres:///x?host=/nowhere/at/all"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool, err := sql.Open(source.driver, source.dsn)
			if err != nil {
				t.Fatal(err)
			}
			defer pool.Close()
			err = sqltx.New(source.dialect, pool, nil).InTx(t.Context(), func(context.Context) error { return nil })
			if got := source.dialect.Fault(err).Kind; got != sqltx.Unavailable {
				t.Errorf("the fault is %d, want Unavailable: %v", got, err)
			}
		})
	}
}

// TestHandshakeLost loses connections before the handshakes of TLS and PostgreSQL are complete. No
// statement was sent, so a write without a transaction is plain 503.
func TestHandshakeLost(t *testing.T) {
	t.Parallel()

	for _, tt := range []struct {
		name, query, reply string
		reset              bool
	}{
		{"closed before the reply to the startup message", "sslmode=disable", "", false},
		{"reset before the reply to the startup message", "sslmode=disable", "", true},
		{"closed in a reply to the startup message", "sslmode=disable", "R\x00\x00\x00\x08\x00", false},
		{"closed before the reply to the request for TLS", "sslmode=require", "", false},
		{"closed in the handshake of TLS", "sslmode=require", "S", false},
		{"reset in the handshake of TLS", "sslmode=require", "S", true},
		{"the server shuts down", "sslmode=disable", "E\x00\x00\x00\x1bSFATAL\x00C57P01\x00Mbye\x00\x00\x00\x00", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			address := hangUp(t, tt.reply, tt.reset)
			pool, err := sql.Open("pgx", "postgres://stoa@"+address+"/stoa?"+tt.query)
			if err != nil {
				t.Fatal(err)
			}
			defer pool.Close()
			type note struct {
				ID string `json:"id"`
			}
			ops := sqltable.New[note](sqltx.New(sqltx.PostgreSQL, pool, nil), "notes", nil).Ops()
			_, err = ops.Insert(t.Context(), "a", note{})
			if got := resource.Problem(err).Kind; got != problem.Unavailable {
				t.Errorf("the problem is %s, want %s: %v", got, problem.Unavailable, err)
			}
			if diff := cmp.Diff(sqltx.Fault{Kind: sqltx.Unavailable}, sqltx.PostgreSQL.Fault(err)); diff != "" {
				t.Errorf("the fault of %v (-want +got):\n%s", err, diff)
			}
		})
	}
}

// hangUp starts a server that reads once from each connection, sends a reply, and closes or resets
// the connection. It returns its address.
func hangUp(t *testing.T, reply string, reset bool) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			conn.Read(make([]byte, 4096))
			conn.Write([]byte(reply))
			if reset {
				conn.(*net.TCPConn).SetLinger(0)
			}
			conn.Close()
		}
	}()
	return listener.Addr().String()
}

// Package sqlrecordstest tests package sqlrecords on real databases: SQLite by two drivers, and PostgreSQL.
//
// Its benchmark shows what a key costs where record and effect are one transaction, and what it costs where they are three.
// The figures are worth something if commits are on the disk; for PostgreSQL that takes a server of one's own, with fsync,
// and SQLite is opened that way. From this folder:
//
//	../../../../.ci/postgres start              # prints a folder and a URL
//	TEST_PG_DSN=URL go test -run '^$' -bench KeyedPOST -benchtime 1x . -args -requests 2000 -rounds 5
//	../../../../.ci/postgres stop FOLDER
package sqlrecordstest

import (
	"context"
	"database/sql"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/idempotency/idempotencytest"
	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/sql/sqlrecords"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltest"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// TestMain is also the main function of the processes that die in crash_test.go.
func TestMain(m *testing.M) {
	if job := os.Getenv(jobVariable); job != "" {
		work(job)
		return
	}
	sqltest.Main(m)
}

// onPostgres is for what SQLite cannot show, with its one writer at a time and no connections to lose.
func onPostgres(t *testing.T, test func(t *testing.T, e sqltest.Engine)) {
	t.Parallel()
	for _, e := range sqltest.Engines() {
		if e.Dialect == sqltx.PostgreSQL {
			test(t, e)
		}
	}
}

// records returns a store in a table of its own.
func records(tb testing.TB, db *sqltx.DB) *sqlrecords.Store {
	tb.Helper()
	s := sqlrecords.New(db, nil)
	if err := s.CreateTable(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	return s
}

// order is what the tests create, once.
type order struct {
	ID   string `json:"id"`
	What string `json:"what"`
}

// orders returns a collection in a table of its own.
func orders(ctx context.Context, db *sqltx.DB) (*sqltable.Table[order], error) {
	table := sqltable.New[order](db, "orders", nil)
	return table, table.CreateTable(ctx)
}

// operation is the same each time.
func operation(key string) idempotency.Operation {
	return idempotency.Operation{Principal: "ann", Method: "POST", Target: "/orders", Key: key}
}

// create returns what Do is to do: create an order.
func create(table *sqltable.Table[order]) func(ctx context.Context) (idempotency.Record, error) {
	return func(ctx context.Context) (idempotency.Record, error) {
		item, err := table.Ops().Create(ctx, order{What: "tea"})
		return idempotency.Record{Status: http.StatusCreated, Collection: "orders", ID: item.ID, Rev: string(item.Rev)}, err
	}
}

// count returns how many orders there are.
func count[T any](tb testing.TB, table *sqltable.Table[T]) int {
	tb.Helper()
	n, err := table.Ops().Count(tb.Context(), query.Query{})
	if err != nil {
		tb.Fatal(err)
	}
	return n
}

// rows returns how many rows a table has.
func rows(tb testing.TB, db *sqltx.DB, table string) (n int) {
	tb.Helper()
	found, err := db.Reader(tb.Context()).QueryContext(tb.Context(), "SELECT count(*) FROM "+table)
	if err != nil {
		tb.Fatal(err)
	}
	defer found.Close()
	for found.Next() {
		if err := found.Scan(&n); err != nil {
			tb.Fatal(err)
		}
	}
	return n
}

func TestKit(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e sqltest.Engine) {
		opts := &sqltx.Options{Attempts: 1 << 30} // no claim is to give up, however many others there are
		idempotencytest.Run(t, func(t *testing.T) idempotency.Store { return records(t, e.Open(t, opts)) }, nil)
	})
}

// TestKitInEveryIsolation is for programs that choose another one than sqltx does.
func TestKitInEveryIsolation(t *testing.T) {
	onPostgres(t, func(t *testing.T, e sqltest.Engine) {
		for _, level := range []sql.IsolationLevel{sql.LevelReadCommitted, sql.LevelSerializable} {
			t.Run(level.String(), func(t *testing.T) {
				t.Parallel()
				idempotencytest.Run(t, func(t *testing.T) idempotency.Store {
					return records(t, e.Open(t, &sqltx.Options{Isolation: level, Attempts: 1 << 30}))
				}, nil)
			})
		}
	})
}

// later is a clock by which every lease has ended.
func later() time.Time { return time.Now().Add(2 * time.Minute) }

package sqltxtest

import (
	"context"
	"database/sql"
	"strings"
	"sync"
	"testing"

	"github.com/stoa-go/stoa/resource/sql/sqltest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// TestChangedType changes the type of a column that all connections of a pool have prepared
// statements for. PostgreSQL refuses each of them once.
func TestChangedType(t *testing.T) {
	t.Parallel()
	const connections = 4
	statements := []string{"SELECT n FROM counters WHERE name = $1",
		"UPDATE counters SET n = n + 1 WHERE name = $1 RETURNING n"}
	for _, tt := range []struct {
		name string
		run  func(ctx context.Context, db *sqltx.DB, do func(ctx context.Context) error) error
	}{
		{"outside transactions", func(ctx context.Context, _ *sqltx.DB, do func(context.Context) error) error {
			return do(ctx)
		}},
		{"in transactions", func(ctx context.Context, db *sqltx.DB, do func(context.Context) error) error {
			return db.InTx(ctx, do)
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			pool, err := sql.Open("pgx", sqltest.PostgreSQL(t))
			if err != nil {
				t.Fatal(err)
			}
			defer pool.Close()
			pool.SetMaxOpenConns(connections)
			pool.SetMaxIdleConns(connections)
			db := sqltx.New(sqltx.PostgreSQL, pool, nil)
			exec(t, t.Context(), db, "CREATE TABLE counters (name text PRIMARY KEY, n integer NOT NULL)",
				"INSERT INTO counters VALUES ('a', 0)")
			prepareOnAll(t, pool, connections, statements)
			for _, typ := range []string{"bigint", "numeric", "integer"} {
				exec(t, t.Context(), db, "ALTER TABLE counters ALTER n TYPE "+typ)
				var wg sync.WaitGroup
				for range connections {
					wg.Go(func() {
						for range 3 {
							if err := tt.run(t.Context(), db, func(ctx context.Context) error { return runAll(ctx, db, statements) }); err != nil {
								t.Errorf("after the change to %s: %v", typ, err)
							}
						}
					})
				}
				wg.Wait()
			}
			var n int
			if err := pool.QueryRowContext(t.Context(), statements[0], "a").Scan(&n); err != nil {
				t.Fatal(err)
			}
			if want := connections + 3*3*connections; n != want {
				t.Errorf("the counter is %d, want %d: each write once", n, want)
			}
		})
	}
}

// runAll runs statements in the transaction of ctx, if there is one.
func runAll(ctx context.Context, db *sqltx.DB, statements []string) error {
	for _, text := range statements {
		if err := discard(ctx, db.Writer(ctx), text); err != nil {
			return err
		}
	}
	return nil
}

// prepareOnAll runs statements on all connections of a pool at the same time.
func prepareOnAll(t *testing.T, pool *sql.DB, n int, statements []string) {
	t.Helper()
	for range n {
		conn, err := pool.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		for _, text := range statements {
			if err := discard(t.Context(), conn, text); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// discard runs a query and ignores its rows.
func discard(ctx context.Context, conn sqltx.Conn, text string) error {
	rows, err := conn.QueryContext(ctx, text, "a")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
	}
	return rows.Err()
}

// TestMixedStatements: the error of a statement that another client of a pooler has removed explains
// how to connect.
func TestMixedStatements(t *testing.T) {
	t.Parallel()
	pool, err := sql.Open("pgx", sqltest.PostgreSQL(t))
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	pool.SetMaxOpenConns(1)
	db := sqltx.New(sqltx.PostgreSQL, pool, nil)
	query := func(ctx context.Context) error { return discard(ctx, db.Reader(ctx), "SELECT $1::text") }
	for _, tt := range []struct {
		name string
		run  func() error
	}{
		{"outside transactions", func() error { return query(t.Context()) }},
		{"in a transaction", func() error { return db.InTx(t.Context(), query) }},
	} {
		if err := tt.run(); err != nil {
			t.Fatal(err)
		}
		exec(t, t.Context(), db, "DEALLOCATE ALL")
		if err := tt.run(); err == nil || !strings.Contains(err.Error(), "default_query_exec_mode=exec") {
			t.Errorf("%s: %v, want an error that names the mode", tt.name, err)
		}
	}
}

package pgxrows_test

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/sql/pgxrows"
	"github.com/stoa-go/stoa/resource/sql/sqlquery"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltest"
	"github.com/stoa-go/stoa/resource/sql/sqltest/rowstest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

var (
	rowsCount = flag.Int("json-rows", 0, "how many random rows TestRows compares in total; 0 selects the default")
	rowsSeed  = flag.Uint64("json-seed", 1, "seed of the random rows")
)

func TestMain(m *testing.M) { sqltest.Main(m) }

// recorder counts the queries that a Reader has run, and those that it has left to database/sql.
type recorder struct {
	pgxrows.Reader
	ran, left atomic.Int64
}

func (r *recorder) ReadRows(
	ctx context.Context, conn any, query string, args []any, read func(sqltx.RawRows) error,
) error {
	err := r.Reader.ReadRows(ctx, conn, query, args, func(rows sqltx.RawRows) error {
		r.ran.Add(1)
		return read(rows)
	})
	if err != nil {
		r.left.Add(1)
	}
	return err
}

// open returns a new database in a mode of pgx, and the recorder of its reads.
func open(t *testing.T, mode pgx.QueryExecMode, opts sqltx.Options) (*sqltx.DB, *recorder) {
	t.Helper()
	config, err := pgx.ParseConfig(sqltest.PostgreSQL(t))
	if err != nil {
		t.Fatal(err)
	}
	config.DefaultQueryExecMode = mode
	config.RuntimeParams["TimeZone"] = "Asia/Kolkata"
	pool := sql.OpenDB(sqltx.Guard(stdlib.GetConnector(*config)))
	pool.SetMaxOpenConns(4)
	t.Cleanup(func() { pool.Close() })
	r := &recorder{}
	opts.Rows, opts.Debug = r, true
	return sqltx.New(sqltx.PostgreSQL, pool, &opts), r
}

// TestRows compares List and ListJSON over random rows of all kinds of columns. Together with TestRows of
// sqltabletest the gate compares 100,000 and more.
func TestRows(t *testing.T) {
	rows := *rowsCount
	switch {
	case rows > 0:
	case os.Getenv("STOA_TEST") == "full":
		rows = 25_000
	default:
		rows = 6_000
	}
	modes := map[string]pgx.QueryExecMode{
		"cache_statement": pgx.QueryExecModeCacheStatement,
		"exec":            pgx.QueryExecModeExec,
		"simple_protocol": pgx.QueryExecModeSimpleProtocol,
	}
	for name, mode := range modes {
		n := rows / 10
		if mode == pgx.QueryExecModeCacheStatement {
			n = rows
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, r := open(t, mode, sqltx.Options{})
			rowstest.Run(t, db, n, *rowsSeed)
			if r.ran.Load() == 0 || r.left.Load() > 0 {
				t.Errorf("%d lists with the reader and %d without", r.ran.Load(), r.left.Load())
			}
		})
	}
}

// note is an item of the tests below.
type note struct {
	ID    int64      `json:"id" readOnly:"true"`
	Text  string     `json:"text"`
	Price string     `json:"price" format:"decimal" sql:"numeric"`
	Ratio float64    `json:"ratio"`
	At    time.Time  `json:"at"`
	Day   string     `json:"day" format:"date"`
	Local *time.Time `json:"local" sql:"timestamp"`
}

// notes returns a table of notes with n items.
func notes(t *testing.T, db *sqltx.DB, n int) resource.Ops[note] {
	t.Helper()
	table := sqltable.New[note](db, "notes", &sqltable.Options{Forget: true, Rev: sqltable.XMin})
	if err := table.CreateTable(sqltx.WithoutSession(t.Context())); err != nil {
		t.Fatal(err)
	}
	exec(t, db, `INSERT INTO notes (text, price, ratio, at, day) SELECT repeat('x', 1000), i, i, now(), now() FROM
		generate_series(1, `+strconv.Itoa(n)+`) AS i`)
	return table.Ops()
}

func exec(t *testing.T, db *sqltx.DB, statement string) {
	t.Helper()
	ctx := sqltx.WithoutSession(t.Context())
	if _, err := db.Writer(ctx).ExecContext(ctx, statement); err != nil {
		t.Fatal(err)
	}
}

// TestStrangeValues reads values that JSON or time.Time does not have.
func TestStrangeValues(t *testing.T) {
	t.Parallel()
	db, r := open(t, pgx.QueryExecModeCacheStatement, sqltx.Options{})
	ops := notes(t, db, 1)
	exec(t, db, `INSERT INTO notes (text, price, ratio, at, day, local) VALUES
		('', 'NaN', '-0', 'infinity', 'infinity', 'infinity'), ('', 1e20, 1e21, '-infinity', '-infinity', '-infinity'),
		('', -1e-20, 5e-324, '0001-01-01 00:00Z', '0044-03-15 BC', '0001-01-01'),
		('', 0, 0.1, '9999-12-31 23:59:59.999999Z', '10000-01-01', '1999-12-31 23:59:59.999999')`)
	rowstest.CheckList(t, t.Context(), ops, query.Query{})
	exec(t, db, `INSERT INTO notes (text, price, ratio, at, day) VALUES ('', 1, 'NaN', now(), now()), ('', 1, 1, now(), now())`)
	rowstest.CheckList(t, t.Context(), ops, query.Query{})
	exec(t, db, `UPDATE notes SET ratio = 1, at = '10000-01-01' WHERE ratio = 'NaN'`)
	rowstest.CheckList(t, t.Context(), ops, query.Query{})
	if n := r.ran.Load(); n != 3 {
		t.Errorf("%d lists with the reader, want 3", n)
	}
}

// TestDatabaseSQL checks where lists use database/sql.
func TestDatabaseSQL(t *testing.T) {
	t.Parallel()
	t.Run("transaction", func(t *testing.T) {
		t.Parallel()
		db, r := open(t, pgx.QueryExecModeCacheStatement, sqltx.Options{})
		ops := notes(t, db, 3)
		err := db.InTx(t.Context(), func(ctx context.Context) error {
			if _, err := ops.Create(ctx, note{Text: "new", Price: "1", Day: "2026-11-25"}); err != nil {
				return err
			}
			if n, err := count(ctx, ops); n != 4 || err != nil {
				t.Errorf("%d items in the transaction, %v; want 4", n, err)
			}
			return nil
		})
		if err != nil || r.ran.Load() > 0 {
			t.Errorf("%v, %d lists with the reader", err, r.ran.Load())
		}
	})
	t.Run("session", func(t *testing.T) {
		t.Parallel()
		db, r := open(t, pgx.QueryExecModeCacheStatement, sqltx.Options{
			Session: func(context.Context) (map[string]string, error) { return map[string]string{"app.a": "b"}, nil },
		})
		if n, err := count(t.Context(), notes(t, db, 3)); n != 3 || err != nil || r.ran.Load() > 0 {
			t.Errorf("%d items, %v, %d lists with the reader", n, err, r.ran.Load())
		}
	})
	t.Run("another driver", func(t *testing.T) {
		t.Parallel()
		err := pgxrows.Reader{}.ReadRows(t.Context(), "conn", "SELECT 1", nil, nil)
		if !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("ReadRows = %v, want ErrUnsupported", err)
		}
	})
	t.Run("stale plan", func(t *testing.T) {
		t.Parallel()
		db, r := open(t, pgx.QueryExecModeCacheStatement, sqltx.Options{})
		ops := notes(t, db, 3)
		for range 3 {
			if n, err := count(t.Context(), ops); n != 3 || err != nil {
				t.Fatalf("%d items, %v", n, err)
			}
			exec(t, db, "ALTER TABLE notes ALTER ratio TYPE real")
		}
		if r.left.Load() == 0 {
			t.Error("no list met a stale plan")
		}
	})
}

// count returns the number of items that ListJSON returns.
func count(ctx context.Context, ops resource.Ops[note]) (n int, err error) {
	for _, err := range ops.FastReads().ListJSON(ctx, query.Query{}) {
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// TestFailures ends lists in the middle. The pool must not use a broken connection again.
func TestFailures(t *testing.T) {
	t.Parallel()
	const all = 20_000
	tests := []struct {
		name string
		// after is called after the first item, with the backend of the list
		after func(t *testing.T, db *sqltx.DB, cancel context.CancelFunc)
		want  func(err error) bool
	}{
		{
			name:  "the context is canceled",
			after: func(_ *testing.T, _ *sqltx.DB, cancel context.CancelFunc) { cancel() },
			want:  func(err error) bool { return errors.Is(err, context.Canceled) },
		},
		{
			name: "the connection is lost",
			after: func(t *testing.T, db *sqltx.DB, _ context.CancelFunc) {
				exec(t, db, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
					WHERE datname = current_database() AND pid <> pg_backend_pid()`)
			},
			want: func(err error) bool { return errors.Is(err, resource.ErrUnavailable) },
		},
		{name: "the consumer stops"},
		{
			name:  "a division by zero",
			after: func(*testing.T, *sqltx.DB, context.CancelFunc) {},
			want:  func(err error) bool { return strings.Contains(err.Error(), "22012") },
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			db, r := open(t, pgx.QueryExecModeCacheStatement, sqltx.Options{})
			stored := notes(t, db, all)
			ops := stored
			if tt.name == "a division by zero" {
				ratio := sqlquery.Column{Kind: sqlquery.Number, Expr: "1 / (19999 - id)", NotNull: true}
				columns := map[string]sqlquery.Column{"ratio": ratio}
				ops = sqltable.New[note](db, "notes", &sqltable.Options{ReadOnly: true, Columns: columns}).Ops()
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			n := 0
			var failed error
			for _, err := range ops.FastReads().ListJSON(ctx, query.Query{}) {
				if failed = err; err != nil || tt.after == nil {
					break
				}
				if n++; n == 1 {
					tt.after(t, db, cancel)
				}
			}
			if tt.want != nil && (failed == nil || !tt.want(failed)) {
				t.Errorf("after %d items the error is %v", n, failed)
			}
			for range 4 {
				if n, err := count(t.Context(), stored); n != all || err != nil {
					t.Errorf("later lists have %d items, %v", n, err)
				}
			}
			if r.ran.Load() < 5 {
				t.Errorf("%d lists with the reader", r.ran.Load())
			}
		})
	}
}

// TestConcurrentLists reads different lists of one table at once, with and without the reader.
func TestConcurrentLists(t *testing.T) {
	t.Parallel()
	db, _ := open(t, pgx.QueryExecModeCacheStatement, sqltx.Options{})
	ops := notes(t, db, 50)
	var readers sync.WaitGroup
	for i := range 8 {
		readers.Go(func() {
			for n := range 20 {
				q := query.Query{Sort: []query.Order{{Field: "id", Desc: n%2 == 0}}, Limit: 1 + i*7}
				if n%3 == 0 {
					q.Fields = []string{"id", "at"}
				}
				if i%2 == 0 {
					rowstest.CheckList(t, t.Context(), ops, q)
					continue
				}
				err := db.InTx(t.Context(), func(ctx context.Context) error {
					rowstest.CheckList(t, ctx, ops, q)
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	readers.Wait()
}

package sqltabletest

import (
	"database/sql"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/stoa-go/stoa/resource/sql/sqltest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

func TestMain(m *testing.M) { sqltest.Main(m) }

// engine opens many databases for one test. In PostgreSQL they are schemas of one database, since making one of those
// takes longer than most cases of the kit.
type engine struct {
	sqltest.Engine
	url  string // of PostgreSQL
	last atomic.Int64
}

// open returns a new, empty database, with everything on that finds mistakes. Transactions of tests may stand still for as long as
// the machine does, or others on the server are waited for, and begin again as often as they meet each other.
func (e *engine) open(tb testing.TB) *sqltx.DB {
	tb.Helper()
	if e.Dialect == sqltx.SQLite {
		return e.Open(tb, nil)
	}
	config, err := pgx.ParseConfig(e.url)
	if err != nil {
		tb.Fatal(err)
	}
	name := fmt.Sprintf("schema%d", e.last.Add(1))
	config.RuntimeParams["search_path"] = name
	pool := sql.OpenDB(sqltx.Guard(stdlib.GetConnector(*config)))
	tb.Cleanup(func() { pool.Close() })
	pool.SetMaxOpenConns(16)
	pool.SetMaxIdleConns(16)
	if _, err := pool.ExecContext(tb.Context(), "CREATE SCHEMA "+name); err != nil {
		tb.Fatal(err)
	}
	return sqltx.New(sqltx.PostgreSQL, pool, &sqltx.Options{Debug: true, Idle: -1, Attempts: 1 << 30})
}

// onEngines runs a test on each of the engines.
func onEngines(t *testing.T, test func(t *testing.T, e *engine)) {
	t.Parallel()
	for _, e := range sqltest.Engines() {
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			own := &engine{Engine: e}
			if e.Dialect == sqltx.PostgreSQL {
				own.url = sqltest.PostgreSQL(t)
			}
			test(t, own)
		})
	}
}

// exec runs statements that must not fail.
func exec(t testing.TB, db *sqltx.DB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := db.Writer(t.Context()).ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

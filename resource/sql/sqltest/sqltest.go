// Package sqltest opens databases for tests: SQLite with two drivers, and PostgreSQL.
//
// It is a module of its own, so that the main module does not require drivers. Tests of a store
// that uses [sqltx.DB] range over [Engines]:
//
//	for _, engine := range sqltest.Engines() {
//		t.Run(engine.Name, func(t *testing.T) {
//			db := engine.Open(t, nil)
//			...
//		})
//	}
//
// A PostgreSQL server is started at its first use; see [Main].
package sqltest

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	ncruces "github.com/ncruces/go-sqlite3/driver"
	modernc "modernc.org/sqlite"

	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// Engine is a database with one of its drivers.
type Engine struct {
	// Name is the name of the driver: modernc, ncruces or pgx.
	Name string
	// Dialect is the SQL dialect of the database.
	Dialect sqltx.Dialect

	connector func(tb testing.TB) driver.Connector // to a new database
}

// Engines returns the engines for the tests of this module.
func Engines() []Engine {
	return []Engine{
		{Name: "modernc", Dialect: sqltx.SQLite, connector: func(tb testing.TB) driver.Connector {
			return sourceName{&modernc.Driver{}, sqliteFile(tb)}
		}},
		{Name: "ncruces", Dialect: sqltx.SQLite, connector: func(tb testing.TB) driver.Connector {
			return sourceName{&ncruces.SQLite{}, sqliteFile(tb)}
		}},
		{Name: "pgx", Dialect: sqltx.PostgreSQL, connector: func(tb testing.TB) driver.Connector {
			config, err := pgx.ParseConfig(PostgreSQL(tb))
			if err != nil {
				tb.Fatal(err)
			}
			return stdlib.GetConnector(*config)
		}},
	}
}

// sqliteFile returns the source name of a new file, with pragmas that both drivers accept. With the
// WAL, readers do not wait for the writer. A test database need not be synchronized to disk.
func sqliteFile(tb testing.TB) string {
	return "file:" + filepath.Join(tb.TempDir(), "test.db") +
		"?_pragma=busy_timeout(10000)&_pragma=journal_mode(wal)" +
		"&_pragma=synchronous(off)&_pragma=foreign_keys(on)"
}

// sourceName is a connector for drivers that have none.
type sourceName struct {
	driver driver.Driver
	name   string
}

func (s sourceName) Connect(context.Context) (driver.Conn, error) { return s.driver.Open(s.name) }

func (s sourceName) Driver() driver.Driver { return s.driver }

// Connector returns a connector to a new, empty database, which is removed when the test ends. All
// pools of one connector use the same database.
func (e Engine) Connector(tb testing.TB) driver.Connector {
	tb.Helper()
	return e.connector(tb)
}

// Open returns a new, empty database with the recommended pools: for SQLite, one connection for
// writes and several for reads. Debug is on and the pools are guarded, so that tests of stores find
// mistakes.
func (e Engine) Open(tb testing.TB, opts *sqltx.Options) *sqltx.DB {
	tb.Helper()
	own := sqltx.Options{}
	if opts != nil {
		own = *opts
	}
	connector := sqltx.Guard(e.Connector(tb))
	writer := sql.OpenDB(connector)
	tb.Cleanup(func() { writer.Close() })
	writer.SetMaxOpenConns(16)
	if e.Dialect == sqltx.SQLite {
		writer.SetMaxOpenConns(1)
		own.Readers = sql.OpenDB(connector)
		own.Readers.SetMaxOpenConns(4)
		tb.Cleanup(func() { own.Readers.Close() })
	}
	own.Debug = true
	return sqltx.New(e.Dialect, writer, &own)
}

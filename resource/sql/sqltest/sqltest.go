// Package sqltest opens databases for tests: SQLite by two drivers, and PostgreSQL.
//
// It is a module of its own, as drivers do not enter the module that everybody requires. Whoever tests a store over
// [sqltx.DB] ranges over [Engines]:
//
//	for _, engine := range sqltest.Engines() {
//		t.Run(engine.Name, func(t *testing.T) {
//			db := engine.Open(t, nil)
//			...
//		})
//	}
//
// A PostgreSQL server is started when it is asked for first; see [Main].
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

// Engine is a database by one of its drivers.
type Engine struct {
	// Name is that of the driver: modernc, ncruces or pgx.
	Name string
	// Dialect is what the database speaks.
	Dialect sqltx.Dialect

	connector func(tb testing.TB) driver.Connector // to a new database
}

// Engines returns all that the tests of this module are run on.
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

// sqliteFile names a new file, and how both drivers are to open it. The WAL lets readers go on beside the writer; a
// database that lives no longer than a test need not be synchronized with the disk.
func sqliteFile(tb testing.TB) string {
	return "file:" + filepath.Join(tb.TempDir(), "test.db") +
		"?_pragma=busy_timeout(10000)&_pragma=journal_mode(wal)&_pragma=synchronous(off)&_pragma=foreign_keys(on)"
}

// sourceName is a connector for drivers that are opened by name only.
type sourceName struct {
	driver driver.Driver
	name   string
}

func (s sourceName) Connect(context.Context) (driver.Conn, error) { return s.driver.Open(s.name) }

func (s sourceName) Driver() driver.Driver { return s.driver }

// Connector returns a connector to a new, empty database, which is removed when the test ends. Pools of one connector
// are pools of one database.
func (e Engine) Connector(tb testing.TB) driver.Connector {
	tb.Helper()
	return e.connector(tb)
}

// Open returns a new, empty database as most programs should have it: with SQLite one connection that writes, and
// others for reading. The tests of stores should find mistakes, so Debug is on and the pools are guarded.
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

package sqlrecords_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/resource/sql/sqlrecords"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// nowhere is a connector without a database.
type nowhere struct{}

func (nowhere) Connect(context.Context) (driver.Conn, error) { return nil, errors.New("nowhere") }
func (nowhere) Driver() driver.Driver                        { return nil }

// The guarantee is strongest for data in the same database.
func ExampleNew() {
	// in a program: sql.Open("pgx", "postgres://...")
	db := sqltx.New(sqltx.PostgreSQL, sql.OpenDB(nowhere{}), nil)
	records := sqlrecords.New(db, nil)
	// When the program starts: if err := records.CreateTable(ctx); err != nil { ... }
	guard := idempotency.New(records, nil)

	other := sqltx.New(sqltx.PostgreSQL, sql.OpenDB(nowhere{}), nil)
	fmt.Println("here:", guard.LevelFor(db))
	fmt.Println("elsewhere:", guard.LevelFor(other))
	// Output:
	// here: exactly once
	// elsewhere: at most once
}

// DDL returns the statements of CreateTable, for a migration tool.
func ExampleStore_DDL() {
	db := sqltx.New(sqltx.SQLite, sql.OpenDB(nowhere{}), nil)
	fmt.Print(sqlrecords.New(db, &sqlrecords.Options{Table: "once"}).DDL())
	// Output:
	// CREATE TABLE IF NOT EXISTS `once` (
	// 	id blob NOT NULL PRIMARY KEY,
	// 	fingerprint blob NOT NULL,
	// 	members blob,
	// 	owner blob NOT NULL,
	// 	token text NOT NULL,
	// 	lease integer NOT NULL,
	// 	expires integer NOT NULL,
	// 	status integer,
	// 	about text,
	// 	result blob
	// ) STRICT, WITHOUT ROWID;
	// CREATE INDEX IF NOT EXISTS `once_owner_idx` ON `once` (owner, expires);
	// CREATE INDEX IF NOT EXISTS `once_expires_idx` ON `once` (expires);
}

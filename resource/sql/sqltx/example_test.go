package sqltx_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/stoa-go/stoa/resource/sql/sqltx"
	"github.com/stoa-go/stoa/resource/sql/sqltx/internal/fakesqlite"
)

// ledger is a store of two tables. It gets the connection of each statement from the DB.
type ledger struct{ db *sqltx.DB }

func (l ledger) book(ctx context.Context, account string, amount int) error {
	insert := "INSERT INTO bookings VALUES ($1, $2)"
	_, err := l.db.Writer(ctx).ExecContext(ctx, insert, account, amount)
	return err
}

func Example() {
	// in a program: sql.Open("pgx", "postgres://...")
	driver := &fakesqlite.Driver{}
	// shortens the output
	db := sqltx.New(sqltx.PostgreSQL, sql.OpenDB(driver), &sqltx.Options{Idle: -1})
	books := ledger{db}

	transfer := func(ctx context.Context) error {
		return errors.Join(books.book(ctx, "ann", -5), books.book(ctx, "bob", 5))
	}
	fmt.Println(db.InTx(context.Background(), transfer))
	for _, did := range driver.Log() {
		fmt.Println(did)
	}
	// Output:
	// <nil>
	// OPEN
	// BEGIN
	// INSERT INTO bookings VALUES ($1, $2)
	// INSERT INTO bookings VALUES ($1, $2)
	// COMMIT
}

// A SQLite database has one writer at a time, so the pool for writes has one connection, and reads
// use another pool.
func ExampleNew() {
	// in a program: sql.Open("sqlite", "file:shop.db?_pragma=journal_mode(wal)")
	driver := &fakesqlite.Driver{}
	writer, readers := sql.OpenDB(driver), sql.OpenDB(driver)
	writer.SetMaxOpenConns(1)
	db := sqltx.New(sqltx.SQLite, writer, &sqltx.Options{Readers: readers})

	err := db.InTx(context.Background(), func(ctx context.Context) error {
		fmt.Println(db.Writer(ctx) == db.Reader(ctx))
		return nil
	})
	fmt.Println(err)
	fmt.Println(db.Writer(context.Background()) == db.Reader(context.Background()))
	// Output:
	// true
	// <nil>
	// false
}

// Guard detects a store that bypasses the DB.
func ExampleGuard() {
	pool := sql.OpenDB(sqltx.Guard(&fakesqlite.Driver{}))
	db := sqltx.New(sqltx.SQLite, pool, nil)

	err := db.InTx(context.Background(), func(ctx context.Context) error {
		_, err := pool.ExecContext(ctx, "DELETE FROM orders") // instead of db.Writer(ctx)
		return err
	})
	fmt.Println(err)
	// Output:
	// sqltx: statement would run outside of the current transaction: use DB.Writer or DB.Reader instead of the pool
}

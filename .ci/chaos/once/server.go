package main

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"os"
	"strings"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // registers pgx
	_ "modernc.org/sqlite"             // registers sqlite

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/idempotency/sqlrecords"
	"github.com/stoa-go/stoa/middleware"
	"github.com/stoa-go/stoa/resource/sqltx"
)

// How a server keeps keys.
const (
	together = "together" // in the transactions of the data: exactly once
	identity = "identity" // elsewhere, and what is created gets an id that follows from the key
	apart    = "apart"    // elsewhere: at most once
	three    = "three"    // elsewhere, with a short lease, and begun again when that has ended: the control
)

// shortLease is how long the control waits for somebody who may be dead.
const shortLease = 300 * time.Millisecond

// serve is one process of the server under test.
func serve(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("server", flag.ContinueOnError)
	source := flags.String("db", "", "`database`: a file, or postgres:///...")
	mode := flags.String("mode", together, "how keys are kept")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *source == "" || strings.HasPrefix(*source, "-") { // it would be a file of that name
		return fmt.Errorf("there is no database %q", *source)
	}
	db, err := open(*source)
	if err != nil {
		return err
	}
	keeper, err := keep(ctx, db, *source, *mode)
	if err != nil {
		return err
	}
	catalog, err := newCatalog(ctx, db, keeper, *mode)
	if err != nil {
		return err
	}
	for _, g := range catalog.Guarantees() {
		fmt.Fprintf(os.Stderr, "%s: create %v, others %v\n", g.Name, g.Create, g.Others)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "once: listening on http://%s\n", listener.Addr())
	return middleware.Serve(ctx, middleware.Server(mortal(catalog), nil), listener, nil)
}

// keep returns the Keeper of a mode. What is elsewhere is in the same database, but in transactions of its own.
func keep(ctx context.Context, db *sqltx.DB, source, mode string) (*idempotency.Keeper, error) {
	opts := &idempotency.Options{Quota: -1, Logger: slog.New(slog.NewTextHandler(os.Stderr, nil))}
	switch mode {
	case together:
	case identity, apart, three:
		other, err := open(source)
		if err != nil {
			return nil, err
		}
		db = other
		opts.Lease, opts.AtLeastOnce = shortLease, mode == three
	default:
		return nil, fmt.Errorf("there is no mode %q", mode)
	}
	records := sqlrecords.New(db, nil)
	if err := patiently(ctx, records.CreateTable); err != nil {
		return nil, err
	}
	return idempotency.New(steps{records}, opts), nil
}

// open opens a database. What SQLite has committed is on the disk.
func open(source string) (*sqltx.DB, error) {
	if strings.HasPrefix(source, "postgres:") {
		pool, err := pool("pgx", source, 16)
		return sqltx.New(sqltx.PostgreSQL, pool, nil), err
	}
	file := "file:" + (&url.URL{Path: source}).EscapedPath() +
		"?_pragma=busy_timeout(10000)&_pragma=journal_mode(wal)&_pragma=synchronous(full)"
	writer, err := pool("sqlite", file, 1)
	if err != nil {
		return nil, err
	}
	readers, err := pool("sqlite", file, 4)
	return sqltx.New(sqltx.SQLite, writer, &sqltx.Options{Readers: readers}), err
}

func pool(driver, source string, n int) (*sql.DB, error) {
	pool, err := sql.Open(driver, source)
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(n)
	pool.SetMaxIdleConns(n)
	return pool, nil
}

// patiently tries again: several processes start at once, and a database may be recovering.
func patiently(ctx context.Context, do func(context.Context) error) error {
	var err error
	for range 50 {
		if err = do(ctx); err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(err, ctx.Err())
		case <-time.After(100 * time.Millisecond):
		}
	}
	return err
}

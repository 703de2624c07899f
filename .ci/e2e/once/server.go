package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // registers pgx
	_ "modernc.org/sqlite"             // registers sqlite

	"github.com/stoa-go/stoa/ci/e2e/database"
	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/middleware"
	"github.com/stoa-go/stoa/resource/sql/sqlrecords"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
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
	db, err := database.Open(*source, 0)
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
		other, err := database.Open(source, 0)
		if err != nil {
			return nil, err
		}
		db = other
		opts.Lease, opts.AtLeastOnce = shortLease, mode == three
	default:
		return nil, fmt.Errorf("there is no mode %q", mode)
	}
	records := sqlrecords.New(db, nil)
	if err := database.Retry(ctx, records.CreateTable); err != nil {
		return nil, err
	}
	return idempotency.New(steps{records}, opts), nil
}

// Command retries serves payments. Each write needs an idempotency key, and its record commits in the
// transaction of the payment: a request that is repeated, also after a crash, is carried out once.
// The command in the folder client writes while the server is restarted.
//
//	go run -C examples ./retries -db payments.db
//	go run -C examples ./retries/client
package main

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	_ "modernc.org/sqlite" // registers the driver "sqlite"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/middleware"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/rest"
	"github.com/stoa-go/stoa/resource/sql/sqlrecords"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// Payment is the resource of the example.
type Payment struct {
	ID      int64  `json:"id" readOnly:"true"`
	Account string `json:"account" required:"true" maxLength:"40"`
	Cents   int64  `json:"cents" required:"true" minimum:"1" maximum:"100000000"`
}

// newHandler serves the payments in the database of a SQLite file. synchronous(full) puts a commit on
// disk before the response, so that a power failure loses no payment.
func newHandler(ctx context.Context, file string) (http.Handler, error) {
	pool, err := sql.Open("sqlite", "file:"+file+
		"?_pragma=busy_timeout(10000)&_pragma=journal_mode(wal)&_pragma=synchronous(full)")
	if err != nil {
		return nil, err
	}
	db := sqltx.New(sqltx.SQLite, pool, nil)
	payments, records := sqltable.New[Payment](db, "payments", nil), sqlrecords.New(db, nil)
	if err := errors.Join(payments.CreateTable(ctx), records.CreateTable(ctx)); err != nil {
		return nil, err
	}
	ops := payments.Ops()
	ops.Replace, ops.Delete = nil, nil // a payment is final
	catalog := resource.NewCatalog(&resource.CatalogOptions{
		// Keys are scoped to the caller. All callers of the example are one.
		Principal: func(context.Context) string { return "shop" },
		// Required rejects a write without a key. A key is remembered for 24 hours.
		Idempotency: idempotency.New(records, &idempotency.Options{Required: true, Quota: -1}),
	}, ops.Resource("payments", &resource.Options[Payment]{Query: payments.Support(), Public: true}))
	log.Print(catalog.Report()) // has the guarantee of each write
	return rest.New(catalog, nil), nil
}

func main() {
	addr := flag.String("addr", "localhost:8080", "listen `address`")
	file := flag.String("db", "", "SQLite `file`; default a new one in a temporary folder")
	flag.Parse()
	if *file == "" {
		dir, err := os.MkdirTemp("", "retries")
		if err != nil {
			log.Fatal(err)
		}
		*file = filepath.Join(dir, "payments.db")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	h, err := newHandler(ctx, *file)
	if err != nil {
		log.Fatal(err)
	}
	listener, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	log.Printf("retries: %s, listening on http://%s", *file, listener.Addr())
	if err := middleware.Serve(ctx, middleware.Server(h, nil), listener, nil); err != nil {
		log.Fatal(err)
	}
}

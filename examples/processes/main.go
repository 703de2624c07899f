// Command processes serves notes from a database that several processes share. Each may serve any
// request: writes are ordered by the database, and subscribers of one process receive the changes of
// all others.
//
//	go run -C examples ./processes -db processes.db
//	go run -C examples ./processes -db processes.db -addr localhost:8081
//	go run -C examples ./processes -db postgres://localhost/notes
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
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/stdlib" // registers the driver "pgx"
	_ "modernc.org/sqlite"             // registers the driver "sqlite"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/middleware"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/serve"
	"github.com/stoa-go/stoa/resource/sql/pgnotify"
	"github.com/stoa-go/stoa/resource/sql/sqlfeed"
	"github.com/stoa-go/stoa/resource/sql/sqlrecords"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// Note is the resource of the example.
type Note struct {
	ID    int64  `json:"id" readOnly:"true"`
	Text  string `json:"text" required:"true" minLength:"1" maxLength:"500"`
	Votes int64  `json:"votes" minimum:"0"`
}

// open connects to PostgreSQL, or to SQLite if dsn is the name of a file. It returns the log of the
// feed. In PostgreSQL a process notifies the others of its events; otherwise each reads the log ten
// times a second.
func open(ctx context.Context, dsn string) (*sqltx.DB, feed.Log, error) {
	driver, dialect := "pgx", sqltx.PostgreSQL
	if !strings.HasPrefix(dsn, "postgres://") && !strings.HasPrefix(dsn, "postgresql://") {
		driver, dialect = "sqlite", sqltx.SQLite
		dsn = "file:" + dsn + "?_pragma=busy_timeout(10000)&_pragma=journal_mode(wal)"
	}
	pool, err := sql.Open(driver, dsn)
	if err != nil {
		return nil, nil, err
	}
	db := sqltx.New(dialect, pool, nil)
	events := sqlfeed.New(db, nil)
	if err := events.CreateTable(ctx); err != nil || dialect == sqltx.SQLite {
		return db, events, err
	}
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, nil, err
	}
	notify := pgnotify.New(events, config, nil)
	go notify.Run(ctx)
	return db, notify, nil
}

// newHandler serves the notes. Everything that processes must agree on is in the database: the notes,
// the events and the records of idempotency keys.
func newHandler(ctx context.Context, dsn string) (http.Handler, *feed.Feed, error) {
	db, events, err := open(ctx, dsn)
	if err != nil {
		return nil, nil, err
	}
	notes, records := sqltable.New[Note](db, "notes", nil), sqlrecords.New(db, nil)
	if err := errors.Join(notes.CreateTable(ctx), records.CreateTable(ctx)); err != nil {
		return nil, nil, err
	}
	changes := feed.New(events, nil)
	catalog := resource.NewCatalog(&resource.CatalogOptions{
		Principal:   func(context.Context) string { return "anonymous" },
		Idempotency: idempotency.New(records, nil),
		Feed:        changes,
	}, notes.Ops().Resource("notes", &resource.Options[Note]{Query: notes.Support(), Public: true}))
	return serve.New(catalog, &serve.Options{Title: "Notes"}), changes, nil
}

func main() {
	addr := flag.String("addr", "localhost:8080", "listen `address`")
	dsn := flag.String("db", "processes.db", "`URL` of PostgreSQL or file of SQLite, the same for all")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	h, changes, err := newHandler(ctx, *dsn)
	if err != nil {
		log.Fatal(err)
	}
	listener, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	log.Printf("processes: listening on http://%s", listener.Addr())
	server := middleware.Server(h, nil)
	server.RegisterOnShutdown(func() { changes.Close() }) // ends the streams; clients reconnect
	if err := middleware.Serve(ctx, server, listener, nil); err != nil {
		log.Fatal(err)
	}
}

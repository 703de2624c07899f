// Command deploy serves notes as a container does: settings from flags and the environment, PostgreSQL,
// health checks, logs on standard error, and a shutdown that loses no request.
//
//	go run -C examples ./deploy
//	docker compose -f examples/deploy/compose.yaml up --build
package main

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // registers the driver "pgx"
	_ "modernc.org/sqlite"             // registers the driver "sqlite"

	"github.com/stoa-go/stoa/middleware"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/serve"
	"github.com/stoa-go/stoa/resource/sql/sqlfeed"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// Note is the resource of the example.
type Note struct {
	ID   int64  `json:"id" readOnly:"true"`
	Text string `json:"text" required:"true" minLength:"1" maxLength:"500"`
}

// newHandler serves the notes of a database. /ready fails while the database does not respond, so that
// a load balancer sends no requests; /health does not, because a restart would not help.
func newHandler(ctx context.Context, pool *sql.DB, dialect sqltx.Dialect) (http.Handler, *feed.Feed, error) {
	db := sqltx.New(dialect, pool, nil)
	notes, events := sqltable.New[Note](db, "notes", nil), sqlfeed.New(db, nil)
	if err := errors.Join(notes.CreateTable(ctx), events.CreateTable(ctx)); err != nil {
		return nil, nil, err
	}
	changes := feed.New(events, nil)
	api := serve.New(resource.NewCatalog(&resource.CatalogOptions{Feed: changes},
		notes.Ops().Resource("notes", &resource.Options[Note]{Query: notes.Support(), Public: true}),
	), &serve.Options{
		Title: "Notes",
		Ready: map[string]func(context.Context) error{"database": pool.PingContext},
	})
	return middleware.Chain(middleware.RequestID(nil), middleware.Log(nil), middleware.Recover(nil),
		middleware.SecureHeaders(nil), middleware.Limit(nil), middleware.Timeout(nil))(api), changes, nil
}

// open connects to PostgreSQL, or to a new file of SQLite if dsn is empty.
func open(dsn string) (*sql.DB, sqltx.Dialect, error) {
	if strings.HasPrefix(dsn, "postgres://") || strings.HasPrefix(dsn, "postgresql://") {
		pool, err := sql.Open("pgx", dsn)
		return pool, sqltx.PostgreSQL, err
	}
	if dsn == "" {
		dir, err := os.MkdirTemp("", "deploy")
		if err != nil {
			return nil, sqltx.SQLite, err
		}
		dsn = filepath.Join(dir, "notes.db")
	}
	pool, err := sql.Open("sqlite", "file:"+dsn+"?_pragma=busy_timeout(10000)&_pragma=journal_mode(wal)")
	return pool, sqltx.SQLite, err
}

// check requests a URL, for HEALTHCHECK: an image without a shell has no curl.
func check(url string) error {
	resp, err := (&http.Client{Timeout: 2 * time.Second}).Get(url)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", url, resp.Status)
	}
	return err
}

func main() {
	addr := flag.String("addr", "localhost:8080", "listen `address`; :8080 in a container")
	dsn := flag.String("dsn", os.Getenv("DATABASE_URL"), "`URL` of PostgreSQL, or file of SQLite")
	notice := flag.Duration("notice", 0, "`time` for load balancers to read /ready before a shutdown")
	health := flag.String("check", "", "request a `URL`, and exit with 1 if it is not 200")
	flag.Parse()
	if *health != "" {
		if err := check(*health); err != nil {
			log.Fatal(err)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	pool, dialect, err := open(*dsn)
	if err != nil {
		log.Fatal(err)
	}
	h, changes, err := newHandler(ctx, pool, dialect)
	if err != nil {
		log.Fatal(err)
	}
	listener, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	log.Printf("deploy: listening on http://%s", listener.Addr())
	server := middleware.Server(h, nil)
	server.RegisterOnShutdown(func() { changes.Close() }) // ends the streams; clients reconnect
	err = middleware.Serve(ctx, server, listener, &middleware.ServeOptions{Notice: *notice})
	if err != nil {
		log.Fatal(err)
	}
}

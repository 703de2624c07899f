// Command feed serves tasks with a feed of their changes, and a page that shows the tasks live. The
// command in the folder consumer follows the feed in Go.
//
//	go run -C examples ./feed
//	go run -C examples ./feed/consumer -addr localhost:8081
package main

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"flag"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	_ "modernc.org/sqlite" // registers the driver "sqlite"

	"github.com/stoa-go/stoa/middleware"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/rest"
	"github.com/stoa-go/stoa/resource/sql/sqlfeed"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

//go:embed page.html
var page []byte

// Task is the resource of the example.
type Task struct {
	ID   int64  `json:"id" readOnly:"true"`
	Text string `json:"text" required:"true" minLength:"1" maxLength:"500"`
	Done bool   `json:"done"`
}

// newHandler serves the tasks in the database of a SQLite file, which has the log of the feed, too: a
// task and its event commit in one transaction.
func newHandler(ctx context.Context, file string) (http.Handler, *feed.Feed, error) {
	pool, err := sql.Open("sqlite", "file:"+file+"?_pragma=journal_mode(wal)&_pragma=busy_timeout(10000)")
	if err != nil {
		return nil, nil, err
	}
	db := sqltx.New(sqltx.SQLite, pool, nil)
	tasks, events := sqltable.New[Task](db, "tasks", nil), sqlfeed.New(db, nil)
	if err := errors.Join(tasks.CreateTable(ctx), events.CreateTable(ctx)); err != nil {
		return nil, nil, err
	}
	changes := feed.New(events, nil)
	catalog := resource.NewCatalog(&resource.CatalogOptions{Feed: changes},
		tasks.Ops().Resource("tasks", &resource.Options[Task]{Query: tasks.Support(), Public: true}))
	mux := http.NewServeMux()
	mux.Handle("/", rest.New(catalog, nil))
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Write(page)
	})
	// Streams have no time limit. All other requests have the defaults.
	return middleware.Timeout(&middleware.TimeoutOptions{Stream: isStream})(mux), changes, nil
}

func isStream(r *http.Request) bool {
	return r.URL.Path == "/tasks" && strings.Contains(r.Header.Get("Accept"), "text/event-stream")
}

func main() {
	addr := flag.String("addr", "localhost:8080", "listen `address`")
	file := flag.String("db", "", "SQLite `file`; default a new one in a temporary folder")
	flag.Parse()
	if *file == "" {
		dir, err := os.MkdirTemp("", "feed")
		if err != nil {
			log.Fatal(err)
		}
		*file = filepath.Join(dir, "tasks.db")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	h, changes, err := newHandler(ctx, *file)
	if err != nil {
		log.Fatal(err)
	}
	listener, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	log.Printf("feed: %s, listening on http://%s", *file, listener.Addr())
	server := middleware.Server(h, nil)
	server.RegisterOnShutdown(func() { changes.Close() }) // ends the streams; clients reconnect
	if err := middleware.Serve(ctx, server, listener, nil); err != nil {
		log.Fatal(err)
	}
}

package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // registers pgx
	_ "modernc.org/sqlite"             // registers sqlite

	"github.com/stoa-go/stoa/ci/e2e/database"
	"github.com/stoa-go/stoa/middleware"
	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/query/graphql"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/sql/sqlfeed"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// How a server tells what happened.
const (
	outbox = "outbox" // a log in the database, in the transactions of the data
	locked = "lock"   // the same, with writers that wait for each other
	memory = "memory" // a log in the memory of each process
	silent = "silent" // the same, and whoever comes back is not told what that means: the control
)

// thing is what is served. Each write of it counts one up, so that whoever listens can tell what is missing.
type thing struct {
	ID   string `json:"id" format:"uuid"`
	Name string `json:"name" required:"true"`
	// Lane never changes.
	Lane int `json:"lane"`
	// N is 1 at first, and Open is whether it is odd: with each write an item enters or leaves the list of what is open.
	N    int    `json:"n"`
	Open bool   `json:"open"`
	Note string `json:"note,omitzero"`
}

// path is where things are.
const path = "/things"

// serverSettings are what a server is told.
type serverSettings struct {
	source, mode string
	feed         feed.Options
	ping, idle   time.Duration
}

// serve is one process of the server under test.
func serve(ctx context.Context, args []string, out io.Writer) error {
	var s serverSettings
	flags := flag.NewFlagSet("server", flag.ContinueOnError)
	flags.StringVar(&s.source, "db", "", "`database`: a file, or postgres:///...")
	flags.StringVar(&s.mode, "mode", outbox, "how it tells what happened")
	flags.IntVar(&s.feed.Events, "ring", 0, "events that are kept in memory; 0 is the default of the library")
	flags.DurationVar(&s.feed.Bookmark, "bookmark", 0, "how often who hears nothing is told where it is")
	flags.DurationVar(&s.feed.Limit, "limit", 0, "how long one look at the log may take")
	flags.DurationVar(&s.idle, "idle", 0, "how long a transaction may stand still")
	flags.DurationVar(&s.ping, "ping", 0, "how often who has a WebSocket is asked whether it is there")
	flags.DurationVar(&s.feed.Keep, "keep", 0, "how long events are kept")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if s.source == "" || strings.HasPrefix(s.source, "-") { // it would be a file of that name
		return fmt.Errorf("there is no database %q", s.source)
	}
	db, err := database.Open(s.source, s.idle)
	if err != nil {
		return err
	}
	s.feed.Logger = slog.New(slog.NewTextHandler(os.Stderr, nil))
	events, err := newFeed(ctx, db, s)
	if err != nil {
		return err
	}
	defer events.Close()
	handler, err := newHandler(ctx, db, events, s)
	if err != nil {
		return err
	}
	if s.mode == silent {
		handler = forgetful(handler)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "feeds: listening on http://%s\n", listener.Addr())
	// Whoever listens is told to come back before the server waits for the requests in flight.
	defer context.AfterFunc(ctx, func() { events.Close() })()
	return middleware.Serve(ctx, middleware.Server(handler, nil), listener, nil)
}

// newFeed returns the feed of a mode.
func newFeed(ctx context.Context, db *sqltx.DB, s serverSettings) (*feed.Feed, error) {
	switch s.mode {
	case outbox, locked:
		log := sqlfeed.New(db, &sqlfeed.Options{SerializeAppends: s.mode == locked})
		return feed.New(log, &s.feed), database.Retry(ctx, log.CreateTable)
	case memory, silent:
		return feed.New(feed.NewMemory(&feed.MemoryOptions{Runner: db}), &s.feed), nil
	}
	return nil, fmt.Errorf("there is no mode %q", s.mode)
}

// newHandler serves things in REST, and below /graphql in GraphQL. What is said of the process is below /process.
func newHandler(ctx context.Context, db *sqltx.DB, events *feed.Feed, s serverSettings) (http.Handler, error) {
	table := sqltable.New[thing](db, strings.TrimPrefix(path, "/"), nil)
	if err := database.Retry(ctx, table.CreateTable); err != nil {
		return nil, err
	}
	things := resource.FromOps(strings.TrimPrefix(path, "/"), table.Ops(), &resource.Options[thing]{
		Public: true,
		Query:  query.Support{Filter: map[string][]query.Op{"lane": {query.Eq}, "open": {query.Eq}}},
	})
	catalog := resource.NewCatalog(&resource.CatalogOptions{Feed: events, Logger: s.feed.Logger}, things)
	mux := http.NewServeMux()
	door := graphql.New(catalog, &graphql.Options{Logger: s.feed.Logger, Socket: graphql.Socket{Ping: s.ping}})
	mux.Handle("/graphql", door)
	streams := &atomic.Int64{}
	mux.Handle("/process/", processHandler(streams))
	mux.Handle("/", catalog)
	return counted(streams, new(fence).guard(mux)), nil
}

// forgetful serves all who come back as if they were new.
func forgetful(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Del("Last-Event-ID")
		next.ServeHTTP(w, r)
	})
}

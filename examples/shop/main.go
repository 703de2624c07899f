// Command shop is the reference application: orders, users, places and files.
//
//	go run -C examples ./shop
//	curl -i localhost:8080/orders
//
// It stores them in a SQLite file, or in the database that -db names. On start it prints a report
// and, as the last line, its address. Each request is logged to standard error. After SIGTERM or
// Ctrl-C, requests in flight finish; a second Ctrl-C ends the process immediately.
//
// The files:
//
//   - main.go is the process, flags.go its command line, report.go the start-up report.
//   - database.go, sqlite.go and postgres.go open the database, and seed.go fills it.
//   - orders.go, users.go, places.go and files.go are the resources, and catalog.go serves them.
//   - login.go, passwords.go, tokens.go and sessions.go authenticate; policy.go authorizes.
//   - cancel.go is a command that runs as a job, and once.go stores idempotency keys.
//   - contracts.go serves the versions; orders_v1.go and users_v1.go have the older types.
//   - graphql.go serves each contract in GraphQL.
//   - feed.go stores the events, and streams.go ends streams with the sessions of their users.
//   - middleware.go wraps all handlers in limits, logs and security headers.
//   - descriptions_gen.go has the doc comments of the types, which OpenAPI and GraphQL show.
//   - neutral.go serves the paths without a version: page, documents, health check; adminpage.go
//     has the admin page.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/stoa-go/stoa/middleware"
)

// main ends the context at the first signal, which starts a graceful shutdown.
func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the next signal ends the process immediately
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run returns the exit status: 0 after a signal or -help, 2 for invalid arguments, otherwise 1. Its
// streams and arguments are parameters, so that tests can run the whole program in one process.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	s, err := parseFlags(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintln(stderr, "shop:", err)
		return 2
	}
	s.logger = slog.New(slog.NewTextHandler(stderr, nil))
	if err := serve(ctx, s, stdout); err != nil {
		fmt.Fprintln(stderr, "shop:", err)
		return 1
	}
	return 0
}

// serve runs the shop until ctx is done. The order matters. The tables exist before the seed, and
// the seed commits before the server listens, so that no client sees half of it. Jobs of a crashed
// process are reported before new ones can start. On shutdown the streams end first, then other
// requests, GraphQL operations and jobs, and the database is closed last.
func serve(ctx context.Context, s settings, stdout io.Writer) error {
	db, err := openDatabase(ctx, s.db)
	if err != nil {
		return err
	}
	// runs last, after every user of the database has ended
	defer db.close()
	var c *collections
	err = retryBusy(ctx, func() (err error) {
		c, err = newCollections(ctx, db, s, wallClock)
		return err
	})
	if err != nil {
		return err
	}
	defer c.close()
	filled, err := c.fill(ctx, s)
	if err != nil {
		return err
	}
	// Invalid options of a resource panic here, at start, and not in a request.
	catalogs := c.catalogs()
	contracts := newContractHandlers(c, catalogs)
	negotiator := newNegotiator(contracts, s, shiftedClock(s.now))
	listener, err := net.Listen("tcp", s.addr)
	if err != nil {
		return err
	}
	neutral := newNeutral(negotiator, catalogs, c.restOptions(), s, db.ready)
	// The report precedes the address, which is the last line of output. Scripts wait for that
	// line.
	fmt.Fprint(stdout, report(s, c, filled, contracts, negotiator))
	err = retryBusy(ctx, func() error {
		_, err := c.jobs.Recover(ctx)
		return err
	})
	if err != nil {
		return err
	}
	go c.jobs.Run(ctx)
	fmt.Fprintf(stdout, "shop: listening on http://%s\n", listener.Addr())
	server := newServer(withMiddleware(s.logger, neutral.before(c.withCaller(negotiator), s.addr)), s.logger)
	// Shutdown waits for open requests. Without this a stream would keep the server for all of
	// Drain.
	server.RegisterOnShutdown(func() { c.changes.Close() }) // ends the streams; clients reconnect
	return middleware.Serve(ctx, server, listener, &middleware.ServeOptions{
		// Handlers have returned by now. Operations and jobs that they started get the rest of
		// Drain.
		Then: func(ctx context.Context) error {
			return errors.Join(shutdown(ctx, contracts), c.jobs.Drain(ctx))
		},
	})
}

// wallClock returns the current time without the monotonic clock reading.
func wallClock() time.Time { return time.Now().UTC().Round(0) }

// newServer returns a server with limits for headers and idle connections. Its read and write
// timeouts are replaced by [middleware.Timeout] for each request. HTTP/2 without TLS lets a proxy
// multiplex requests to the shop; a server that is reached directly needs TLS instead.
func newServer(h http.Handler, logger *slog.Logger) *http.Server {
	return middleware.Server(h, &middleware.ServerOptions{UnencryptedHTTP2: true, Logger: logger})
}

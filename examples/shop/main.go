// Command shop is the reference application: orders, users, places and files.
//
//	go run -C examples ./shop
//	curl -i localhost:8080/orders
//
// It keeps them in a SQLite file, or wherever -db says. It prints what it serves and, last, one line with its address.
// Each request is a line on standard error. SIGTERM and Ctrl-C let requests in flight finish; a second Ctrl-C does not wait
// for them.
//
// main.go is the process and flags.go what it can be told. database.go is where everything is kept, with sqlite.go and
// postgres.go. orders.go, users.go and places.go are the collections, catalog.go serves them, and seed.go puts something
// into them. login.go, passwords.go and tokens.go are who somebody is, and policy.go what they may. cancel.go is a command
// that takes longer than its answer, and files.go is bytes. contracts.go is the versions side by side; orders_v1.go and
// users_v1.go are the shapes that things had in older ones, and graphql.go serves each of them in GraphQL, too. feed.go is
// where changes are kept for those who listen, and streams.go, endings.go and crowd.go see to it that they hear no more than
// they may. neutral.go is what has no version: the page, the documents, the health check. report.go is what the shop says
// when it starts.
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

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the next signal ends the process at once
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run returns the exit status: 0 for a shop that was told to end, 2 for arguments that it cannot follow, else 1.
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

// serve opens the shop until ctx ends.
func serve(ctx context.Context, s settings, stdout io.Writer) error {
	db, err := openDatabase(ctx, s.db)
	if err != nil {
		return err
	}
	defer db.close()
	var c *collections
	err = whenFree(ctx, func() (err error) {
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
	catalogs := c.catalogs()
	contracts := newDoors(c, catalogs)
	negotiator := newNegotiator(contracts, s.addr, shiftedClock(s.now))
	listener, err := net.Listen("tcp", s.addr)
	if err != nil {
		return err
	}
	neutral := newNeutral(negotiator, catalogs, c.restOptions(), s, db.ping)
	fmt.Fprint(stdout, report(s, c, filled, contracts, negotiator))
	err = whenFree(ctx, func() error {
		_, err := c.jobs.Recover(ctx)
		return err
	})
	if err != nil {
		return err
	}
	go c.jobs.Run(ctx)
	fmt.Fprintf(stdout, "shop: listening on http://%s\n", listener.Addr())
	server := newServer(around(s.logger, neutral.before(c.admitted(negotiator), s.addr)), s.logger)
	server.RegisterOnShutdown(func() { c.changes.Close() }) // who listens is told to come back
	return middleware.Serve(ctx, server, listener, &middleware.ServeOptions{Then: func(ctx context.Context) error {
		return errors.Join(shutdown(ctx, contracts), c.jobs.Drain(ctx))
	}})
}

// wallClock is the present, without the reading that only this process understands.
func wallClock() time.Time { return time.Now().UTC().Round(0) }

// newServer bounds what a client can hold. Timeout sets the limits of reading and writing anew for each request.
func newServer(h http.Handler, logger *slog.Logger) *http.Server {
	return middleware.Server(h, &middleware.ServerOptions{UnencryptedHTTP2: true, Logger: logger})
}

// Command shop is the reference application: orders, users and places, served from collections.
//
//	go run -C examples ./shop
//	curl -i localhost:8080/orders
//
// For now it is held in memory and forgets everything when it ends. It prints what it serves and, last, one line with
// its address. SIGTERM and Ctrl-C let requests in flight finish; a second Ctrl-C does not wait for them.
//
// main.go is the process, flags.go what it can be told, catalog.go what it serves; orders.go, users.go and places.go
// are the collections, and seed.go puts something into them.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
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
	if err := serve(ctx, s, stdout); err != nil {
		fmt.Fprintln(stderr, "shop:", err)
		return 1
	}
	return 0
}

// serve opens the shop until ctx ends.
func serve(ctx context.Context, s settings, stdout io.Writer) error {
	c := newCollections(s.cache)
	if s.seed {
		if err := c.seed(ctx, s.places); err != nil {
			return err
		}
	}
	catalog := c.catalog()
	listener, err := net.Listen("tcp", s.addr)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "/  a page about all this\n/health  GET, HEAD\n%s", catalog.Report())
	fmt.Fprintf(stdout, "shop: listening on http://%s\n", listener.Addr())
	return serveUntil(ctx, newServer(ownHosts(s.addr, routes(catalog))), listener)
}

// newServer bounds what a client can hold: without limits of its own http.Server waits for a slow one for ever.
func newServer(h http.Handler) *http.Server {
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	return &http.Server{
		Handler:           h,
		Protocols:         &protocols,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       30 * time.Second,
		WriteTimeout:      5 * time.Minute, // an export over a slow line
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
	}
}

// drainTime is how long requests in flight may take once the shop is told to end.
const drainTime = 10 * time.Second

// serveUntil serves until ctx ends, and then until what is being answered has been answered.
func serveUntil(ctx context.Context, server *http.Server, listener net.Listener) error {
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	drain, cancel := context.WithTimeout(context.Background(), drainTime)
	defer cancel()
	return server.Shutdown(drain)
}

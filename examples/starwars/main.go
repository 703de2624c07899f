// Command starwars serves the characters, planets and species of three films over GraphQL and REST.
//
//	go run -C examples ./starwars
//	curl localhost:8080/graphql -H 'Content-Type: application/json' \
//		-d '{"query":"{ hero { name friends { name } } }"}'
//	curl 'localhost:8080/characters/luke?expand=friends,homeWorld'
//
// http://localhost:8080/ is a page to try queries in a browser. REST and GraphQL share one catalog.
// data.go has the data, saga.go the stores, and api.go the relations and the computed fields. Only
// reviews can be created and changed.
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

// main ends the context at the first signal, which starts a graceful shutdown.
func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the next signal ends the process immediately
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run returns the exit status: 0 after a signal or -help, 2 for invalid arguments, otherwise 1. Its
// streams and arguments are parameters, so that tests can run it in their process.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("starwars", flag.ContinueOnError)
	flags.SetOutput(stderr)
	addr := flags.String("addr", "127.0.0.1:8080", "listen `address`; port 0 picks one")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case flags.NArg() > 0:
		fmt.Fprintf(stderr, "starwars: %q is not a flag\n", flags.Arg(0))
		return 2
	}
	if err := serve(ctx, *addr, stdout); err != nil {
		fmt.Fprintln(stderr, "starwars:", err)
		return 1
	}
	return 0
}

// serve serves until ctx is done, and then waits for the requests in flight. The report precedes
// the address, which is the last line of output. Scripts wait for that line.
func serve(ctx context.Context, addr string, stdout io.Writer) error {
	s, err := newSaga(ctx)
	if err != nil {
		return err
	}
	api, report := newAPI(s)
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%sstarwars: listening on http://%s\n", report, listener.Addr())
	// The zero http.Server has no time limits, so a slow client could keep a connection forever.
	// middleware.Server has the same limits as defaults; this example needs no other middleware.
	server := &http.Server{
		Handler:           api,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      queryTimeout + 10*time.Second, // a timeout error still reaches the client
		IdleTimeout:       2 * time.Minute,
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	// Not derived from ctx, which is done already.
	drain, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return server.Shutdown(drain)
}

// Command starwars serves the characters of three films, their worlds and their species, by GraphQL and by REST.
//
//	go run -C examples ./starwars
//	curl localhost:8080/graphql -H 'Content-Type: application/json' -d '{"query":"{ hero { name friends { name } } }"}'
//	curl 'localhost:8080/characters/luke?expand=friends,homeWorld'
//
// A browser at http://localhost:8080/ gets a page to try more. What is behind both doors is written once: data.go is the
// facts, saga.go keeps them in memory, and api.go says how they hang together and what can be asked beyond that. Nobody's
// names or worlds can be changed; anybody can say what they think of a film.
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

// run returns the exit status: 0 for a server that was told to end, 2 for arguments that it cannot follow, else 1.
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

// serve serves until ctx ends, and then until what is being answered has been answered.
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
	server := &http.Server{
		Handler:           api,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      queryTimeout + 10*time.Second, // who asks for too much is told so
		IdleTimeout:       2 * time.Minute,
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	drain, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return server.Shutdown(drain)
}

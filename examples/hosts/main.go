// Command hosts serves the contracts of one API on two hosts. Each process serves the contracts of
// one major version, and redirects or forwards requests for the others. README.md has a session.
//
//	go run -C examples ./hosts -serve 1 -addr localhost:8081 -at 2.0.0=http://localhost:8080/v2
//	go run -C examples ./hosts -serve 2 -at 1.0.0=http://api-v1-0.localhost:8081 \
//		-forward 1.1.0=http://127.0.0.1:8081/v1.1
//
// Both use the same SQLite file. notes.go has the notes in the shape of each contract.
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
	"strings"
	"syscall"

	"github.com/stoa-go/stoa/middleware"
	"github.com/stoa-go/stoa/version"
)

// settings are the values of the flags.
type settings struct {
	addr, db string
	major    string             // of the contracts that this process serves
	others   []version.Contract // on the other server
}

// main ends the context at the first signal, which starts a graceful shutdown.
func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the next signal ends the process immediately
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run returns the exit status: 0 after a signal or -help, 2 for invalid arguments, otherwise 1.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	s, err := parseFlags(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	}
	if err := serve(ctx, s, stdout); err != nil {
		fmt.Fprintln(stderr, "hosts:", err)
		return 1
	}
	return 0
}

// parseFlags reads the arguments, and prints errors and usage to stderr.
func parseFlags(args []string, stderr io.Writer) (s settings, err error) {
	flags := flag.NewFlagSet("hosts", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&s.addr, "addr", "localhost:8080", "listen `address`")
	flags.StringVar(&s.db, "db", "notes.db", "SQLite `file`, the same for both processes")
	flags.StringVar(&s.major, "serve", "2", "`major` version of the contracts to serve, 1 or 2")
	other := func(proxy bool) func(string) error {
		return func(value string) error {
			name, url, ok := strings.Cut(value, "=")
			if !ok {
				return errors.New("use CONTRACT=URL, such as 1.0.0=https://api-v1.example.com")
			}
			s.others = append(s.others, version.Contract{Name: name, At: url, Proxy: proxy})
			return nil
		}
	}
	flags.Func("at", "redirect requests for a contract to `CONTRACT=URL`", other(false))
	flags.Func("forward", "forward requests for a contract to `CONTRACT=URL`", other(true))
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	if flags.NArg() > 0 || s.major != "1" && s.major != "2" {
		err = fmt.Errorf("%q is not valid; -serve is 1 or 2, and there are no other arguments", args)
		fmt.Fprintln(stderr, "hosts:", err)
	}
	return s, err
}

// serve serves until ctx is done. The address is the last line of output. Scripts wait for that
// line.
func serve(ctx context.Context, s settings, stdout io.Writer) error {
	own, err := openContracts(ctx, s.db, s.major)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", s.addr)
	if err != nil {
		return err
	}
	api := newNegotiator(append(own, s.others...))
	mux := http.NewServeMux()
	mux.Handle("/", api)
	mux.Handle("/versions", api.List())
	fmt.Fprintf(stdout, "%shosts: listening on http://%s\n", api.Report(), listener.Addr())
	return middleware.Serve(ctx, middleware.Server(mux, &middleware.ServerOptions{Logger: slog.Default()}),
		listener, nil)
}

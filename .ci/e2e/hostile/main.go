// Command hostile is what a server on the open net gets: clients that send a byte now and then so as to hold connections
// (slow), and content and documents that are made to break whoever reads them (malformed). The script run, beside it,
// builds what is needed and calls it thus:
//
//	hostile slow                                  10,000 slow clients, on a server of this program
//	hostile malformed -shop FILE -suite FILE      every write route of the shop
//
// slow.go drips and server.go is what it drips into; honest.go asks in between how a good client fares, and process.go
// how large the server has become. malformed.go sends what corpus.go, documents.go and raw.go make up to what routes.go
// finds in the shop's OpenAPI documents. report.go tells what came of it.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "hostile:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) > 0 {
		switch args[0] {
		case "slow":
			return slow(ctx, args[1:], out)
		case "server":
			return serve(ctx, args[1:], out)
		case "malformed":
			return malformed(ctx, args[1:], out)
		}
	}
	return fmt.Errorf("want slow or malformed, and not %q", args)
}

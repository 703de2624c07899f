// Command once repeats requests with Idempotency-Keys while everything dies, and counts what became of them. The script
// run, beside it, starts PostgreSQL and calls it thus:
//
//	once chaos -db DATABASE -mode MODE       processes killed at random, the database crashed, requests doubled
//	once steps -db DATABASE -control-db D    a process killed at every step of a write, again and again
//	once storm -db DATABASE                  many copies of each request at once
//	once pairs -db FILE -shop FILE           keys of others, and other requests under a key, on the shop
//
// The server under test is this program, too: server.go, with what it serves in server_catalog.go and where it may die in
// server_steps.go. It writes one item for a POST, adds to a list for a PATCH, changes an account and notes it for a
// command, and removes for a DELETE. Each leaves the key behind, so that an effect can be counted by somebody who knows
// nothing of records.
//
// client.go sends, write.go is what is sent until it is answered, and count.go compares what was told with what is there:
// an effect too many is a duplicate, one too few that was acknowledged is missing, and a key that was told two things, or
// another thing than is there, has a wrong replay. Each mode but the control has to have none of them.
//
// The control keeps keys as most do: the claim is committed, then the effect, then the answer, and a claim that is not
// finished within its lease is taken over. It has to find duplicates, or this check could not.
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
		fmt.Fprintln(os.Stderr, "once:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) > 0 {
		switch args[0] {
		case "server":
			return serve(ctx, args[1:], out)
		case "steps":
			return stepsOf(ctx, args[1:], out)
		case "storm":
			return stormOf(ctx, args[1:], out)
		case "pairs":
			return pairsOf(ctx, args[1:], out)
		case "chaos":
			return chaos(ctx, args[1:], out)
		}
	}
	return fmt.Errorf("want chaos, steps or storm, and not %q", args)
}

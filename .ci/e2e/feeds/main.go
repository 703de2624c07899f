// Command feeds listens to writes while everything dies, and counts what was heard. The script run, beside it, starts
// PostgreSQL and calls it thus:
//
//	feeds chaos -db DATABASE -mode MODE     processes killed at random, listeners that break off and come back elsewhere
//	feeds network -db DATABASE              the same, where the network is late, breaks, parts them, or the database is gone
//	feeds told -db DATABASE -other D        cursors that nothing can go on from: purged, forged, foreign, of a lost future
//	feeds sockets -db DATABASE              many WebSockets: memory, who never reads, come and go, fan-out
//
// The server under test is this program, too: server.go. It serves one collection in REST and in GraphQL.
//
// writer.go writes, and history.go keeps what is known of each item: from what was acknowledged, and from what is in
// the table when all is quiet, it follows what everybody has to have heard, without asking the log. frame.go is what
// somebody hears, at one of three doors, by sse.go or by socket.go; listener.go breaks off and comes back; judge.go
// compares the two. network.go is wires between all of them, and fault.go cuts them off, of which fault_report.go tells what
// came; line.go is how clients find out. told.go is cursors, with store.go to put a database back; sockets.go is many sockets, which are a
// crowd (crowd.go).
//
// The control publishes in memory, after the commit, as most do, and whoever comes back is told what happens from then
// on. It has to lose, or this check could not.
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
		fmt.Fprintln(os.Stderr, "feeds:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) > 0 {
		switch args[0] {
		case "server":
			return serve(ctx, args[1:], out)
		case "chaos", "network":
			return troubleOf(ctx, args[0], args[1:], out)
		case "told":
			return toldOf(ctx, args[1:], out)
		case "sockets":
			return socketsOf(ctx, args[1:], out)
		}
	}
	return fmt.Errorf("want chaos, network, told or sockets, and not %q", args)
}

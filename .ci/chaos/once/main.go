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

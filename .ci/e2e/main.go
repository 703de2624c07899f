package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/stoa-go/stoa/ci/e2e/server"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) > 0 && args[0] == "server" {
		return server.Run(ctx, args[1:], out)
	}
	flags := flag.NewFlagSet("e2e", flag.ContinueOnError)
	list := flags.Bool("list", false, "list the scenarios")
	names := flags.String("run", "", "`names` of scenarios, separated by commas, or all")
	size := flags.String("size", "short", "short or full")
	seed := flags.Uint64("seed", 1, "of all random values")
	shop := flags.String("shop", os.Getenv("SHOP"), "`program` of the shop; it is built if empty")
	scale := flags.Int("scale", 20_000, "writes of feed-scale")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *list {
		for _, s := range scenarios {
			fmt.Fprintf(out, "%-18s %s\n", s.name, s.about)
		}
		return nil
	}
	if *size != "short" && *size != "full" {
		return fmt.Errorf("-size %q is not short or full", *size)
	}
	selected, err := choose(*names)
	if err != nil {
		return err
	}
	for _, s := range selected {
		e := &env{out: out, seed: *seed, full: *size == "full", shopFile: *shop, scale: *scale}
		if err := e.runScenario(ctx, s); err != nil {
			return fmt.Errorf("%s: %w\nagain: go run -C .ci/e2e . -run %s -size %s -seed %d", s.name, err, s.name, *size, *seed)
		}
	}
	return nil
}

func choose(names string) ([]scenario, error) {
	if names == "all" {
		return scenarios, nil
	}
	var selected []scenario
	for name := range strings.SplitSeq(names, ",") {
		i := slices.IndexFunc(scenarios, func(s scenario) bool { return s.name == name })
		if i < 0 {
			return nil, fmt.Errorf("no scenario %q; -list prints them", name)
		}
		selected = append(selected, scenarios[i])
	}
	return selected, nil
}

// runScenario runs one scenario in a temporary folder. If it fails, the end of the log of its nodes is printed.
func (e *env) runScenario(ctx context.Context, s scenario) (err error) {
	began := time.Now()
	fmt.Fprintf(e.out, "%s: %s\n\n", s.name, s.about)
	if err := e.open(""); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			fmt.Fprintf(e.out, "the log of the nodes ends with:\n%s\n", e.logTail(40))
		}
		e.close()
	}()
	if err := s.run(ctx, e); err != nil {
		return err
	}
	fmt.Fprintf(e.out, "%s: ok in %.1f s\n\n", s.name, time.Since(began).Seconds())
	return ctx.Err()
}

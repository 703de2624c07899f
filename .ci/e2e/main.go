package main

import (
	"context"
	"errors"
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
	times := flags.Int("times", 1, "runs of each scenario, with the seeds from -seed on")
	shop := flags.String("shop", os.Getenv("SHOP"), "`program` of the shop; it is built if empty")
	scale := flags.Int("scale", 20_000, "writes of feed-scale")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *list {
		for _, s := range scenarios {
			fmt.Fprintf(out, "%-18s %-6s %2d %s\n", s.name, s.place(), s.seeds, s.about)
		}
		return nil
	}
	if *times < 1 {
		return fmt.Errorf("-times %d is not positive", *times)
	}
	if *size != "short" && *size != "full" {
		return fmt.Errorf("-size %q is not short or full", *size)
	}
	selected, err := choose(*names)
	if err != nil {
		return err
	}
	first := env{out: out, seed: *seed, full: *size == "full", shopFile: *shop, scale: *scale}
	return runAll(ctx, selected, *times, first)
}

// runAll runs each scenario with as many seeds as times, from that of first on. It continues after a
// failure, and returns all of them.
func runAll(ctx context.Context, selected []scenario, times int, first env) error {
	var failed []error
	for _, s := range selected {
		for i := range times {
			e := first
			e.seed += uint64(i)
			if err := e.runScenario(ctx, s); err != nil {
				err = fmt.Errorf("%s, seed %d: %w\n  again: go run -C .ci/e2e . -run %s -size %s -seed %d",
					s.name, e.seed, err, s.name, size(&e, "short", "full"), e.seed)
				fmt.Fprintf(e.out, "%v\n\n", err)
				failed = append(failed, err)
			}
			if ctx.Err() != nil {
				return errors.Join(append(failed, ctx.Err())...)
			}
		}
	}
	return errors.Join(failed...)
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

// runScenario runs a scenario in a temporary folder. If it fails, it prints the end of the log of its
// nodes.
func (e *env) runScenario(ctx context.Context, s scenario) (err error) {
	began, used := time.Now(), processorTime()
	fmt.Fprintf(e.out, "%s, seed %d: %s\n\n", s.name, e.seed, s.about)
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
	if ctx.Err() != nil {
		return ctx.Err()
	}
	e.close() // the processor time of a process counts when it has ended
	fmt.Fprintf(e.out, "%s: ok in %.1f s, %.1f s of processor time without the databases\n\n", s.name,
		time.Since(began).Seconds(), (processorTime() - used).Seconds())
	return nil
}

// processorTime returns the processor time of this process and of its children that have ended.
func processorTime() (sum time.Duration) {
	for _, of := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var r syscall.Rusage
		if syscall.Getrusage(of, &r) == nil {
			sum += time.Duration(r.Utime.Nano() + r.Stime.Nano())
		}
	}
	return sum
}

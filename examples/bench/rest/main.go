// Command rest compares Stoa's REST handlers with handlers written by hand with net/http and
// encoding/json, for the same job, over the same store and in the same run, and prints a table:
//
//	go run -C examples/bench ./rest
//
// The peers run in turn, so that other load of the machine affects all of them. The table shows the
// median of all rounds. After that, 16 clients patch one item concurrently over a real server, and
// lost writes are counted. Last, a million items are exported while the size of the heap is
// sampled. The exit status is 1 if a budget is exceeded.
//
// The same jobs are benchmarks for the go tool: go test -C examples/bench -bench . ./rest
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/stoa-go/stoa/examples/bench/internal/measure"
)

func main() {
	rounds := flag.Int("rounds", 5, "how often each job is measured; the median counts")
	each := flag.Duration("time", 300*time.Millisecond, "how long one measurement takes")
	flag.Parse()
	ok, err := bench(context.Background(), *rounds, *each)
	if err != nil {
		fmt.Fprintln(os.Stderr, "rest:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

// bench runs all measurements and reports whether all budgets were kept.
func bench(ctx context.Context, rounds int, each time.Duration) (bool, error) {
	if rounds < 1 {
		return false, fmt.Errorf("-rounds %d: at least one is needed", rounds)
	}
	if err := measure.SetBenchTime(each); err != nil {
		return false, err
	}
	lines, ok, err := measureJobs(rounds)
	if err != nil {
		return false, err
	}
	printTable(os.Stdout, lines)

	r, err := raceOverHTTP(ctx, 200, 16)
	if err != nil {
		return false, err
	}
	fmt.Printf("\n200 concurrent PATCHes of one item by 16 clients: %v\n", r)
	e, err := exportOverHTTP(ctx, 1_000_000)
	if err != nil {
		return false, err
	}
	fmt.Printf("\nNDJSON export of 1,000,000 items: %v\n", e)
	return ok && r.ok() && e.ok(), nil
}

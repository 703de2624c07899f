// Command rest measures what Stoa costs, each time beside handlers written by hand with net/http and encoding/json
// that do the same job over the same store in the same run, and prints the result as a table:
//
//	go run -C examples/bench ./rest
//
// The sides take turns, so that whatever else the machine does hits them alike, and of all rounds the median counts.
// Then it lets 16 clients change one item at once over a real server and counts what got lost, and exports a million
// items and watches the heap. It exits with 1 if a budget is exceeded.
//
// The same jobs are benchmarks for the go tool: go test -C examples/bench -bench . ./rest
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"
	"time"
)

func main() {
	rounds := flag.Int("rounds", 5, "how often each job is measured; the median counts")
	each := flag.Duration("time", 300*time.Millisecond, "how long one measurement takes")
	flag.Parse()
	ok, err := bench(context.Background(), *rounds, *each)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

// bench runs everything and reports whether all of it kept its budget.
func bench(ctx context.Context, rounds int, each time.Duration) (bool, error) {
	if rounds < 1 {
		return false, fmt.Errorf("-rounds %d: at least one is needed", rounds)
	}
	testing.Init() // registers the flags of package testing, of which one says how long a benchmark runs
	if err := flag.Set("test.benchtime", each.String()); err != nil {
		return false, err
	}
	lines, ok := measure(rounds)
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

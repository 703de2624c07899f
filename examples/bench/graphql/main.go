// Command graphql measures what an answer of Stoa's GraphQL door costs, beside the three usual GraphQL servers for Go and
// beside a handler written by hand with encoding/json, which is the floor. All serve the same data and the same documents in
// the same run, and each measurement is a whole HTTP request through an http.Handler:
//
//	go run -C examples/bench ./graphql
//
// The sides take turns on one processor. What counts is the processor time, of which the median of all rounds is taken, so
// that other programs disturb little. It exits with 1 if a budget is exceeded.
//
// Resolvers of the peers look relations up one by one, since the data is in memory: with dataloaders, which a database
// would need, they take longer than that.
package main

import (
	"flag"
	"fmt"
	"os"
	"testing"
	"time"
)

func main() {
	rounds := flag.Int("rounds", 5, "how often each job is measured; the median counts")
	each := flag.Duration("time", 200*time.Millisecond, "how long one measurement takes")
	flag.Parse()
	ok, err := compare(*rounds, *each)
	if err != nil {
		fmt.Fprintln(os.Stderr, "graphql:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

// compare measures everything, prints it, and reports whether all of it kept its budget.
func compare(rounds int, each time.Duration) (bool, error) {
	if rounds < 1 {
		return false, fmt.Errorf("-rounds %d: at least one is needed", rounds)
	}
	testing.Init() // registers the flags of package testing, of which one says how long a benchmark runs
	if err := flag.Set("test.benchtime", each.String()); err != nil {
		return false, err
	}
	t, err := measure(rounds)
	if err != nil {
		return false, err
	}
	t.print(os.Stdout)
	peak, size := peakOfList()
	budgets := append(t.budgets(), budget{"peak heap of 10,000 items, of the answer's size", ratio(peak, size), 3, atMost,
		fmt.Sprintf("%d bytes of %d", peak, size)})
	fmt.Println()
	return printBudgets(os.Stdout, budgets), nil
}

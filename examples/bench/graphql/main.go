// Command graphql compares Stoa's GraphQL handler with the three usual GraphQL servers for Go and
// with a handler written by hand with encoding/json. All serve the same data and the same documents
// in the same run, and each measurement is a whole HTTP request through an http.Handler:
//
//	go generate ./internal/gqlgenserver      (in examples/bench, once: the code of gqlgen)
//	go run -C examples/bench -tags gqlgen ./graphql
//
// Without the tag, gqlgen is left out. The peers run in turn on one processor, and the table shows
// the median processor time of all rounds, which other load of the machine changes little. The exit
// status is 1 if a budget is exceeded.
//
// Resolvers of the other servers look relations up one by one, because the data is in memory. With
// dataloaders, which a database would need, they take longer.
package main

import (
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/stoa-go/stoa/examples/bench/internal/gqlgenserver"
	"github.com/stoa-go/stoa/examples/bench/internal/measure"
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

// compare runs all measurements, prints the results, and reports whether all budgets were kept.
func compare(rounds int, each time.Duration) (bool, error) {
	if rounds < 1 {
		return false, fmt.Errorf("-rounds %d: at least one is needed", rounds)
	}
	if err := measure.SetBenchTime(each); err != nil {
		return false, err
	}
	t, err := measureJobs(rounds)
	if err != nil {
		return false, err
	}
	t.print(os.Stdout)
	if !gqlgenserver.Available {
		fmt.Println("\n" + gqlgenserver.LeftOut)
	}
	peak, size := peakOfList()
	budgets := append(t.budgets(), budget{"peak heap of 10,000 items, of the response's size",
		measure.Ratio(peak, size), 3, atMost, fmt.Sprintf("%d bytes of %d", peak, size)})
	fmt.Println()
	return printBudgets(os.Stdout, budgets), nil
}

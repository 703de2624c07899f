// Command graphql compares Stoa's GraphQL handler with the three usual GraphQL servers for Go and
// with a handler written by hand with encoding/json. All serve the same data and the same documents
// in the same run, and each measurement is a whole HTTP request through an http.Handler:
//
//	go generate ./internal/gqlgenserver      (in examples/bench, once: the code of gqlgen)
//	go run -C examples/bench -tags gqlgen ./graphql
//	go run -C examples/bench ./graphql -profile profiles   profiles of the processor, for go tool pprof
//
// Without the tag, gqlgen is left out. The peers run in turn on one processor, and the table shows
// the median processor time of all rounds, which other load of the machine changes little. The exit
// status is 1 if a budget is exceeded. With -gate, the list of 100 is compared with the limits of the
// gate, in up to three short turns.
//
// Resolvers of the other servers look relations up one by one, because the data is in memory. With
// dataloaders, which a database would need, they take longer.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/stoa-go/stoa/examples/bench/internal/gqlgenserver"
	"github.com/stoa-go/stoa/examples/bench/internal/measure"
	"github.com/stoa-go/stoa/examples/bench/internal/report"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "graphql:", err)
		os.Exit(1)
	}
}

// errBudget reports that a measurement exceeded its budget.
var errBudget = errors.New("a budget is exceeded")

// run parses the flags and measures.
func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("graphql", flag.ContinueOnError)
	rounds := flags.Int("rounds", 5, "how often each job is measured; the median counts")
	each := flags.Duration("time", 200*time.Millisecond, "how long one measurement takes")
	gate := flags.Bool("gate", false, "compare with the limits of the gate, in up to three short turns")
	file := flags.String("json", "", "write the results to this `file`")
	text := flags.String("job", "", "measure only the jobs with this `text` in their names")
	folder := flags.String("profile", "", "write profiles to this `folder` in place of measuring")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 || *rounds < 1 {
		return errors.New("want only flags, and at least one of -rounds; see -h")
	}
	selected := slices.DeleteFunc(slices.Clone(jobs), func(j job) bool {
		return !strings.Contains(j.name, *text)
	})
	if len(selected) == 0 {
		return fmt.Errorf("-job %s: no job has that in its name", *text)
	}
	if *folder != "" {
		return profile(selected, *folder, *each, out)
	}
	if *gate {
		*rounds, *each = 5, 100*time.Millisecond
	}
	if err := measure.SetBenchTime(*each); err != nil {
		return err
	}
	if *gate {
		return report.Gate(out, func() (*report.Results, error) {
			return measureJobs([]job{list100}, *rounds)
		})
	}
	return compare(selected, *rounds, *file, out)
}

// compare runs the measurements of jobs, prints the results and writes them to a file. The peak of
// the heap is measured with all jobs only.
func compare(selected []job, rounds int, file string, out io.Writer) error {
	results, err := measureJobs(selected, rounds)
	if err != nil {
		return err
	}
	results.Print(out, tableGraphQL)
	if !gqlgenserver.Available {
		fmt.Fprintln(out, "\n"+gqlgenserver.LeftOut)
	}
	if file != "" {
		if err := results.Save(file); err != nil {
			return err
		}
	}
	if len(selected) < len(jobs) {
		return nil
	}
	peak, size, err := peakOfList()
	if err != nil {
		return err
	}
	fmt.Fprintln(out)
	heap := budget{"peak heap of 10,000 items, of the response's size", measure.Ratio(peak, size), 3,
		fmt.Sprintf("%d bytes of %d", peak, size)}
	if ok := printBudgets(out, append(budgets(results), heap)); !ok || !results.Met() {
		return errBudget
	}
	return nil
}

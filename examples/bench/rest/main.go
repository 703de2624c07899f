// Command rest compares Stoa's REST handlers with handlers written by hand with net/http and
// encoding/json, and with gin, echo and huma, for the same jobs, over the same store and in the same
// run:
//
//	go run -C examples/bench ./rest
//
// It prints two tables of processor time. In process, handlers are called without a socket. Over
// sockets, each peer is a server process with one processor and 16 connections. The peers run in
// turn, so that other load of the machine affects all of them, and the tables have the medians of
// all rounds. After that, 16 clients patch one item concurrently over a real server, and lost
// writes are counted. Last, a million items are exported while the size of the heap is sampled. The
// exit status is 1 if a budget is exceeded.
//
//	go run -C examples/bench ./rest -gate               .ci/run long bench: under a minute
//	go run -C examples/bench ./rest -job 304            only jobs with 304 in their names
//	go run -C examples/bench ./rest -profile profiles   profiles of the processor, for go tool pprof
//
// The jobs in process are also benchmarks of the go tool:
//
//	go test -C examples/bench -bench . ./rest
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/stoa-go/stoa/examples/bench/internal/measure"
	"github.com/stoa-go/stoa/examples/bench/internal/report"
)

// Names of the tables in a file of results.
const (
	tableInProcess = "rest"
	tableSockets   = "sockets"
)

func main() {
	if name := os.Getenv(serveVariable); name != "" {
		exit(serveSocket(name, os.Stdin, os.Stdout))
	}
	exit(run(context.Background(), os.Args[1:], os.Stdout))
}

// exit ends the program: 0 without an error or after -h, and 1 otherwise.
func exit(err error) {
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "rest:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// settings are the values of the flags.
type settings struct {
	rounds        int
	each          time.Duration // duration of one measurement
	gate          bool
	job           string // part of the names of jobs
	json, profile string // a file and a folder
}

// errBudget reports that a measurement exceeded its budget.
var errBudget = errors.New("a budget is exceeded")

// run parses the flags and measures.
func run(ctx context.Context, args []string, out io.Writer) error {
	var s settings
	flags := flag.NewFlagSet("rest", flag.ContinueOnError)
	flags.IntVar(&s.rounds, "rounds", 9, "how often each job is measured; the median counts")
	flags.DurationVar(&s.each, "time", 200*time.Millisecond, "how long one measurement takes")
	flags.BoolVar(&s.gate, "gate", false, "compare with the limits of the gate, in up to three short turns")
	flags.StringVar(&s.job, "job", "", "measure only the jobs with this `text` in their names")
	flags.StringVar(&s.json, "json", "", "write the results to this `file`")
	flags.StringVar(&s.profile, "profile", "", "write profiles to this `folder` in place of measuring")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 || s.rounds < 1 {
		return errors.New("want only flags, and at least one of -rounds; see -h")
	}
	selected := selectJobs(s.job)
	if len(selected) == 0 {
		return fmt.Errorf("-job %s: no job has that in its name", s.job)
	}
	if s.profile != "" {
		return profile(ctx, selected, s.profile, s.each, out)
	}
	if s.gate {
		s.rounds, s.each = 5, 50*time.Millisecond
		return report.Gate(out, func() (*report.Results, error) { return s.measure(ctx, selected) })
	}
	results, err := s.measure(ctx, selected)
	if err != nil {
		return err
	}
	printResults(out, results)
	if s.json != "" {
		if err := results.Save(s.json); err != nil {
			return err
		}
	}
	ok := results.Met()
	if s.job == "" {
		rest, err := raceAndExport(ctx, out)
		if err != nil {
			return err
		}
		ok = ok && rest
	}
	if !ok {
		return errBudget
	}
	return nil
}

// selectJobs returns the jobs with part in their names.
func selectJobs(part string) (selected []job) {
	for _, j := range jobs {
		if strings.Contains(j.name, part) {
			selected = append(selected, j)
		}
	}
	return selected
}

// measure measures jobs in process and over sockets.
func (s settings) measure(ctx context.Context, jobs []job) (*report.Results, error) {
	if err := measure.SetBenchTime(s.each); err != nil {
		return nil, err
	}
	results, err := measureInProcess(jobs, inProcess, s.rounds)
	if err != nil {
		return nil, err
	}
	sockets, err := measureSockets(ctx, jobs, overSockets, s.rounds, s.each)
	if err != nil {
		return nil, err
	}
	results.Merge(sockets)
	return results, nil
}

// printResults prints both tables.
func printResults(out io.Writer, results *report.Results) {
	fmt.Fprint(out, "In process, processor time of a request:\n\n")
	results.Print(out, tableInProcess)
	fmt.Fprintf(out, "\nOver sockets, processor time of the server for a request, %d connections:\n\n",
		connections)
	results.Print(out, tableSockets)
}

// raceAndExport measures lost writes and the heap of an export.
func raceAndExport(ctx context.Context, out io.Writer) (ok bool, err error) {
	r, err := raceOverHTTP(ctx, 200, 16)
	if err != nil {
		return false, err
	}
	fmt.Fprintf(out, "\n200 concurrent PATCHes of one item by 16 clients: %v\n", r)
	e, err := exportOverHTTP(ctx, 1_000_000)
	if err != nil {
		return false, err
	}
	fmt.Fprintf(out, "\nNDJSON export of 1,000,000 items: %v\n", e)
	return r.ok() && e.ok(), nil
}

// Command rows measures a list of 100 rows of PostgreSQL as JSON, in processor time of the client and of
// the server process, and prints a table:
//
//	go run -C examples/bench ./rows -db 'postgres:///test?host=/var/run/postgresql'
//
// Without -db it uses the URL in the environment variable TEST_PG_DSN. It creates a schema of its own and
// drops it. Each way has one connection with prepared statements. The ways run in turn, so that other load
// of the machine affects all of them, and ratios are medians of the rounds. The floor encodes the binary
// values of pgx by hand. The exit status is 1 if a budget is exceeded.
//
// The processor time of the server is that of the process of the connection, so the server must run on
// this machine, on Linux.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"time"

	"github.com/stoa-go/stoa/examples/bench/internal/measure"
)

func main() {
	var o options
	flag.StringVar(&o.db, "db", os.Getenv("TEST_PG_DSN"), "URL of a database of PostgreSQL on this machine")
	flag.IntVar(&o.rounds, "rounds", 9, "how often each way is measured; the median counts")
	flag.DurationVar(&o.each, "time", 300*time.Millisecond, "how long one measurement takes")
	flag.StringVar(&o.profile, "profile", "", "write a profile of the way with this name to rows.pprof")
	flag.StringVar(&o.json, "json", "", "write the results to this `file`")
	flag.Parse()
	ok, err := bench(context.Background(), o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "rows:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

// options are the flags.
type options struct {
	db      string
	rounds  int
	each    time.Duration
	profile string
	json    string
}

// bench measures all ways and reports whether all budgets were kept.
func bench(ctx context.Context, o options) (ok bool, err error) {
	if o.db == "" || o.rounds < 1 {
		return false, errors.New("want -db URL or TEST_PG_DSN, and at least one of -rounds")
	}
	// With one processor the scheduler does not search for work on others, which would count as well.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	s, err := newStore(ctx, o.db)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	ways, err := s.ways(ctx)
	if err != nil {
		return false, err
	}
	if err := sameRows(ctx, ways); err != nil {
		return false, err
	}
	if o.profile != "" {
		return true, writeProfile(ctx, ways, o)
	}
	turns := make([]func() (cost, error), len(ways))
	for i, w := range ways {
		turns[i] = func() (cost, error) { return w.measure(ctx, o.each) }
	}
	results, err := measure.InTurn(o.rounds, turns...)
	if err != nil {
		return false, err
	}
	if o.json != "" {
		if err := resultsOf(ways, results).Save(o.json); err != nil {
			return false, err
		}
	}
	return printTable(os.Stdout, ways, results), nil
}

// writeProfile profiles one way for as long as all rounds of it take.
func writeProfile(ctx context.Context, ways []*way, o options) (err error) {
	for _, w := range ways {
		if w.name != o.profile {
			continue
		}
		f, err := os.Create("rows.pprof")
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
		c, err := w.measure(ctx, time.Duration(o.rounds)*o.each)
		fmt.Printf("%s: %v\n", w.name, c)
		return err
	}
	return fmt.Errorf("no way has the name %q", o.profile)
}

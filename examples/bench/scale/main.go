// Command scale fills a table with ten million rows, and compares each job of a catalog with the
// same SQL written by hand with database/sql, in the same run:
//
//	go run -C examples/bench ./scale                              a new SQLite file, then removed
//	go run -C examples/bench ./scale -db 'postgres:///test?...'   an empty PostgreSQL database
//
// It takes about 10 minutes and 2 GB. The exit status is 1 if a budget is exceeded. With -grow it
// measures the cost of requests at 1,000 to 10,000,000 rows instead, in memory and in SQLite, and in
// PostgreSQL if -db is its URL:
//
//	go run -C examples/bench ./scale -grow
//
// table.go creates and fills the table, hand.go is the SQL by hand, jobs.go has the jobs,
// measure.go compares them, and grow.go is the measurement at several sizes.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/stoa-go/stoa/examples/bench/internal/measure"
)

func main() {
	err := run(context.Background(), os.Args[1:], os.Stdout)
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

// settings are the values of the flags.
type settings struct {
	rows   int
	round  time.Duration // duration of one measurement
	sizes  []int         // numbers of rows of grow, ascending
	folder string        // for temporary files
}

// run parses the flags, and opens and measures the database.
func run(ctx context.Context, args []string, out io.Writer) (err error) {
	var s settings
	flags := flag.NewFlagSet("scale", flag.ContinueOnError)
	db := flags.String("db", "",
		"postgres://... of an empty database, or the `file` of a new one; a temporary file if empty")
	flags.IntVar(&s.rows, "rows", 10_000_000, "of the table")
	flags.DurationVar(&s.round, "round", 500*time.Millisecond, "of measuring; each figure is of seven")
	growing := flags.Bool("grow", false, "measure requests at several sizes instead")
	sizes := flags.String("sizes", "1000,10000,100000,1000000,10000000",
		"numbers of `rows` for -grow, separated by commas")
	file := flags.String("json", "", "write the results of -grow to this `file`")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if s.sizes, err = measure.Sizes(*sizes); err != nil {
		return err
	}
	if flags.NArg() > 0 || s.rows < 1000 {
		return errors.New("want -db DATABASE, and at least 1000 -rows")
	}
	if s.folder, err = os.MkdirTemp("", "scale"); err != nil {
		return err
	}
	defer os.RemoveAll(s.folder)
	if *growing {
		results, err := grow(ctx, s, *db, out)
		if err != nil || *file == "" {
			return err
		}
		return results.Save(*file)
	}
	if *db == "" {
		*db = s.folder + "/scale.db"
	}
	opened, err := open(*db)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, opened.close()) }()
	return opened.measureAll(ctx, s, out)
}

// errBudget reports that a measurement exceeded its budget.
var errBudget = errors.New("beyond the budget")

// measureAll prints a table. Its error names the jobs that exceeded their budget.
func (d *database) measureAll(ctx context.Context, s settings, out io.Writer) error {
	began := time.Now()
	if err := d.fill(ctx, s.rows); err != nil {
		return err
	}
	fmt.Fprintf(out, "%s: %d rows loaded and indexed in %.0f s\n\n", d.name, s.rows,
		time.Since(began).Seconds())
	fmt.Fprint(out, "| job | beside | ratio | budget | ok |\n|---|---|--:|--:|---|\n")
	// Requests can be canceled, as those of net/http. Otherwise the drivers do not watch the context of the
	// handler by hand, and that of the catalog has a deadline.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w := &work{database: d, settings: s, handler: d.catalog(), hand: d.byHand()}
	var errs []error
	// A job that fails ends the run. One that exceeds its budget does not, so that the table is
	// complete.
	for _, job := range []func(context.Context) (figure, error){
		w.deepByID, w.deepBySort, w.filterOfIndex, w.filterAndSort, w.item, w.export} {
		f, err := job(ctx)
		if err != nil {
			return err
		}
		fmt.Fprintln(out, f)
		if !f.within() {
			errs = append(errs, fmt.Errorf("%w: %s: %.2fx of %.1fx", errBudget, f.job, f.ratio, f.budget))
		}
	}
	return errors.Join(errs...)
}

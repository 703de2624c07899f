// Command all runs the benchmarks that the documents quote, and writes the documents:
//
//	go generate -C examples/bench ./internal/gqlgenserver
//	go run -C examples/bench -tags gqlgen ./all -db 'postgres:///...'   REST, GraphQL and PostgreSQL
//	go run -C examples/bench -tags gqlgen ./all -only scale,fanout      how costs grow: 15 minutes
//	go run -C examples/bench ./all -draw                                the documents, without measuring
//
// Each benchmark is a program of its own, which all builds and runs in turn. Their results are merged
// into the file results.json. From that file all draws the pictures of .github/images, and writes the
// tables and the stated allocations of README.md and examples/bench/README.md. The exit status is 1
// if a benchmark fails, but not if a budget is exceeded: the tables show that.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/stoa-go/stoa/examples/bench/internal/gqlgenserver"
	"github.com/stoa-go/stoa/examples/bench/internal/report"
)

func main() {
	err := run(context.Background(), os.Args[1:], os.Stdout)
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "all:", err)
		os.Exit(1)
	}
}

// settings are the values of the flags, of which rounds and each are passed to all benchmarks but
// scale. Paths are relative to examples/bench.
type settings struct {
	only, results, root, db string
	draw, small             bool
	rounds                  int           // 0 is the default of each benchmark
	each                    time.Duration // likewise
}

// benchmark is a program of this module.
type benchmark struct {
	name string
	// args are its flags, and small those of a run in seconds that proves only that it works.
	args, small []string
	takesDB     bool // it has the flag -db
}

var benchmarks = []benchmark{
	{name: "rest", small: []string{"-rounds", "1", "-time", "1ms"}},
	{name: "graphql", small: []string{"-rounds", "1", "-time", "1ms"}},
	{name: "rows", small: []string{"-rounds", "1", "-time", "1ms"}, takesDB: true},
	{name: "scale", args: []string{"-grow"}, small: []string{"-sizes", "1000,2000", "-round", "1ms"},
		takesDB: true},
	{name: "fanout", args: []string{"-grow"},
		small: []string{"-sizes", "5,10", "-rounds", "1", "-time", "1ms"}},
}

// run parses the flags, runs the benchmarks and writes the documents.
func run(ctx context.Context, args []string, out io.Writer) error {
	var s settings
	flags := flag.NewFlagSet("all", flag.ContinueOnError)
	flags.StringVar(&s.only, "only", "rest,graphql,rows", "names of the `benchmarks`, separated by commas")
	flags.StringVar(&s.results, "results", "results.json", "`file` that results are merged into")
	flags.StringVar(&s.root, "root", "../..",
		"`folder` with README.md and .github/images; empty writes no documents")
	flags.StringVar(&s.db, "db", "", "postgres://... of an empty database for rows and scale")
	flags.IntVar(&s.rounds, "rounds", 0, "passed to all benchmarks but scale; 0 is the default of each")
	flags.DurationVar(&s.each, "time", 0, "likewise, of one measurement")
	flags.BoolVar(&s.draw, "draw", false, "write the documents from the file, and measure nothing")
	flags.BoolVar(&s.small, "small", false, "run for seconds; the figures mean nothing")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return errors.New("want only flags; see -h")
	}
	results, err := report.Load(s.results)
	if err != nil {
		return err
	}
	if !s.draw {
		selected, err := s.selected()
		if err != nil {
			return err
		}
		if err := s.measure(ctx, selected, results, out); err != nil {
			return err
		}
		if err := results.Save(s.results); err != nil {
			return err
		}
	}
	if s.root == "" {
		return nil
	}
	return writeDocuments(results, s.root, out)
}

// selected returns the benchmarks of -only, without rows if no database is named.
func (s settings) selected() (selected []benchmark, err error) {
	for name := range strings.SplitSeq(s.only, ",") {
		found := false
		for _, b := range benchmarks {
			if b.name != name {
				continue
			}
			found = true
			if b.name != "rows" || s.db != "" || os.Getenv("TEST_PG_DSN") != "" {
				selected = append(selected, b)
			}
		}
		if !found {
			return nil, fmt.Errorf("-only %s: there is no benchmark %q", s.only, name)
		}
	}
	return selected, nil
}

// measure builds and runs benchmarks, and merges their results.
func (s settings) measure(
	ctx context.Context, selected []benchmark, results *report.Results, out io.Writer,
) error {
	folder, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	for _, b := range selected {
		began := time.Now()
		fmt.Fprintf(out, "# %s\n\n", b.name)
		got, err := s.runBenchmark(ctx, b, folder, out)
		if err != nil {
			return fmt.Errorf("%s: %w", b.name, err)
		}
		results.Merge(got)
		fmt.Fprintf(out, "\n%s took %.0f s\n\n", b.name, time.Since(began).Seconds())
	}
	results.Commit = commit(ctx)
	results.Date = time.Now().UTC().Format(time.DateOnly)
	return nil
}

// runBenchmark builds and runs one benchmark.
func (s settings) runBenchmark(
	ctx context.Context, b benchmark, folder string, out io.Writer,
) (*report.Results, error) {
	program, file := filepath.Join(folder, b.name), filepath.Join(folder, b.name+".json")
	build := []string{"build", "-o", program}
	if gqlgenserver.Available { // this program has the tag, too
		build = append(build, "-tags", "gqlgen")
	}
	text, err := exec.CommandContext(ctx, "go", append(build, "./"+b.name)...).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, text)
	}
	args := append([]string{"-json", file}, b.args...)
	if s.rounds > 0 && b.name != "scale" {
		args = append(args, "-rounds", strconv.Itoa(s.rounds))
	}
	if s.each > 0 && b.name != "scale" {
		args = append(args, "-time", s.each.String())
	}
	if s.small {
		args = append(args, b.small...)
	}
	if s.db != "" && b.takesDB {
		args = append(args, "-db", s.db)
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdout, cmd.Stderr = out, out
	failed := cmd.Run()
	// A benchmark writes its results before it fails because of a budget.
	if _, err := os.Stat(file); err != nil {
		return nil, errors.Join(failed, errors.New("no results"))
	}
	return report.Load(file)
}

// commit returns the short hash of the checkout, with a plus sign if files are changed, or "" without
// git.
func commit(ctx context.Context) string {
	hash, err := exec.CommandContext(ctx, "git", "rev-parse", "--short", "HEAD").Output()
	if err != nil {
		return ""
	}
	changed, err := exec.CommandContext(ctx, "git", "status", "--porcelain", "--untracked-files=no").Output()
	if err != nil || len(changed) > 0 {
		return strings.TrimSpace(string(hash)) + "+"
	}
	return strings.TrimSpace(string(hash))
}

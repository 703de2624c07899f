// Command chaos writes to shops that share a database while it kills them, and then asks what became of the writes.
// The script run, beside it, builds the shop, starts PostgreSQL and calls it thus:
//
//	chaos -shop FILE -db URL -processes 3 -crash 'COMMAND'    the check on PostgreSQL
//	chaos -shop FILE -db FILE                                 the same with one process, on SQLite
//	chaos -shop FILE -db URL -processes 3 -naive              the control: clients that read, change and put back
//
// Writers send each request to a process that is chosen at random. An answer below 300 is a promise; an answer of 500 and
// above, and none at all, leave it open whether the write happened, and everything that is checked allows for both. A
// write is lost if it was acknowledged and something that nobody wrote stands in its place. A read is torn if no order
// of the writes leaves what it shows.
//
// lanes.go, creates.go, moves.go, claims.go and keyed.go are what is written, each with what must hold of it; history.go
// decides whether what happened to one thing can have happened. internal/fleet is the processes, client.go sends and
// counts, run.go lets the writers loose, report.go tells what came of it. More programs, in folders of their own, kill
// for other ends: once, feeds and hostile.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/stoa-go/stoa/ci/e2e/fleet"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
		os.Exit(1)
	}
}

// settings are what a run was told on its command line.
type settings struct {
	shop, db, log string
	processes     int
	plan          plan
}

func run(ctx context.Context, args []string, out io.Writer) error {
	s, err := parse(args)
	if err != nil {
		return err
	}
	log, err := os.OpenFile(s.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	f := fleet.New(s.processes, log, s.shop, "-addr", "127.0.0.1:0", "-db", s.db)
	defer f.KillAll()
	if err := f.Start(ctx); err != nil {
		return err
	}
	r, err := s.plan.carryOut(ctx, f)
	if err != nil {
		return err
	}
	r.print(out)
	return r.verdict()
}

func parse(args []string) (settings, error) {
	var s settings
	flags := flag.NewFlagSet("chaos", flag.ContinueOnError)
	flags.StringVar(&s.shop, "shop", "", "the `program`")
	flags.StringVar(&s.db, "db", "", "its `database`")
	flags.StringVar(&s.log, "log", os.DevNull, "`file` for what the processes print")
	flags.IntVar(&s.processes, "processes", 1, "of the shop")
	flags.StringVar(&s.plan.name, "name", "run", "of the row in the report")
	flags.IntVar(&s.plan.requests, "requests", 20_000, "to send at least")
	flags.IntVar(&s.plan.kills, "kills", 10, "at least; 0 leaves the processes alone")
	flags.IntVar(&s.plan.writers, "writers", 8, "at once")
	flags.StringVar(&s.plan.crash, "crash", "", "shell `command` that crashes the database, in the middle of the run")
	flags.BoolVar(&s.plan.naive, "naive", false, "write without conditions, which has to lose something")
	flags.Uint64Var(&s.plan.seed, "seed", 1, "of what is written where and when")
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	if flags.NArg() > 0 || s.shop == "" || s.db == "" || s.processes < 1 || s.plan.writers < 1 {
		return s, errors.New("want -shop FILE and -db DATABASE, and numbers above 0")
	}
	return s, nil
}

package main

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"text/tabwriter"
	"time"
)

// findings is what is wrong. Its methods may be called by many goroutines at once.
type findings struct {
	mu         sync.Mutex
	lost, torn int64
	mistakes   int64 // answers that this check has no place for
	examples   []string
}

// lose notes writes that were acknowledged and are not there.
func (f *findings) lose(n int64, format string, args ...any) {
	f.note(&f.lost, n, "lost: "+format, args)
}

// tear notes a state that no order of the writes leaves.
func (f *findings) tear(format string, args ...any) { f.note(&f.torn, 1, "torn: "+format, args) }

// wrong notes an answer that cannot be judged.
func (f *findings) wrong(format string, args ...any) {
	f.note(&f.mistakes, 1, "unexpected: "+format, args)
}

func (f *findings) note(to *int64, n int64, format string, args []any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	*to += n
	if len(f.examples) < 3 {
		f.examples = append(f.examples, fmt.Sprintf("%.600s", fmt.Sprintf(format, args...)))
	}
}

// report is what came of a plan.
type report struct {
	plan             plan
	tasks            []task
	processes, kills int
	took             time.Duration
}

// print writes a table, and the first things that are wrong below it.
func (r report) print(out io.Writer) {
	fmt.Fprintf(out, "%s: %d writers, %d processes, %d kills, %.0f s, -seed %d\n", r.plan.name, r.plan.writers, r.processes,
		r.kills, r.took.Seconds(), r.plan.seed)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "requests\tacknowledged\trefused\tunknown\tstatus 500\tlost\ttorn\t")
	var all [7]int64
	for _, t := range r.tasks {
		row := t.row()
		for i := range row {
			all[i] += row[i]
		}
		printRow(w, t.name(), row)
	}
	printRow(w, "all", all)
	w.Flush()
	for _, t := range r.tasks {
		examples := t.found.examples
		if r.plan.naive {
			examples = examples[:min(1, len(examples))] // that there are some is what is expected
		}
		for _, example := range examples {
			fmt.Fprintln(out, "   ", example)
		}
	}
}

func (t task) row() [7]int64 {
	c := t.client
	return [7]int64{c.requests.Load(), c.acked.Load(), c.refused.Load(), c.undecided.Load(), c.internal.Load(),
		t.found.lost, t.found.torn}
}

// printRow writes the name last, since all columns are flush right.
func printRow(w io.Writer, name string, row [7]int64) {
	for _, n := range row {
		fmt.Fprintf(w, "%d\t", n)
	}
	fmt.Fprintf(w, "  %s\n", name)
}

// verdict returns why the check fails; nil if it does not. A control that loses and tears nothing is a failure too: then
// nobody raced, and the check proves nothing.
func (r report) verdict() error {
	var errs []error
	var lost, torn int64
	for _, t := range r.tasks {
		lost, torn = lost+t.found.lost, torn+t.found.torn
		if t.found.mistakes > 0 {
			errs = append(errs, fmt.Errorf("%s: %d answers that nobody expects", t.name(), t.found.mistakes))
		}
		if t.client.acked.Load() == 0 {
			errs = append(errs, fmt.Errorf("%s: nothing was acknowledged", t.name()))
		}
	}
	switch {
	case r.plan.naive && (lost == 0 || torn == 0):
		errs = append(errs, errors.New("the control lost or tore nothing, so this check cannot fail"))
	case !r.plan.naive && (lost > 0 || torn > 0):
		errs = append(errs, fmt.Errorf("%d writes were lost and %d states torn; -seed %d", lost, torn, r.plan.seed))
	}
	return errors.Join(errs...)
}

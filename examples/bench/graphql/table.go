package main

import (
	"fmt"
	"io"

	"github.com/stoa-go/stoa/examples/bench/internal/report"
)

// budget is a limit that is no ratio of two peers: got must be at most bound. The ratios have theirs
// in [report.Budgets].
type budget struct {
	what  string
	got   float64
	bound float64
	note  string
}

// budgets returns the limits of allocations and of ratios of two jobs.
func budgets(r *report.Results) []budget {
	of := func(j *job) report.Figure {
		f, _ := r.Figure(tableGraphQL, j.name, stoa.name)
		return f
	}
	hit := of(&list100)
	return []budget{
		{"list of 100, allocations", float64(hit.Allocs), 60, ""},
		{"list of 100, a document never seen, of one that was", of(&miss).Microseconds / hit.Microseconds,
			12, ""},
		{"time of an item, in 10,000 of in 1,000",
			of(&list10000).Microseconds / of(&list1000).Microseconds / 10, 1.5, ""},
	}
}

// printBudgets writes the budgets as a table, and reports whether all were kept.
func printBudgets(w io.Writer, budgets []budget) bool {
	fmt.Fprintln(w, "| budget | got | bound | |")
	fmt.Fprintln(w, "|---|--:|--:|---|")
	ok := true
	for i := range budgets {
		b, verdict := &budgets[i], "ok"
		if b.got > b.bound {
			ok, verdict = false, "over"
		}
		if b.note != "" {
			verdict += ": " + b.note
		}
		fmt.Fprintf(w, "| %s | %.2f | at most %g | %s |\n", b.what, b.got, b.bound, verdict)
	}
	return ok
}

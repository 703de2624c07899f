package main

// The table: medians of times, and medians of the ratios within each round.

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/stoa-go/stoa/examples/bench/internal/measure"
	"github.com/stoa-go/stoa/examples/bench/internal/report"
)

// limit is a budget of the fast way beside json_agg.
type limit struct {
	what, job string
	of        func(c cost) float64
}

var limits = []limit{
	{"processor time beside json_agg", report.RowsBoth, cost.total},
	{"processor time of the database beside json_agg", report.RowsDatabase,
		func(c cost) float64 { return c.server }},
}

// budgetOf returns the budget of a way, or 0.
func budgetOf(job, name, beside string) float64 {
	b, _ := report.BudgetOf(report.Ratio{Table: "rows", Job: job, Peer: name, Beside: beside})
	return b.Most
}

// printTable writes the results as a table in Markdown, and reports whether all budgets were kept.
func printTable(out io.Writer, ways []*way, results [][]cost) (ok bool) {
	ok = true
	verdict := func(ratio, budget float64) string {
		if budget == 0 {
			return "|"
		}
		if ratio > budget {
			ok = false
			return fmt.Sprintf("%.2fx | NO", budget)
		}
		return fmt.Sprintf("%.2fx | yes", budget)
	}
	fmt.Fprintln(out, "| way | client us | server us | both | allocs | beside the floor | budget | ok |")
	fmt.Fprintln(out, "|---|--:|--:|--:|--:|--:|--:|---|")
	for i, w := range ways {
		ratio := ratioOf(results[i], results[0], cost.total)
		fmt.Fprintf(out, "| %s | %.0f | %.0f | %.0f | %.0f | %.2fx | %s |\n", w.name,
			medianOf(results[i], func(c cost) float64 { return c.client }),
			medianOf(results[i], func(c cost) float64 { return c.server }),
			medianOf(results[i], cost.total), medianOf(results[i], func(c cost) float64 { return c.allocs }),
			ratio, verdict(ratio, budgetOf(report.RowsBoth, w.name, floorName)))
	}
	fmt.Fprintf(out, "\n| %s | ratio | budget | ok |\n|---|--:|--:|---|\n", fastName)
	byName := func(name string) []cost {
		return results[slices.IndexFunc(ways, func(w *way) bool { return w.name == name })]
	}
	for _, l := range limits {
		ratio := ratioOf(byName(fastName), byName(aggName), l.of)
		met := verdict(ratio, budgetOf(l.job, fastName, aggName))
		fmt.Fprintf(out, "| %s | %.2fx | %s |\n", l.what, ratio, met)
	}
	return ok
}

// medianOf returns the median of a figure.
func medianOf(results []cost, figure func(c cost) float64) float64 {
	values := make([]float64, len(results))
	for i, c := range results {
		values[i] = figure(c)
	}
	return measure.Median(values, cmp.Compare[float64])
}

// ratioOf returns the median of the ratios of a figure in each round.
func ratioOf(results, others []cost, figure func(c cost) float64) float64 {
	values := make([]float64, len(results))
	for i := range results {
		values[i] = measure.Ratio(figure(results[i]), figure(others[i]))
	}
	return measure.Median(values, cmp.Compare[float64])
}

package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/stoa-go/stoa/examples/bench/internal/measure"
)

// table has all results, by job and then by peer.
type table struct{ results []*result }

// of returns the result of a job on a peer, or nil if the peer did not take part.
func (t *table) of(j *job, p *peer) *result {
	for _, r := range t.results {
		if r.job.name == j.name && r.peer.name == p.name {
			return r
		}
	}
	return nil
}

// print writes the table in Markdown. The last two columns are ratios of processor time: to the
// peer by hand, and to Stoa.
func (t *table) print(w io.Writer) {
	fmt.Fprintln(w,
		"| job | peer | processor time | allocations | bytes allocated | response | of by hand | of Stoa |")
	fmt.Fprintln(w, "|---|---|--:|--:|--:|--:|--:|--:|")
	for _, r := range t.results {
		m, ofHand := r.median(), ""
		if f := t.of(r.job, &byHand); f != nil {
			ofHand = fmt.Sprintf("%.2fx", measure.Ratio(r.ns(), f.ns()))
		}
		fmt.Fprintf(w, "| %s | %s | %.1f us | %d | %d | %d | %s | %.1fx |\n", r.job.name, r.peer.name,
			r.ns()/1000, m.AllocsPerOp(), m.AllocedBytesPerOp(), r.size, ofHand,
			measure.Ratio(r.ns(), t.of(r.job, &stoa).ns()))
	}
}

// budget is one limit: got must be at most, or at least, bound.
type budget struct {
	what  string
	got   float64
	bound float64
	sense sense
	note  string
}

// sense is the direction of a budget.
type sense bool

const (
	atMost  sense = false
	atLeast sense = true
)

// kept reports whether the figure is within the budget.
func (b *budget) kept() bool {
	if b.sense == atLeast {
		return b.got >= b.bound
	}
	return b.got <= b.bound
}

// budgets returns the budgets of time and allocations, without gqlgen if it is left out.
func (t *table) budgets() []budget {
	ns := func(j *job, p *peer) float64 { return t.of(j, p).ns() }
	hit := ns(&list100, &stoa)
	allocs := t.of(&list100, &stoa).median().AllocsPerOp()
	all := []budget{
		{"list of 100, of the time by hand", hit / ns(&list100, &byHand), 0.6, atMost, ""},
		{"list of 100, allocations", float64(allocs), 60, atMost, ""},
		{"list of 100, graphql-go's time of Stoa's", ns(&list100, &graphqlGo) / hit, 40, atLeast, ""},
		{"list of 100, a document never seen, of one that was", ns(&miss, &stoa) / hit, 12, atMost, ""},
		{"time of an item, in 10,000 of in 1,000",
			ns(&list10000, &stoa) / ns(&list1000, &stoa) / 10, 1.5, atMost, ""},
	}
	if t.of(&list100, &gqlgen) != nil {
		all = slices.Insert(all, 2,
			budget{"list of 100, gqlgen's time of Stoa's", ns(&list100, &gqlgen) / hit, 40, atLeast, ""})
	}
	return all
}

// printBudgets writes the budgets as a table, and reports whether all were kept.
func printBudgets(w io.Writer, budgets []budget) bool {
	fmt.Fprintln(w, "| budget | got | bound | |")
	fmt.Fprintln(w, "|---|--:|--:|---|")
	ok := true
	for i := range budgets {
		b, bound, verdict := &budgets[i], "at most", "ok"
		if b.sense == atLeast {
			bound = "at least"
		}
		if !b.kept() {
			ok, verdict = false, "over"
		}
		if b.note != "" {
			verdict += ": " + b.note
		}
		fmt.Fprintf(w, "| %s | %.2f | %s %g | %s |\n", b.what, b.got, bound, b.bound, verdict)
	}
	return ok
}

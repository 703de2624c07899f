package main

import (
	"fmt"
	"io"
)

// table is everything that was measured, by job and then by side.
type table struct{ results []*result }

func (t *table) of(j *job, s *side) *result {
	for _, r := range t.results {
		if r.job.name == j.name && r.side.name == s.name {
			return r
		}
	}
	return nil
}

// print writes the table in Markdown. The last column is the time in times of Stoa's.
func (t *table) print(w io.Writer) {
	fmt.Fprintln(w, "| job | side | processor time | allocations | bytes allocated | answer | of the floor | of Stoa |")
	fmt.Fprintln(w, "|---|---|--:|--:|--:|--:|--:|--:|")
	for _, r := range t.results {
		m, byHand := r.median(), ""
		if f := t.of(r.job, &floor); f != nil {
			byHand = fmt.Sprintf("%.2fx", r.ns()/f.ns())
		}
		fmt.Fprintf(w, "| %s | %s | %.1f us | %d | %d | %d | %s | %.1fx |\n", r.job.name, r.side.name, r.ns()/1000,
			m.AllocsPerOp(), m.AllocedBytesPerOp(), r.size, byHand, r.ns()/t.of(r.job, &stoa).ns())
	}
}

// budget is one promise. got is to be most at most, or at least.
type budget struct {
	what  string
	got   float64
	bound float64
	sense sense
	note  string
}

type sense bool

const (
	atMost  sense = false
	atLeast sense = true
)

func (b *budget) kept() bool {
	if b.sense == atLeast {
		return b.got >= b.bound
	}
	return b.got <= b.bound
}

// budgets are those of time and allocations.
func (t *table) budgets() []budget {
	ns := func(j *job, s *side) float64 { return t.of(j, s).ns() }
	hit := ns(&list100, &stoa)
	allocs := t.of(&list100, &stoa).median().AllocsPerOp()
	return []budget{
		{"list of 100, of the floor's time", hit / ns(&list100, &floor), 0.6, atMost, ""},
		{"list of 100, allocations", float64(allocs), 60, atMost, ""},
		{"list of 100, gqlgen's time of Stoa's", ns(&list100, &sides[2]) / hit, 40, atLeast, ""},
		{"list of 100, graphql-go's time of Stoa's", ns(&list100, &sides[4]) / hit, 40, atLeast, ""},
		{"list of 100, a document never seen, of one that was", ns(&miss, &stoa) / hit, 12, atMost, ""},
		{"time of an item, in 10,000 of in 1,000", ns(&list10000, &stoa) / ns(&list1000, &stoa) / 10, 1.5, atMost, ""},
	}
}

func ratio(a, b int) float64 { return float64(a) / float64(b) }

// printBudgets writes them as a table, and reports whether all were kept.
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

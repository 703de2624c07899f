package main

import (
	"fmt"
	"io"
	"slices"
	"testing"
)

// line is one line of the table: a job on one side of Stoa, beside the job by hand.
type line struct {
	job        job
	side       side
	hand, stoa testing.BenchmarkResult
}

// measure runs every job on every side, in turns.
func measure(rounds int) (lines []line, ok bool) {
	ok = true
	for _, j := range jobs {
		sides := []side{byHand, byStoa, onMemory}
		results := make([][]testing.BenchmarkResult, len(sides))
		for range rounds {
			for i, s := range sides {
				results[i] = append(results[i], testing.Benchmark(func(b *testing.B) { run(b, j, s) }))
			}
		}
		for i, s := range sides[1:] {
			l := line{job: j, side: s, hand: median(results[0]), stoa: median(results[i+1])}
			lines = append(lines, l)
			ok = ok && l.ok()
		}
	}
	return lines, ok
}

// median returns the result in the middle by time.
func median(results []testing.BenchmarkResult) testing.BenchmarkResult {
	slices.SortFunc(results, func(a, b testing.BenchmarkResult) int { return int(a.NsPerOp() - b.NsPerOp()) })
	return results[len(results)/2]
}

// ratio is the time of Stoa in times by hand. A result without time is one of a benchmark that failed.
func (l line) ratio() float64 { return nsPerOp(l.stoa) / nsPerOp(l.hand) }

// nsPerOp keeps the fractions that [testing.BenchmarkResult.NsPerOp] drops.
func nsPerOp(r testing.BenchmarkResult) float64 {
	return float64(r.T.Nanoseconds()) / float64(max(r.N, 1))
}

// ok reports whether the budget was kept. It is set for the side that stands on the same store.
func (l line) ok() bool {
	if l.hand.N == 0 || l.stoa.N == 0 {
		return false
	}
	return l.budget() == 0 || l.ratio() <= l.budget()
}

func (l line) budget() float64 {
	if l.side.name != byStoa.name {
		return 0
	}
	return l.job.budget
}

// verdict returns the last two cells of a line.
func (l line) verdict() (budget, ok string) {
	switch {
	case l.hand.N == 0 || l.stoa.N == 0:
		return "", "failed"
	case l.budget() == 0:
		return "", "reported"
	case l.ok():
		return fmt.Sprintf("%.1fx", l.budget()), "yes"
	}
	return fmt.Sprintf("%.1fx", l.budget()), "NO"
}

// printTable writes lines as a table in Markdown.
func printTable(w io.Writer, lines []line) {
	fmt.Fprintln(w, "| job | by hand: ns, allocs, bytes | Stoa: ns, allocs, bytes | ratio | budget | ok |")
	fmt.Fprintln(w, "|---|--:|--:|--:|--:|---|")
	for _, l := range lines {
		name := l.job.name
		if l.side.name != byStoa.name {
			name += ", with resource/memory"
		}
		budget, ok := l.verdict()
		fmt.Fprintf(w, "| %s | %s | %s | %.2fx | %s | %s |\n", name, cell(l.hand), cell(l.stoa), l.ratio(), budget, ok)
	}
}

func cell(r testing.BenchmarkResult) string {
	return fmt.Sprintf("%.0f, %d, %d", nsPerOp(r), r.AllocsPerOp(), r.AllocedBytesPerOp())
}

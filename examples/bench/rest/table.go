package main

// The rounds and the table. The peers run in turn within a round, and each figure is the median.

import (
	"cmp"
	"fmt"
	"io"
	"testing"

	"github.com/stoa-go/stoa/examples/bench/internal/measure"
)

// line is one line of the table: a job on one peer and by hand.
type line struct {
	job        job
	peer       peer
	hand, stoa testing.BenchmarkResult
}

// measureJobs runs every job on every peer, in turn.
func measureJobs(rounds int) (lines []line, ok bool, err error) {
	ok = true
	peers := []peer{byHand, byStoa, onMemory}
	for _, j := range jobs {
		var fns []func() (testing.BenchmarkResult, error)
		for _, p := range peers {
			fns = append(fns, func() (testing.BenchmarkResult, error) {
				return testing.Benchmark(func(b *testing.B) { run(b, j, p) }), nil
			})
		}
		results, err := measure.InTurn(rounds, fns...)
		if err != nil {
			return nil, false, err
		}
		hand := measure.Median(results[0], byTime)
		for i, p := range peers[1:] {
			l := line{job: j, peer: p, hand: hand, stoa: measure.Median(results[i+1], byTime)}
			lines = append(lines, l)
			ok = ok && l.ok()
		}
	}
	return lines, ok, nil
}

// byTime orders results by the time of one operation.
func byTime(a, b testing.BenchmarkResult) int { return cmp.Compare(nsPerOp(a), nsPerOp(b)) }

// ratio returns the time of Stoa divided by the time by hand. A benchmark that failed has no time.
func (l line) ratio() float64 { return measure.Ratio(nsPerOp(l.stoa), nsPerOp(l.hand)) }

// nsPerOp keeps the fractions that [testing.BenchmarkResult.NsPerOp] drops.
func nsPerOp(r testing.BenchmarkResult) float64 {
	return float64(r.T.Nanoseconds()) / float64(max(r.N, 1))
}

// ok reports whether the budget was kept. Only the peer over the same store has one.
func (l line) ok() bool {
	if l.hand.N == 0 || l.stoa.N == 0 {
		return false
	}
	return l.budget() == 0 || l.ratio() <= l.budget()
}

// budget returns the maximum ratio, or 0 for a line without one.
func (l line) budget() float64 {
	if l.peer.name != byStoa.name {
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
		if l.peer.name != byStoa.name {
			name += ", with resource/memory"
		}
		budget, ok := l.verdict()
		fmt.Fprintf(w, "| %s | %s | %s | %.2fx | %s | %s |\n", name, cell(l.hand), cell(l.stoa), l.ratio(),
			budget, ok)
	}
}

// cell returns time, allocations and bytes of one operation.
func cell(r testing.BenchmarkResult) string {
	return fmt.Sprintf("%.0f, %d, %d", nsPerOp(r), r.AllocsPerOp(), r.AllocedBytesPerOp())
}

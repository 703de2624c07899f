package main

import (
	"cmp"
	"fmt"
	"time"

	"github.com/stoa-go/stoa/examples/bench/internal/measure"
)

// figure is a row of the report.
type figure struct {
	job, beside   string
	ratio, budget float64
}

// within reports whether the ratio keeps its budget.
func (f figure) within() bool { return f.ratio <= f.budget }

// String returns the figure as a row of the table.
func (f figure) String() string {
	ok := "yes"
	if !f.within() {
		ok = "NO"
	}
	return fmt.Sprintf("| %s | %s | %.2fx | %.1fx | %s |", f.job, f.beside, f.ratio, f.budget, ok)
}

// rounds is the number of measurements of each function.
const rounds = 7

// compare returns the median times of two functions that run in turn.
func compare(round time.Duration, first, second func() error) (a, b time.Duration, err error) {
	times, err := measure.InTurn(rounds, func() (time.Duration, error) { return perCall(round, first) },
		func() (time.Duration, error) { return perCall(round, second) })
	if err != nil {
		return 0, 0, err
	}
	return measure.Median(times[0], cmp.Compare), measure.Median(times[1], cmp.Compare), nil
}

// perCall calls do until the round is over and returns the mean time of a call. It calls do at
// least once, because some jobs take longer than a round.
func perCall(round time.Duration, do func() error) (time.Duration, error) {
	start := time.Now()
	return perCallBy(func() time.Duration { return time.Since(start) }, round, do)
}

// perCallBy is perCall with another clock for the mean. The round ends by the time of day.
func perCallBy(clock func() time.Duration, round time.Duration, do func() error) (time.Duration, error) {
	began, from := time.Now(), clock()
	n := 0
	for n == 0 || time.Since(began) < round {
		if err := do(); err != nil {
			return 0, err
		}
		n++
	}
	return (clock() - from) / time.Duration(n), nil
}

// sink is a response writer that implements [http.Flusher], like that of net/http.
type sink struct{ measure.Response }

func newSink(keep bool) *sink {
	s := &sink{}
	s.Reset()
	s.Keep = keep
	return s
}

// Flush implements [http.Flusher].
func (s *sink) Flush() {}

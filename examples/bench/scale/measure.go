package main

import (
	"fmt"
	"net/http"
	"slices"
	"time"
)

// figure is a row of the report.
type figure struct {
	job, beside   string
	ratio, budget float64
}

func (f figure) within() bool { return f.ratio <= f.budget }

func (f figure) String() string {
	ok := "yes"
	if !f.within() {
		ok = "NO"
	}
	return fmt.Sprintf("| %s | %s | %.2fx | %.1fx | %s |", f.job, f.beside, f.ratio, f.budget, ok)
}

// rounds is how often two things are measured in turn, so that what else the machine does meets both.
const rounds = 7

// compare returns the median times of two things and their ratio.
func compare(round time.Duration, first, second func() error) (a, b time.Duration, err error) {
	var times [2][]time.Duration
	for range rounds {
		for i, do := range []func() error{first, second} {
			t, err := perCall(round, do)
			if err != nil {
				return 0, 0, err
			}
			times[i] = append(times[i], t)
		}
	}
	slices.Sort(times[0])
	slices.Sort(times[1])
	return times[0][rounds/2], times[1][rounds/2], nil
}

func perCall(round time.Duration, do func() error) (time.Duration, error) {
	began := time.Now()
	n := 0
	for n == 0 || time.Since(began) < round {
		if err := do(); err != nil {
			return 0, err
		}
		n++
	}
	return time.Since(began) / time.Duration(n), nil
}

// sink is a ResponseWriter that keeps the last content, if it is not too much, and counts bytes and lines.
type sink struct {
	header       http.Header
	status       int
	keep         bool
	body         []byte
	bytes, lines int64
	written      func() // called after each Write; may be nil
}

func newSink(keep bool) *sink { return &sink{header: http.Header{}, status: http.StatusOK, keep: keep} }

func (s *sink) Header() http.Header { return s.header }

func (s *sink) WriteHeader(status int) { s.status = status }

func (s *sink) Write(p []byte) (int, error) {
	if s.keep {
		s.body = append(s.body, p...)
	}
	s.bytes += int64(len(p))
	for _, c := range p {
		if c == '\n' {
			s.lines++
		}
	}
	if s.written != nil {
		s.written()
	}
	return len(p), nil
}

// Flush makes it a writer that streams, as that of net/http is.
func (s *sink) Flush() {}

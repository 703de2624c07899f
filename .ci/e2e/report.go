package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/stoa-go/stoa/ci/e2e/history"
)

// result is the result of one run of a scenario, or of its control.
type result struct {
	title string
	lines []string
	*history.Violations
	control []history.Kind // kinds that a control has to have; nil if this is not a control
	errs    []error        // what is wrong besides violations
}

// line adds a line to the report.
func (r *result) line(format string, args ...any) {
	r.lines = append(r.lines, fmt.Sprintf(format, args...))
}

// fail adds an error, if it is one.
func (r *result) fail(err error) { r.errs = append(r.errs, err) }

// finish prints a result and returns its error. Of a control only one example is printed, because violations are expected.
func (e *env) finish(r *result) error {
	fmt.Fprintln(e.out, r.title)
	for _, text := range r.lines {
		fmt.Fprintln(e.out, "  "+text)
	}
	examples := r.Examples()
	if r.control != nil {
		examples = examples[:min(1, len(examples))]
	}
	for _, text := range examples {
		fmt.Fprintln(e.out, "    "+text)
	}
	fmt.Fprintln(e.out)
	return r.err()
}

func (r *result) err() error {
	err := r.Err()
	if r.control != nil {
		err = r.ControlErr(r.control...)
	}
	if err = errors.Join(append(r.errs, err)...); err != nil {
		return fmt.Errorf("%s: %w", r.title, err)
	}
	return nil
}

// table adds rows in columns, of which the last is flush left.
func (r *result) table(header string, rows ...[]any) {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.AlignRight)
	if header != "" {
		fmt.Fprintln(w, header)
	}
	for _, row := range rows {
		for _, cell := range row[:len(row)-1] {
			fmt.Fprintf(w, "%v\t", cell)
		}
		fmt.Fprintf(w, "  %v\n", row[len(row)-1])
	}
	w.Flush()
	r.lines = append(r.lines, strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n")...)
}

// percentile returns the time that a share of the times is at most. It sorts them.
func percentile(times []time.Duration, share float64) time.Duration {
	if len(times) == 0 {
		return 0
	}
	slices.Sort(times)
	return times[min(int(share*float64(len(times))), len(times)-1)]
}

func rounded(d time.Duration) time.Duration { return d.Round(100 * time.Microsecond) }

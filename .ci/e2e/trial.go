package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/stoa-go/stoa/ci/e2e/client"
	"github.com/stoa-go/stoa/ci/e2e/fleet"
	"github.com/stoa-go/stoa/ci/e2e/history"
)

// trial is one run of a scenario, or of its control. A scenario describes what is started and what is
// done. Env.try starts it, and reports what was found. The types of the scenarios embed a trial.
type trial struct {
	title   string
	control []history.Kind // violations that a control has to have; nil if this is not a control

	engine      string   // of a new database, which the nodes get as -db; empty is none
	command     []string // of the nodes, as for env.startNodes; nil starts none
	nodes       int      // 0 is as many as can share a database of the engine
	prepare     func(f *fleet.Fleet)
	connections int // of the client to each node

	// do is what is done with the nodes. What is wrong is added to the trial. An error ends the scenario.
	do func(ctx context.Context) error

	*env
	*client.Client
	*fleet.Fleet
	history.Violations
	source string   // of the database
	lines  []string // of the report
	errs   []error  // what is wrong besides violations
}

// step is a part of a trial. Its error has the name.
type step struct {
	name string
	do   func(ctx context.Context) error
}

// inOrder returns a function that takes steps until one fails.
func inOrder(steps ...step) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		for _, s := range steps {
			if err := errors.Join(s.do(ctx), ctx.Err()); err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
		}
		return nil
	}
}

// try makes trials, one after the other, and reports each. It ends after the first that fails.
func (e *env) try(ctx context.Context, trials ...*trial) error {
	for _, t := range trials {
		err := t.begin(ctx, e)
		if err == nil && t.do != nil {
			err = t.do(ctx)
		}
		if err := t.end(err); err != nil {
			return err
		}
	}
	return nil
}

// begin starts what a trial needs.
func (t *trial) begin(ctx context.Context, e *env) (err error) {
	t.env, t.Client = e, client.New(max(1, t.connections))
	if t.engine != "" {
		if t.source, err = e.newDatabase(ctx, t.engine); err != nil {
			return err
		}
	}
	if t.command == nil {
		return nil
	}
	return t.serve(ctx, t.command...)
}

// serve starts the nodes of a trial, in place of those that it has.
func (t *trial) serve(ctx context.Context, command ...string) (err error) {
	t.stop()
	if t.nodes == 0 {
		t.nodes = 1 // of a file of SQLite
		if t.engine == postgres {
			t.nodes = 3
		}
	}
	if t.source != "" {
		command = append(slices.Clip(command), "-db", t.source)
	}
	t.Fleet, err = t.startNodes(ctx, t.nodes, t.prepare, command...)
	return err
}

// stop kills the nodes, if there are any.
func (t *trial) stop() {
	if t.Fleet != nil {
		t.KillAll()
	}
}

// end ends the nodes, and reports the trial. It returns err, or what is wrong.
func (t *trial) end(err error) error {
	t.stop()
	t.print()
	if err == nil {
		return t.failure()
	}
	return fmt.Errorf("%s: %w", t.title, err)
}

// print prints a report. Of a control only one example is printed, because violations are expected.
func (t *trial) print() {
	fmt.Fprintln(t.out, t.title)
	for _, text := range t.lines {
		fmt.Fprintln(t.out, "  "+text)
	}
	examples := t.Examples()
	if t.control != nil {
		examples = examples[:min(1, len(examples))]
	}
	for _, text := range examples {
		fmt.Fprintln(t.out, "    "+text)
	}
	fmt.Fprintln(t.out)
}

// failure returns what is wrong, or nil.
func (t *trial) failure() error {
	err := t.Err()
	if t.control != nil {
		err = t.ControlErr(t.control...)
	}
	if err = errors.Join(append(t.errs, err)...); err != nil {
		return fmt.Errorf("%s: %w", t.title, err)
	}
	return nil
}

// line adds a line to the report.
func (t *trial) line(format string, args ...any) {
	t.lines = append(t.lines, fmt.Sprintf(format, args...))
}

// fail adds an error, if it is one.
func (t *trial) fail(err error) { t.errs = append(t.errs, err) }

// failIf adds an error if something is wrong.
func (t *trial) failIf(wrong bool, format string, args ...any) {
	if wrong {
		t.fail(fmt.Errorf(format, args...))
	}
}

// table adds rows in columns, of which the last is flush left.
func (t *trial) table(header string, rows ...[]any) {
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
	t.lines = append(t.lines, strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n")...)
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

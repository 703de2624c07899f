package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/stoa-go/stoa/ci/e2e/database"
	"github.com/stoa-go/stoa/ci/e2e/network"
	"github.com/stoa-go/stoa/resource/feed"
)

// modes are what they are called in reports.
var modes = map[string]string{
	outbox: "a log in the database, a ring in each process",
	locked: "the same, with writers that wait for each other",
	memory: "a log in memory",
	silent: "control: published in memory after the commit",
}

func (t *trouble) reconnects() (all, resets int) {
	for _, l := range t.listeners {
		all += l.reconnects
		resets += l.resets
	}
	return all, resets
}

func (t *trouble) print(out io.Writer, n counts) {
	reconnects, resets := t.reconnects()
	fmt.Fprintf(out, "%s, %s\n", t.name, modes[t.mode])
	fmt.Fprintf(out, "  %d processes, %d deaths, %d crashes of the database; ", t.processes, t.deaths, t.crashes)
	fmt.Fprintf(out, "%d writers, %d writes acknowledged, %d unknown; %.1f s, -seed %d\n", t.many, t.writers.happened.Load(),
		t.writers.unknown.Load(), t.took.Seconds(), t.seed)
	fmt.Fprintf(out, "  %d listeners, %d reconnects, %d told to begin anew\n", len(t.listeners), reconnects, resets)
	fmt.Fprintf(out, "  delivered %d of %d: lost %d, repeated %d, out of order %d, surplus %d\n", n.delivered, n.expected,
		n.lost, n.repeated+n.again, n.inverted, n.surplus)
	if t.latency[1] > 0 {
		fmt.Fprintf(out, "  from the event's insert to its frame, deaths included: p50 %v, p99 %v\n",
			t.latency[0].Round(100*time.Microsecond), t.latency[1].Round(100*time.Microsecond))
	}
	if t.mode == silent {
		n.examples = n.examples[:min(1, len(n.examples))] // that there are some is what is expected
	}
	for _, example := range n.examples {
		fmt.Fprintln(out, "   ", example)
	}
	t.printNetwork(out)
	fmt.Fprintln(out)
}

// verdict of a control is that it fails.
func (t *trouble) verdict(n counts) error {
	reconnects, resets := t.reconnects()
	switch {
	case n.expected == 0 || t.deaths < t.kills || len(t.faults) < t.parts:
		return fmt.Errorf("%d events, %d deaths: nothing was tried", n.expected, t.deaths)
	case t.crash != "" && t.crashes == 0:
		return errors.New("the database was never crashed")
	case t.drops > 0 && reconnects == 0:
		return errors.New("nobody came back")
	case t.mode == silent && n.lost == 0:
		return errors.New("the control lost nothing, so this check cannot fail")
	case t.mode == silent:
		return nil
	case n.wrong() > 0:
		return fmt.Errorf("%d lost, %d repeated, %d out of order, %d surplus", n.lost, n.repeated+n.again, n.inverted, n.surplus)
	case t.lasts() && resets > 0:
		return fmt.Errorf("%d times somebody had to begin anew, of a log that has everything", resets)
	}
	return t.tolls(io.Discard)
}

// printNetwork says what the network has done.
func (t *trouble) printNetwork(out io.Writer) {
	if t.net == nil {
		return
	}
	var cuts, lapses int
	for _, w := range slices.Concat(t.net.doors, t.net.stores) {
		cuts += w.Resets()
	}
	for _, l := range t.listeners {
		lapses += int(l.line.lapses.Load())
	}
	fmt.Fprintf(out, "  late: %v to clients, %v to the database; %d connections were reset, %d times a client gave up one that was silent\n",
		between(t.door), between(t.store), cuts, lapses)
	t.tolls(out)
}

// between is how late everything is.
func between(w network.Faults) string { return fmt.Sprintf("%v to %v", w.Delay, w.Delay+w.Jitter) }

// measure compares when each event was inserted with when it was heard.
func (t *trouble) measure(inserted map[uint64]time.Time) {
	var all []time.Duration
	for _, l := range t.listeners {
		for _, f := range l.heard {
			if c, err := feed.ParseCursor(f.cursor); err == nil {
				all = append(all, f.at.Sub(inserted[c.Seq]))
			}
		}
	}
	t.latency = [2]time.Duration{percentile(all, 0.5), percentile(all, 0.99)}
}

// insertions are when the events of a log were inserted, by number.
func insertions(ctx context.Context, source string) (map[uint64]time.Time, error) {
	db, err := database.Pool(source, 1)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	rows, err := db.QueryContext(ctx, "SELECT seq, at FROM events")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	inserted := map[uint64]time.Time{}
	for rows.Next() {
		var seq, at int64
		if err := rows.Scan(&seq, &at); err != nil {
			return nil, err
		}
		inserted[uint64(seq)] = time.UnixMicro(at)
	}
	return inserted, rows.Err()
}

// percentile sorts what it is given.
func percentile(all []time.Duration, share float64) time.Duration {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[min(int(share*float64(len(all))), len(all)-1)]
}

package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/stoa-go/stoa/examples/bench/internal/measure"
)

// result is one measurement of a peer.
type result struct {
	events    float64       // a second
	processor time.Duration // of one message to one subscriber
	mallocs   float64       // likewise
	last      time.Duration // until the last subscriber has received a single change; 0 without sockets
	held      int           // bytes of an idle subscription, objects and stacks
	resident  int           // likewise, of the process; 0 without sockets
	size      int           // of a message
}

// fill computes the figures per message from the stats before and after the changes.
func (r *result) fill(before, after stats, events, subscribers int, took time.Duration) {
	messages := events * subscribers
	r.events = float64(events) / took.Seconds()
	r.processor = (after.Processor - before.Processor) / time.Duration(messages)
	r.mallocs = float64(after.Mallocs-before.Mallocs) / float64(messages)
}

// perUnit returns the growth divided by n.
func perUnit(after, before uint64, n int) int { return (int(after) - int(before)) / n }

// results has the results of all rounds by peer.
type results struct {
	names []string // in the order of the rows
	of    map[string][]result
}

// add records the result of one round. Peers keep the order of their first result.
func (r *results) add(name string, one result) {
	if r.of == nil {
		r.of = map[string][]result{}
	}
	if !slices.Contains(r.names, name) {
		r.names = append(r.names, name)
	}
	r.of[name] = append(r.of[name], one)
}

// median returns the result of the median processor time.
func (r *results) median(name string) result {
	return measure.Median(r.of[name], func(a, b result) int { return cmp.Compare(a.processor, b.processor) })
}

// print writes a table in Markdown. The last column is the ratio of processor time to the first
// peer.
func (r *results) print(w io.Writer) {
	fmt.Fprintln(w,
		"| peer | changes/s | processor time of a message | allocations | to the last |"+
			" held idle | resident | message | of Stoa |")
	fmt.Fprintln(w, "|---|--:|--:|--:|--:|--:|--:|--:|--:|")
	first := r.median(r.names[0])
	for _, name := range r.names {
		m := r.median(name)
		fmt.Fprintf(w, "| %s | %.1f | %.2f us | %.2f | %s | %.1f KiB | %s | %d | %.1fx |\n", name, m.events,
			float64(m.processor.Nanoseconds())/1000, m.mallocs,
			orDash(m.last > 0, m.last.Round(10*time.Microsecond).String()), float64(m.held)/1024,
			orDash(m.resident > 0, fmt.Sprintf("%.1f KiB", float64(m.resident)/1024)), m.size,
			measure.Ratio(m.processor, first.processor))
	}
}

// orDash returns text, or a dash if the figure is not known on this system.
func orDash(known bool, text string) string {
	if known {
		return text
	}
	return "-"
}

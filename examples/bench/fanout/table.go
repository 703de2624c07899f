package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"time"
)

// result is one measurement of a side.
type result struct {
	events    float64       // a second
	processor time.Duration // of each message to one subscriber
	mallocs   float64       // likewise
	last      time.Duration // until the last of them has a change, if it is the only one; 0 without sockets
	held      int           // bytes of an idle subscription, objects and stacks
	resident  int           // likewise, of the process; 0 without sockets
	size      int           // of a message
}

func (r *result) fill(before, after stats, events, subscribers int, took time.Duration) {
	messages := events * subscribers
	r.events = float64(events) / took.Seconds()
	r.processor = (after.Processor - before.Processor) / time.Duration(messages)
	r.mallocs = float64(after.Mallocs-before.Mallocs) / float64(messages)
}

// perUnit is by how much something grew, for each of n.
func perUnit(after, before uint64, n int) int { return (int(after) - int(before)) / n }

// results are those of all rounds, by side.
type results struct {
	names []string
	of    map[string][]result
}

func (r *results) add(name string, one result) {
	if r.of == nil {
		r.of = map[string][]result{}
	}
	if !slices.Contains(r.names, name) {
		r.names = append(r.names, name)
	}
	r.of[name] = append(r.of[name], one)
}

// median is the result in the middle by processor time.
func (r *results) median(name string) result {
	all := slices.Clone(r.of[name])
	slices.SortFunc(all, func(a, b result) int { return cmp.Compare(a.processor, b.processor) })
	return all[len(all)/2]
}

// print writes a table in Markdown. The last column is the processor time in times of that of the first side.
func (r *results) print(w io.Writer) {
	fmt.Fprintln(w, "| side | changes/s | processor time of a message | allocations | to the last | held idle | resident | message | of Stoa |")
	fmt.Fprintln(w, "|---|--:|--:|--:|--:|--:|--:|--:|--:|")
	first := r.median(r.names[0])
	for _, name := range r.names {
		m := r.median(name)
		fmt.Fprintf(w, "| %s | %.1f | %.2f us | %.2f | %s | %.1f KiB | %s | %d | %.1fx |\n", name, m.events,
			float64(m.processor.Nanoseconds())/1000, m.mallocs, orDash(m.last > 0, m.last.Round(10*time.Microsecond).String()),
			float64(m.held)/1024, orDash(m.resident > 0, fmt.Sprintf("%.1f KiB", float64(m.resident)/1024)), m.size,
			float64(m.processor)/float64(first.processor))
	}
}

func orDash(known bool, text string) string {
	if known {
		return text
	}
	return "-"
}

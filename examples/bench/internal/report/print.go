package report

import (
	"fmt"
	"io"
	"slices"
)

// Print writes a table of r in Markdown: a line for each job and peer, with its figure and its
// ratios.
func (r *Results) Print(w io.Writer, table string) {
	fmt.Fprintln(w,
		"| job | peer | processor time | allocations, bytes | ratio | in the rounds | budget | met |")
	fmt.Fprintln(w, "|---|---|--:|--:|--:|--:|--:|---|")
	for _, f := range r.Figures {
		if f.Table != table {
			continue
		}
		allocs := ""
		if f.Allocs >= 0 {
			allocs = fmt.Sprintf("%d, %d", f.Allocs, f.Bytes)
		}
		before := fmt.Sprintf("| %s | %s | %.1f us | %s |", f.Job, f.Peer, f.Microseconds, allocs)
		found := false
		for _, x := range r.Ratios {
			if x.Table != table || x.Job != f.Job || x.Peer != f.Peer {
				continue
			}
			budget, met := x.Status()
			fmt.Fprintf(w, "%s %s beside %s | %s to %s | %s | %s |\n", before, Factor(x.Median), x.Beside,
				Factor(x.Least), Factor(x.Most), budget, met)
			// The figure is on the first line only.
			before, found = "| | | | |", true
		}
		if !found {
			fmt.Fprintf(w, "%s | | | |\n", before)
		}
	}
}

// Jobs returns the names of the jobs of a table in their order.
func (r *Results) Jobs(table string) (jobs []string) {
	for _, f := range r.Figures {
		if f.Table == table && !slices.Contains(jobs, f.Job) {
			jobs = append(jobs, f.Job)
		}
	}
	return jobs
}

package main

// The documents that quote results: pictures, tables and sentences. Each is written from the file of
// results, and TestDocuments compares them with it.

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/stoa-go/stoa/examples/bench/internal/report"
)

// document is a file below the root of the repository. text returns its new content.
type document struct {
	name string
	text func(old string) (string, error)
}

// documents returns all files that quote results.
func documents(r *report.Results) []document {
	drawn := func(draw func(io.Writer) error) func(string) (string, error) {
		return func(string) (string, error) {
			var out strings.Builder
			err := draw(&out)
			return out.String(), err
		}
	}
	return []document{
		{".github/images/speed.svg", drawn(speedChart(r).Draw)},
		{".github/images/scale.svg", drawn(scaleChart(r).Draw)},
		{"README.md", func(old string) (string, error) { return replaceAll(old, allocationsSentence(r)) }},
		{"examples/bench/README.md", func(old string) (string, error) {
			return replaceAll(old, measuredSentence(r), restTable(r), socketsTable(r), graphqlTable(r),
				rowsTable(r))
		}},
	}
}

// writeDocuments writes the files that differ.
func writeDocuments(r *report.Results, root string, out io.Writer) error {
	for _, d := range documents(r) {
		file := filepath.Join(root, filepath.FromSlash(d.name))
		old, err := os.ReadFile(file)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		text, err := d.text(string(old))
		if err != nil {
			return fmt.Errorf("%s: %w", d.name, err)
		}
		if text == string(old) {
			continue
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			return err
		}
		fmt.Fprintln(out, "wrote", d.name)
	}
	return nil
}

// block is a part of a document: a table, or a line. A document has the first cell of its header, or
// the beginning of the line, once.
type block struct {
	begin string
	lines []string
}

// replaceAll replaces blocks of a document. A block without lines stays as it is.
func replaceAll(text string, blocks ...block) (string, error) {
	for _, b := range blocks {
		if len(b.lines) == 0 {
			continue
		}
		if strings.Count("\n"+text, "\n"+b.begin) != 1 {
			return "", fmt.Errorf("want one line that begins with %q", b.begin)
		}
		var out []string
		inside := false
		for line := range strings.SplitSeq(text, "\n") {
			switch {
			case strings.HasPrefix(line, b.begin):
				out = append(out, b.lines...)
				inside = strings.HasPrefix(line, "|")
			case inside && strings.HasPrefix(line, "|"):
			default:
				out, inside = append(out, line), false
			}
		}
		text = strings.Join(out, "\n")
	}
	return text, nil
}

// table returns a block from cells. The first line of cells is the header.
func table(lines [][]string) block {
	b := block{begin: "| " + lines[0][0] + " |"}
	if len(lines) == 1 {
		return b
	}
	for i, cells := range lines {
		b.lines = append(b.lines, "| "+strings.Join(cells, " | ")+" |")
		if i == 0 {
			b.lines = append(b.lines, "|---"+strings.Repeat("|--:", len(cells)-1)+"|")
		}
	}
	return b
}

// ratioCell returns the median of a ratio, with its budget in brackets.
func ratioCell(r *report.Results, table, job, peer, beside string) string {
	x, ok := r.Ratio(table, job, peer, beside)
	if !ok {
		return ""
	}
	b, ok := report.BudgetOf(x)
	switch {
	case !ok:
		return report.Factor(x.Median)
	case x.Median > b.Most:
		return fmt.Sprintf("**%s** (%s, missed)", report.Factor(x.Median), report.Factor(b.Most))
	}
	return fmt.Sprintf("%s (%s)", report.Factor(x.Median), report.Factor(b.Most))
}

// figureCell returns processor time and allocations.
func figureCell(r *report.Results, table, job, peer string) string {
	f, ok := r.Figure(table, job, peer)
	switch {
	case !ok:
		return ""
	case f.Allocs < 0:
		return fmt.Sprintf("%.1f µs", f.Microseconds)
	}
	return fmt.Sprintf("%.1f µs, %d", f.Microseconds, f.Allocs)
}

func restTable(r *report.Results) block {
	lines := [][]string{{"job of REST in process", "by hand: time, allocations", "Stoa: time, allocations",
		"Stoa / by hand", "on memory: time, allocations", "on memory / by hand"}}
	for _, job := range r.Jobs("rest") {
		lines = append(lines, []string{job, figureCell(r, "rest", job, report.ByHand),
			figureCell(r, "rest", job, report.Stoa), ratioCell(r, "rest", job, report.Stoa, report.ByHand),
			figureCell(r, "rest", job, report.StoaMemory),
			ratioCell(r, "rest", job, report.StoaMemory, report.ByHand)})
	}
	return table(lines)
}

func socketsTable(r *report.Results) block {
	lines := [][]string{{"job of REST over sockets", "by hand", "Stoa", "Stoa / by hand", "/ gin", "/ echo",
		"/ huma", "on memory / by hand"}}
	for _, job := range r.Jobs("sockets") {
		cells := []string{job, figureCell(r, "sockets", job, report.ByHand),
			figureCell(r, "sockets", job, report.Stoa)}
		for _, beside := range []string{report.ByHand, "gin", "echo", "huma"} {
			cells = append(cells, ratioCell(r, "sockets", job, report.Stoa, beside))
		}
		lines = append(lines, append(cells, ratioCell(r, "sockets", job, report.StoaMemory, report.ByHand)))
	}
	return table(lines)
}

func graphqlTable(r *report.Results) block {
	lines := [][]string{{"job of GraphQL", "by hand: time, allocations", "Stoa: time, allocations",
		"Stoa / by hand", "/ gqlgen", "/ graph-gophers", "/ graphql-go"}}
	for _, job := range r.Jobs("graphql") {
		if job == "list of 1,000" || job == "one item, document never seen" {
			continue // a list of 10,000 and the list with a new document show the same
		}
		cells := []string{job, figureCell(r, "graphql", job, report.ByHand),
			figureCell(r, "graphql", job, report.Stoa)}
		for _, beside := range []string{report.ByHand, "gqlgen", "graph-gophers", "graphql-go"} {
			cells = append(cells, ratioCell(r, "graphql", job, report.Stoa, beside))
		}
		lines = append(lines, cells)
	}
	return table(lines)
}

// rowsTable lists the ways of the benchmark rows, with the ratios to the floor and to json_agg.
func rowsTable(r *report.Results) block {
	const floor, agg = "binary rows by hand", "json_agg in the database"
	lines := [][]string{{"way from PostgreSQL", "both processes", "database", "/ binary rows by hand",
		"/ json_agg", "database / json_agg"}}
	for _, f := range r.Figures {
		if f.Table != "rows" || f.Job != report.RowsBoth {
			continue
		}
		lines = append(lines, []string{f.Peer, figureCell(r, f.Table, f.Job, f.Peer),
			figureCell(r, f.Table, report.RowsDatabase, f.Peer), ratioCell(r, f.Table, f.Job, f.Peer, floor),
			ratioCell(r, f.Table, f.Job, f.Peer, agg),
			ratioCell(r, f.Table, report.RowsDatabase, f.Peer, agg)})
	}
	return table(lines)
}

// measuredSentence names the run in examples/bench/README.md.
func measuredSentence(r *report.Results) block {
	const begin = "Measured by `./all`"
	if r.Date == "" {
		return block{begin: begin}
	}
	return block{begin, []string{fmt.Sprintf("%s on %s at commit %s. `results.json` has all figures.",
		begin, r.Date, r.Commit)}}
}

// allocationsSentence states the allocations of REST in README.md.
func allocationsSentence(r *report.Results) block {
	const begin = "Allocations of a request, with Stoa and by hand: "
	var parts []string
	for _, job := range r.Jobs("rest") {
		ours, _ := r.Figure("rest", job, report.Stoa)
		hand, _ := r.Figure("rest", job, report.ByHand)
		name := strings.ReplaceAll(job, ",", "")
		parts = append(parts, fmt.Sprintf("%s %d and %d", name, ours.Allocs, hand.Allocs))
	}
	if len(parts) == 0 {
		return block{begin: begin}
	}
	return block{begin, []string{begin + strings.Join(parts, ", ") + "."}}
}

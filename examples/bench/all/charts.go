package main

// The pictures: bars for README.md, and growing costs for examples/bench/README.md.

import (
	"slices"
	"strings"

	"github.com/stoa-go/stoa/examples/bench/internal/chart"
	"github.com/stoa-go/stoa/examples/bench/internal/report"
)

// note is the comment of both pictures.
const note = "Drawn from examples/bench/results.json. To draw it again: go run -C examples/bench ./all -draw"

// speedChart compares processor time: REST over sockets, GraphQL, and lists from PostgreSQL if they
// were measured.
func speedChart(r *report.Results) chart.Chart {
	graphql := bars(r, "graphql", "GraphQL in process",
		"processor time of a request; each job has its own scale",
		report.GraphQLList, "one item, two relations", "mutation")
	graphql.OwnScales = true
	right := []chart.Panel{graphql}
	if len(r.Jobs("rows")) > 0 {
		right = append(right, bars(r, "rows", "Lists from PostgreSQL",
			"processor time of client and database; shorter is better", report.RowsBoth))
	}
	return chart.Chart{Title: "Processor time of Stoa beside other ways to serve the same data", Note: note,
		Columns: [][]chart.Panel{
			{bars(r, "sockets", "REST over sockets", "processor time of the server; shorter is better")},
			right,
		}}
}

// bars returns a panel with the jobs of a table, or those that are named.
func bars(r *report.Results, table, title, subtitle string, jobs ...string) chart.Bars {
	panel := chart.Bars{Title: title, Subtitle: subtitle}
	for _, job := range r.Jobs(table) {
		if len(jobs) > 0 && !slices.Contains(jobs, job) {
			continue
		}
		group := chart.Group{Label: job}
		for _, f := range r.Figures {
			// Stoa on memory has features that the other stores do not have.
			if f.Table == table && f.Job == job && f.Peer != report.StoaMemory {
				group.Bars = append(group.Bars, chart.Bar{Label: f.Peer, Value: f.Microseconds,
					Ours: strings.Contains(f.Peer, report.Stoa)})
			}
		}
		panel.Groups = append(panel.Groups, group)
	}
	return panel
}

// scaleChart draws the curves, with one panel for each kind of request, in two columns.
func scaleChart(r *report.Results) chart.Chart {
	var panels []chart.Lines
	for _, c := range r.Curves {
		i := slices.IndexFunc(panels, func(p chart.Lines) bool { return p.Title == c.Panel })
		if i < 0 {
			i = len(panels)
			panels = append(panels, chart.Lines{Title: c.Panel, Subtitle: c.Cost, Size: c.Size})
		}
		s := chart.Series{Label: c.Series}
		for _, p := range c.Points {
			s.Points = append(s.Points, chart.Point{Size: p.Size, Microseconds: p.Microseconds})
		}
		panels[i].Series = append(panels[i].Series, s)
	}
	columns := make([][]chart.Panel, 2)
	for i, p := range panels {
		columns[i%2] = append(columns[i%2], p)
	}
	return chart.Chart{Title: "Cost of a request as rows and subscribers grow", Note: note, Columns: columns}
}

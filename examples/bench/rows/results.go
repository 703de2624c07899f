package main

// The results for the documents. The tables of package report have processor time of both processes,
// and the ratios of each way to the floor and to json_agg.

import (
	"github.com/stoa-go/stoa/examples/bench/internal/measure"
	"github.com/stoa-go/stoa/examples/bench/internal/report"
)

// resultsOf returns the figures of all ways for package report: of both processes, and of the database
// alone.
func resultsOf(ways []*way, costs [][]cost) *report.Results {
	var names []string
	var pairs [][2]string
	for _, w := range ways {
		names = append(names, w.name)
		if w.name != floorName {
			pairs = append(pairs, [2]string{w.name, floorName})
		}
		if w.name != floorName && w.name != aggName {
			pairs = append(pairs, [2]string{w.name, aggName})
		}
	}
	samples := func(of func(c cost) float64) (all [][]measure.Sample) {
		for _, rounds := range costs {
			var way []measure.Sample
			for _, c := range rounds {
				way = append(way, measure.Sample{Nanoseconds: of(c) * 1000, Bytes: -1})
			}
			all = append(all, way)
		}
		return all
	}
	r := &report.Results{}
	r.Compare("rows", report.RowsBoth, names, samples(cost.total), pairs)
	r.Compare("rows", report.RowsDatabase, names, samples(func(c cost) float64 { return c.server }),
		[][2]string{{fastName, aggName}})
	return r
}

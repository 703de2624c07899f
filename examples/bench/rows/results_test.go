package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/examples/bench/internal/report"
)

// TestResults checks the ratios that the documents quote, and that each budget has one.
func TestResults(t *testing.T) {
	t.Parallel()
	ways := []*way{{name: floorName}, {name: aggName}, {name: "Stoa, database/sql"}, {name: fastName}, {name: cachedName}}
	r := resultsOf(ways, [][]cost{
		{{client: 100, server: 100}}, {{client: 100, server: 700}}, {{client: 200, server: 100}},
		{{client: 150, server: 70}}, {{client: 50, server: 70}},
	})
	got := map[string]float64{}
	for _, b := range report.Budgets {
		if b.Table != "rows" {
			continue
		}
		x, ok := r.Ratio(b.Table, b.Job, b.Peer, b.Beside)
		if !ok {
			t.Errorf("no ratio for the budget %+v", b)
		}
		got[b.Job+": "+b.Peer+" / "+b.Beside] = x.Median
	}
	want := map[string]float64{
		"list of 100 from PostgreSQL: Stoa, pgxrows / binary rows by hand":                       1.1,
		"list of 100 from PostgreSQL: Stoa, database/sql / binary rows by hand":                  1.5,
		"list of 100 from PostgreSQL: GET of Stoa from its cache, pgxrows / binary rows by hand": 0.6,
		"list of 100 from PostgreSQL: Stoa, pgxrows / json_agg in the database":                  0.275,
		"list of 100 from PostgreSQL, database alone: Stoa, pgxrows / json_agg in the database":  0.1,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ratios (-want +got):\n%s", diff)
	}
	if f, ok := r.Figure("rows", report.RowsBoth, fastName); !ok || f.Microseconds != 220 || f.Allocs >= 0 {
		t.Errorf("%+v", f)
	}
}

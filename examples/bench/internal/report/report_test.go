package report_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/examples/bench/internal/measure"
	"github.com/stoa-go/stoa/examples/bench/internal/report"
)

// samples returns one sample of each time in nanoseconds.
func samples(all ...float64) (out []measure.Sample) {
	for _, ns := range all {
		out = append(out, measure.Sample{Nanoseconds: ns, Bytes: 30})
	}
	return out
}

func TestCompare(t *testing.T) {
	t.Parallel()
	var got report.Results
	// The second round ran while the machine was busy, which the ratio does not show.
	got.Compare("rest", "a", []string{"by hand", "Stoa"},
		[][]measure.Sample{samples(1000, 9000, 2000), samples(2000, 9000, 1000)},
		[][2]string{{"Stoa", "by hand"}, {"Stoa", "absent"}})
	got.SetAllocs("rest", "a", "Stoa", 2)
	want := report.Results{
		Figures: []report.Figure{{"rest", "a", "by hand", 2, -1, 30}, {"rest", "a", "Stoa", 2, 2, 30}},
		Ratios:  []report.Ratio{{"rest", "a", "Stoa", "by hand", 1, 0.5, 2}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
}

func TestSaveAndLoad(t *testing.T) {
	t.Parallel()
	want := &report.Results{
		Commit: "1234567", Date: "2026-11-26",
		Figures: []report.Figure{{"rest", "a", "by hand", 2.5, -1, -1}, {"rest", "a", "Stoa", 2, 1, 3}},
		Ratios:  []report.Ratio{{"rest", "a", "Stoa", "by hand", 0.8, 0.5, 2}},
		Curves:  []report.Curve{{"GET", "time", "rows", "SQLite", []report.Point{{10, 1.5}, {100, 2}}}},
	}
	file := filepath.Join(t.TempDir(), "results.json")
	if err := want.Save(file); err != nil {
		t.Fatal(err)
	}
	got, err := report.Load(file)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v, results (-want +got):\n%s", err, diff)
	}
	got, err = report.Load(filepath.Join(t.TempDir(), "missing.json"))
	if diff := cmp.Diff(&report.Results{}, got); diff != "" || err != nil {
		t.Errorf("missing file: %v, results (-want +got):\n%s", err, diff)
	}
}

func TestMerge(t *testing.T) {
	t.Parallel()
	got := report.Results{
		Figures: []report.Figure{{Table: "rest", Job: "old"}, {Table: "graphql", Job: "kept"}},
		Ratios:  []report.Ratio{{Table: "rest", Job: "old"}},
		Curves:  []report.Curve{{Panel: "GET", Series: "memory"}, {Panel: "GET", Series: "SQLite", Size: "old"}},
	}
	got.Merge(&report.Results{
		Figures: []report.Figure{{Table: "rest", Job: "new"}},
		Ratios:  []report.Ratio{{Table: "rest", Job: "new"}},
		Curves:  []report.Curve{{Panel: "GET", Series: "SQLite", Size: "new"}},
	})
	want := report.Results{
		Figures: []report.Figure{{Table: "graphql", Job: "kept"}, {Table: "rest", Job: "new"}},
		Ratios:  []report.Ratio{{Table: "rest", Job: "new"}},
		Curves:  []report.Curve{{Panel: "GET", Series: "memory"}, {Panel: "GET", Series: "SQLite", Size: "new"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
}

// ratioOf returns results with one ratio of a budget, a factor above the limit of the gate.
func ratioOf(b report.Budget, factor float64) *report.Results {
	return &report.Results{Ratios: []report.Ratio{
		{Table: b.Table, Job: b.Job, Peer: b.Peer, Beside: b.Beside, Median: b.Gate * factor},
	}}
}

func TestGate(t *testing.T) {
	t.Parallel()
	a, b := report.Budgets[0], report.Budgets[1]
	tests := []struct {
		name  string
		turns []*report.Results
		fails bool
		used  int // turns
	}{
		{"within the limit", []*report.Results{ratioOf(a, 0.9)}, false, 1},
		{"within the tolerance", []*report.Results{ratioOf(a, 1.24)}, false, 1},
		{"too slow once", []*report.Results{ratioOf(a, 1.3), ratioOf(a, 1.2)}, false, 2},
		{"too slow twice", []*report.Results{ratioOf(a, 1.3), ratioOf(a, 9), ratioOf(a, 1)}, false, 3},
		{"too slow in all turns", []*report.Results{ratioOf(a, 1.3), ratioOf(a, 9), ratioOf(a, 1.26)}, true, 3},
		{"another job each time", []*report.Results{ratioOf(a, 2), ratioOf(b, 2)}, false, 2},
		{"a ratio without a budget", []*report.Results{{Ratios: []report.Ratio{{Median: 9}}}}, false, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			used := 0
			var out strings.Builder
			err := report.Gate(&out, func() (*report.Results, error) { used++; return tt.turns[used-1], nil })
			if errors.Is(err, report.ErrGate) != tt.fails || used != tt.used {
				t.Errorf("Gate = %v after %d turns, want failure %v after %d\n%s", err, used, tt.fails, tt.used, &out)
			}
			if tt.fails && !strings.Contains(err.Error(), a.Job) {
				t.Errorf("%v does not name %s", err, a.Job)
			}
		})
	}
	broken := errors.New("broken")
	fails := func() (*report.Results, error) { return nil, broken }
	if err := report.Gate(&strings.Builder{}, fails); !errors.Is(err, broken) {
		t.Errorf("Gate = %v, want the error of the measurement", err)
	}
}

// TestBudgets checks that no limit of the gate is stricter than the budget, and that no ratio has two.
func TestBudgets(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, b := range report.Budgets {
		if b.Most <= 0 || b.Gate < b.Most {
			t.Errorf("%+v", b)
		}
		key := strings.Join([]string{b.Table, b.Job, b.Peer, b.Beside}, "|")
		if seen[key] {
			t.Errorf("two budgets for %s", key)
		}
		seen[key] = true
	}
}

func TestStatus(t *testing.T) {
	t.Parallel()
	missed := report.Budget{}
	for _, b := range report.Budgets {
		if b.Gate > b.Most {
			missed = b
		}
	}
	met := ratioOf(missed, 0)
	over := ratioOf(missed, 1)
	if budget, ok := met.Ratios[0].Status(); budget != report.Factor(missed.Most) || ok != "yes" || !met.Met() {
		t.Errorf("Status = %s, %s", budget, ok)
	}
	if _, ok := over.Ratios[0].Status(); ok != "NO, gate "+report.Factor(missed.Gate) || over.Met() {
		t.Errorf("Status = %s", ok)
	}
	if budget, ok := (report.Ratio{Job: "unknown"}).Status(); budget != "" || ok != "" {
		t.Errorf("Status = %s, %s", budget, ok)
	}
}

func TestPrint(t *testing.T) {
	t.Parallel()
	var r report.Results
	r.Compare("x", "a", []string{"by hand", "gin", "Stoa"},
		[][]measure.Sample{samples(4000), samples(2000), samples(1000)},
		[][2]string{{"Stoa", "by hand"}, {"Stoa", "gin"}})
	r.SetAllocs("x", "a", "by hand", 2)
	var out strings.Builder
	r.Print(&out, "x")
	want := `| job | peer | processor time | allocations, bytes | ratio | in the rounds | budget | met |
|---|---|--:|--:|--:|--:|--:|---|
| a | by hand | 4.0 us | 2, 30 | | | | |
| a | gin | 2.0 us |  | | | | |
| a | Stoa | 1.0 us |  | 0.25x beside by hand | 0.25x to 0.25x |  |  |
| | | | | 0.50x beside gin | 0.50x to 0.50x |  |  |
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

func TestCheckAllocs(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "results.json")
	r := &report.Results{Figures: []report.Figure{{"rest", "a", "Stoa", 2, 4, 30}, {"rest", "a", "gin", 2, -1, 30}}}
	if err := r.Save(file); err != nil {
		t.Fatal(err)
	}
	count := func(n int64) func(job, peer string) (int64, error) {
		return func(job, peer string) (int64, error) {
			if job != "a" || peer != "Stoa" {
				t.Errorf("count(%s, %s)", job, peer)
			}
			return n, nil
		}
	}
	if err := report.CheckAllocs(file, "rest", false, count(4)); err != nil {
		t.Errorf("equal counts: %v", err)
	}
	if err := report.CheckAllocs(file, "rest", false, count(3)); err == nil {
		t.Error("a count that differs was accepted")
	}
	if err := report.CheckAllocs(file, "graphql", false, count(4)); err == nil {
		t.Error("a table without figures was accepted")
	}
	if err := report.CheckAllocs(file, "rest", true, count(3)); err != nil {
		t.Error(err)
	}
	if err := report.CheckAllocs(file, "rest", false, count(3)); err != nil {
		t.Errorf("after the update: %v", err)
	}
}

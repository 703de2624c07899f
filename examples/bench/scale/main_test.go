package main

import (
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stoa-go/stoa/examples/bench/internal/report"
	"github.com/stoa-go/stoa/resource/sql/sqltest"
)

func TestMain(m *testing.M) { sqltest.Main(m) }

// TestRun measures a small table. It checks that both sides find the same rows, not how long that
// takes.
func TestRun(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, database string
		source         func(t *testing.T) string
	}{
		{"SQLite", "SQLite (modernc)",
			func(t *testing.T) string { return filepath.Join(t.TempDir(), "scale.db") }},
		{"a temporary file", "SQLite (modernc)", func(*testing.T) string { return "" }},
		{"PostgreSQL", "PostgreSQL", func(t *testing.T) string { return sqltest.PostgreSQL(t) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			err := run(t.Context(), []string{"-db", tt.source(t), "-rows", "2000", "-round", "1ms"}, &out)
			if err != nil && !errors.Is(err, errBudget) {
				t.Fatal(err)
			}
			for _, want := range []string{tt.database + ": 2000 rows", "depth 1800, by id", "depth 1800, sort=-population",
				"country=GR", "GET item", "export of 2000 rows"} {
				if !strings.Contains(out.String(), want) {
					t.Errorf("the report does not say %q:\n%s", want, &out)
				}
			}
		})
	}
}

// TestGrow measures two sizes of each store.
func TestGrow(t *testing.T) {
	t.Parallel()
	db := sqltest.PostgreSQL(t)
	file := filepath.Join(t.TempDir(), "results.json")
	args := []string{"-grow", "-sizes", "1000,2000", "-round", "1ms", "-db", db, "-json", file}
	if err := run(t.Context(), args, io.Discard); err != nil {
		t.Fatal(err)
	}
	results, err := report.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	if want := len(requests) * 3; len(results.Curves) != want {
		t.Errorf("%d curves, want %d", len(results.Curves), want)
	}
	for _, c := range results.Curves {
		if len(c.Points) != 2 || c.Points[0].Size != 1000 || c.Points[1].Microseconds <= 0 {
			t.Errorf("%+v", c)
		}
	}
}

func TestRunRefuses(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"-rows", "10"}, {"more"}, {"-db", "/nowhere/at/all.db"},
		{"-grow", "-sizes", "1000,x"}, {"-grow", "-sizes", "10,-1"}} {
		if err := run(t.Context(), args, &strings.Builder{}); err == nil || errors.Is(err, errBudget) {
			t.Errorf("run(%q) = %v", args, err)
		}
	}
}

func TestFigure(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		figure figure
		within bool
		says   string
	}{
		{"within", figure{"a", "b", 1.9, 2}, true, "| a | b | 1.90x | 2.0x | yes |"},
		{"beyond", figure{"a", "b", 2.1, 2}, false, "| a | b | 2.10x | 2.0x | NO |"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := tt.figure.within(); got != tt.within {
				t.Errorf("within = %v", got)
			}
			if got := tt.figure.String(); got != tt.says {
				t.Errorf("String = %s, want %s", got, tt.says)
			}
		})
	}
}

func TestCompare(t *testing.T) {
	t.Parallel()
	var calls [2]int
	count := func(i int) func() error {
		return func() error { calls[i]++; return nil }
	}
	if _, _, err := compare(time.Nanosecond, count(0), count(1)); err != nil || calls[0] < rounds ||
		calls[1] < rounds {
		t.Errorf("err = %v after %v calls", err, calls)
	}
	broken := errors.New("broken")
	if _, _, err := compare(time.Nanosecond, count(0), func() error { return broken }); !errors.Is(err, broken) {
		t.Errorf("err = %v, want that of what is measured", err)
	}
}

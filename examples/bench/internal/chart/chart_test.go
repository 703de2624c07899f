package chart_test

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/examples/bench/internal/chart"
)

// sample is a chart with both kinds of panels.
func sample() chart.Chart {
	return chart.Chart{
		Title: "Speed & size",
		Note:  "Drawn by a test.",
		Columns: [][]chart.Panel{
			{chart.Bars{"REST", "processor time", false, []chart.Group{{"GET item", []chart.Bar{
				{"by hand", 40, false}, {"Stoa", 20, true}}}}}},
			{chart.Lines{"GET", "elapsed time", "rows", []chart.Series{
				{"SQLite", []chart.Point{{1000, 5}, {10000, 50}}},
				{"memory", []chart.Point{{1000, 5}, {10000, 51}}}}},
				chart.Lines{Title: "Empty"}},
		},
	}
}

func TestDraw(t *testing.T) {
	t.Parallel()
	var first, second strings.Builder
	if err := errors.Join(sample().Draw(&first), sample().Draw(&second)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first.String(), second.String()); diff != "" {
		t.Errorf("the picture differs between calls (-first +second):\n%s", diff)
	}
	for _, want := range []string{
		"<!-- Drawn by a test. -->",
		"Speed &amp; size</title>",
		"REST, processor time. GET item: by hand 40.0 µs, Stoa 20.0 µs.",
		"SQLite: 1,000 rows 5.0 µs, 10,000 rows 50.0 µs.",
		"Empty: not measured.",
		">1,000</text>", ">10k</text>",
	} {
		if !strings.Contains(first.String(), want) {
			t.Errorf("no %q in\n%s", want, &first)
		}
	}
	d := xml.NewDecoder(strings.NewReader(first.String()))
	for {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// TestLabelsDoNotOverlap checks the positions of two lines that end at almost the same cost.
func TestLabelsDoNotOverlap(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	if err := sample().Draw(&out); err != nil {
		t.Fatal(err)
	}
	var positions []string
	for line := range strings.Lines(out.String()) {
		if strings.Contains(line, ">SQLite ") || strings.Contains(line, ">memory ") {
			_, rest, _ := strings.Cut(line, ` y="`)
			at, _, _ := strings.Cut(rest, `"`)
			positions = append(positions, at)
		}
	}
	if len(positions) != 2 || positions[0] == positions[1] {
		t.Errorf("labels at %q", positions)
	}
}

// TestOwnScales checks that the longest bar of each group has the full length.
func TestOwnScales(t *testing.T) {
	t.Parallel()
	bars := chart.Bars{OwnScales: true, Groups: []chart.Group{
		{"a", []chart.Bar{{"x", 1, false}}}, {"b", []chart.Bar{{"x", 1000, false}}}}}
	for _, own := range []bool{true, false} {
		bars.OwnScales = own
		var out strings.Builder
		if err := (chart.Chart{Columns: [][]chart.Panel{{bars}}}).Draw(&out); err != nil {
			t.Fatal(err)
		}
		want := 1
		if own {
			want = 2
		}
		if got := strings.Count(out.String(), `width="268"`); got != want {
			t.Errorf("own scales %v: %d bars of full length, want %d\n%s", own, got, want, &out)
		}
	}
}

func TestMicroseconds(t *testing.T) {
	t.Parallel()
	tests := []struct {
		us   float64
		want string
	}{
		{0.123, "0.12 µs"}, {1.26, "1.3 µs"}, {99.9, "99.9 µs"}, {123.4, "123 µs"}, {1234, "1.2 ms"}, {102_000, "102 ms"},
	}
	for _, tt := range tests {
		if got := chart.Microseconds(tt.us); got != tt.want {
			t.Errorf("Microseconds(%v) = %s, want %s", tt.us, got, tt.want)
		}
	}
}

package header_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/header"
)

// TestAcceptParams is not parallel, because testing.AllocsPerRun requires that.
func TestAcceptParams(t *testing.T) {
	tests := []struct {
		name  string
		lines []string
		want  []string
	}{
		{"no field", nil, nil},
		{"other types", []string{"text/html;a=1, */*;a=1, text/*;a=1, text/csvx;a=1, texts/csv;a=1"}, nil},
		{"without parameters", []string{"text/csv, text/csv;q=0.5"}, nil},
		{"in order", []string{"text/csv;b=2, application/json", "Text/CSV; A=1 ;q=0.1;c=\"x, y\""},
			[]string{`text/csv; b="2"`, `text/csv; a="1"; c="x, y"`}},
		{"escapes", []string{`text/csv;a="\"\\;"`}, []string{`text/csv; a="\"\\;"`}},
		{"invalid members", []string{"text/csv;a, text/csv;a=1;a=2, text/csv;a=1 b, text/csv;a=3"},
			[]string{`text/csv; a="3"`}},
	}
	for _, tt := range tests {
		var got []string
		for _, m := range header.AcceptParams(tt.lines, "text/csv") {
			got = append(got, m.String())
			// The result is an offer that the field selects.
			if _, ok := header.Accept(tt.lines, []string{m.String()}); !ok {
				t.Errorf("%s: %s is not accepted", tt.name, m)
			}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	lines := []string{"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
	if n := testing.AllocsPerRun(100, func() { header.AcceptParams(lines, "text/csv") }); n != 0 {
		t.Errorf("%v allocations for a field without the type, want 0", n)
	}
}

func ExampleAcceptParams() {
	for _, m := range header.AcceptParams([]string{"text/csv;header=absent;q=0.5, */*"}, "text/csv") {
		fmt.Println(m)
	}
	// Output: text/csv; header="absent"
}

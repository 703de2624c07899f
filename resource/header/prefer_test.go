package header_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/resource/header"
)

func TestRule094Prefer(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		lines  []string
		get    string
		want   string
		wantOK bool
	}{
		{"absent", nil, "return", "", false},
		{"empty", []string{"", ", ,"}, "return", "", false},
		{"a value", []string{"return=minimal"}, "return", "minimal", true},
		{"no value", []string{"respond-async"}, "respond-async", "", true},
		{"an empty value", []string{`foo=""`}, "foo", "", true},
		{"a quoted value", []string{`foo="a, \"b\"; c"`}, "foo", `a, "b"; c`, true},
		{"names fold", []string{"RETURN=representation"}, "return", "representation", true},
		{"names fold when asked", []string{"return=representation"}, "Return", "representation", true},
		{"values do not", []string{"return=Minimal"}, "return", "Minimal", true},
		{"the first counts", []string{"return=minimal, return=representation"}, "return", "minimal", true},
		{"the first line counts", []string{"return=minimal", "return=representation"}, "return", "minimal",
			true},
		{"a later member", []string{"respond-async, wait=100", "handling=lenient, count=exact"}, "count",
			"exact", true},
		{"unknown ones are kept", []string{"x-mood=good"}, "x-mood", "good", true},
		{"another name", []string{"return=minimal"}, "handling", "", false},
		{"a prefix is no name", []string{"return-all=minimal"}, "return", "", false},
		{"parameters", []string{`foo; x=1; y="a,b", return=minimal;z`}, "return", "minimal", true},
		{"parameters of none", []string{"foo;x=1"}, "foo", "", true},
		{"parameters are no preferences", []string{"foo;return=minimal"}, "return", "", false},
		{"blanks around the sign", []string{"return = minimal"}, "return", "minimal", true},
		{"broken ones are skipped", []string{"return=, return=minimal x, =y, return=minimal"}, "return",
			"minimal", true},
		{"broken value", []string{`return="minimal`}, "return", "", false},
		{"no token", []string{"(return)=minimal"}, "return", "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, ok := header.ParsePrefer(tt.lines).Get(tt.get)
			if got != tt.want || ok != tt.wantOK {
				t.Errorf("ParsePrefer(%q).Get(%q) = %q, %v, want %q, %v", tt.lines, tt.get, got, ok, tt.want,
					tt.wantOK)
			}
		})
	}
}

func TestPreferAllocations(t *testing.T) {
	for line, want := range map[string]float64{"": 0, "return=minimal": 1} {
		lines := []string{line}
		if n := testing.AllocsPerRun(100, func() { header.ParsePrefer(lines).Get("return") }); n != want {
			t.Errorf("ParsePrefer(%q) allocates %v times, want %v", line, n, want)
		}
	}
	if n := testing.AllocsPerRun(100, func() { header.ParsePrefer(nil).Get("return") }); n != 0 {
		t.Errorf("ParsePrefer of an absent field allocates %v times, want 0", n)
	}
}

// FuzzPrefer appends a preference to arbitrary input. ParsePrefer must find it, unless the input
// names it already or leaves a quoted string open.
func FuzzPrefer(f *testing.F) {
	f.Add("respond-async, wait=10")
	f.Add(`foo="a,b";c, return = "minimal"`)
	f.Add(`return="`)
	f.Add("=,;,\x00\xff")
	f.Fuzz(func(t *testing.T, field string) {
		lines := strings.Split(field, "\n")
		if strings.Contains(strings.ToLower(field), "handling") {
			return
		}
		value, ok := header.ParsePrefer(append(lines, "handling=strict;x=y, z")).Get("Handling")
		if value != "strict" || !ok {
			t.Errorf("Get(handling) = %q, %v after %q", value, ok, lines)
		}
		if _, ok := header.ParsePrefer(lines).Get("handling"); ok {
			t.Errorf("handling found in %q", lines)
		}
	})
}

func ExampleParsePrefer() {
	prefer := header.ParsePrefer([]string{"return=minimal; foo=bar, respond-async"})
	value, ok := prefer.Get("return")
	fmt.Println(value, ok)
	_, ok = prefer.Get("respond-async")
	fmt.Println(ok)
	// Output:
	// minimal true
	// true
}

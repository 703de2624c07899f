package header_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/header"
)

// acceptTest is an Accept field and the offer that it selects, "" for none of them.
type acceptTest struct {
	name   string
	lines  []string
	offers []string
	want   string
}

func runAccept(t *testing.T, tests []acceptTest) {
	t.Helper()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			i, ok := header.Accept(tt.lines, tt.offers)
			got := ""
			if ok {
				got = tt.offers[i]
			} else if i != -1 {
				t.Errorf("index %d without ok, want -1", i)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Accept(%q, %q) mismatch (-want +got):\n%s", tt.lines, tt.offers, diff)
			}
		})
	}
}

const (
	typeJSON    = "application/json"
	typeProblem = "application/problem+json"
	typeWidget  = "application/vnd.acme.1.0.0.widget+json"
	typeHTML    = "text/html"
)

func TestRule045AcceptLinesAndEmptyMembers(t *testing.T) {
	t.Parallel()
	offers := []string{typeHTML, typeJSON}
	runAccept(t, []acceptTest{
		{"two lines are one list", []string{"text/html;q=0.5", typeJSON}, offers, typeJSON},
		{"the second line may decide alone", []string{"image/png", typeJSON}, offers, typeJSON},
		{"empty members", []string{",,application/json,"}, offers, typeJSON},
		{"empty members with blanks", []string{" , \t, application/json ,\t"}, offers, typeJSON},
		{"an empty line beside a full one", []string{"", typeJSON}, offers, typeJSON},
		{"a comma within quotes separates nothing", []string{`text/html;a="x,application/json"`}, offers, ""},
		{"nor does it after an escaped quotation mark", []string{`text/html;a="\",application/json,\""`},
			offers, ""},
		{"a quotation mark left open ends with its line", []string{`text/html;a="`, typeJSON}, offers,
			typeJSON},
	})
}

func TestRule046AcceptAbsentOrEmpty(t *testing.T) {
	t.Parallel()
	offers := []string{typeWidget, typeJSON}
	runAccept(t, []acceptTest{
		{"absent", nil, offers, typeWidget},
		{"empty", []string{""}, offers, typeWidget},
		{"only blanks and commas", []string{" , ,", "\t"}, offers, typeWidget},
		{"everything", []string{"*/*"}, offers, typeWidget},
		{"absent, and nothing to offer", nil, nil, ""},
		{"empty, and nothing to offer", []string{""}, nil, ""},
		{"everything, and nothing to offer", []string{"*/*"}, nil, ""},
		{"garbage is not empty", []string{"garbage"}, offers, ""},
	})
}

func TestRule047AcceptMostSpecificRange(t *testing.T) {
	t.Parallel()
	offers := []string{typeJSON, typeProblem}
	levels := []string{"text/html;level=1", typeHTML, "text/plain", "image/jpeg", "text/html;level=2"}
	const rfc = "text/*;q=0.3, text/plain;q=0.7, text/plain;format=flowed, text/html;level=1, " +
		"text/html;level=2;q=0.4, */*;q=0.5"
	runAccept(t, []acceptTest{
		{"the rule's own", []string{"application/*;q=0.1, application/json;q=0"}, offers, typeProblem},
		{"not the greatest weight", []string{"application/*, application/json;q=0.1"}, offers, typeProblem},
		{"not the first", []string{"*/*;q=0.1, application/problem+json;q=0.9"}, offers, typeProblem},
		{"type before any", []string{"*/*, application/*;q=0.2, text/html;q=0.3"},
			[]string{typeJSON, typeHTML}, typeHTML},
		{"parameters before none", []string{"text/html;q=0.9, text/html;level=1;q=0.1"}, levels[:2],
			typeHTML},
		{
			"more parameters before fewer", []string{"a/b;x=1;q=0, a/b;x=1;y=2, a/b;q=0"},
			[]string{"a/b;x=1", "a/b;x=1;y=2"}, "a/b;x=1;y=2",
		},
		{"a type with no parameters before a wildcard with one", []string{"*/*;x=1, a/b;q=0"},
			[]string{"a/b;x=1"}, ""},
		{"of two equal ranges the greater weight", []string{"a/b;q=0.1, a/b;q=0.9, a/c;q=0.5"},
			[]string{"a/c", "a/b"}, "a/b"},
		{"RFC 9110 example, level 1", []string{rfc}, levels, "text/html;level=1"},
		{"RFC 9110 example, plain text", []string{rfc}, levels[2:], "text/plain"},
		{"RFC 9110 example, an image", []string{rfc}, levels[3:], "image/jpeg"},
		{"RFC 9110 example, html by text/*", []string{rfc}, levels[1:2], typeHTML},
	})
}

func TestRule048AcceptQualityZero(t *testing.T) {
	t.Parallel()
	runAccept(t, []acceptTest{
		{"excludes the only offer", []string{"application/json;q=0"}, []string{typeJSON}, ""},
		{"with decimals", []string{"application/json;q=0.000"}, []string{typeJSON}, ""},
		{"beside a wildcard", []string{"*/*, application/json;q=0"}, []string{typeJSON, typeHTML}, typeHTML},
		{"of everything", []string{"*/*;q=0"}, []string{typeJSON, typeHTML}, ""},
		{"of everything but one", []string{"*/*;q=0, text/html;q=0.001"}, []string{typeJSON, typeHTML},
			typeHTML},
	})
}

func TestRule049AcceptWeight(t *testing.T) {
	t.Parallel()
	leveled := []string{typeJSON, "text/html;level=1"}
	tests := []acceptTest{
		{"before a parameter", []string{"text/html;q=1;level=1, application/json;q=0.5"}, leveled,
			leveled[1]},
		{"after a parameter", []string{"text/html;level=1;q=0.1, application/json;q=0.5"}, leveled, typeJSON},
		{"in upper case", []string{"application/json;Q=0.1, text/html"}, []string{typeJSON, typeHTML},
			typeHTML},
		{"with blanks", []string{"application/json ; q=0.1 , text/html\t;\tq=0.2"},
			[]string{typeJSON, typeHTML}, typeHTML},
		{"empty parameters", []string{"application/json;;q=0.1;, text/html;q=0.2"},
			[]string{typeJSON, typeHTML}, typeHTML},
		{"three decimals count", []string{"application/json;q=0.998, text/html;q=0.999"},
			[]string{typeJSON, typeHTML}, typeHTML},
		{"no decimals after the point", []string{"application/json;q=0., text/html;q=1."},
			[]string{typeJSON, typeHTML}, typeHTML},
		{"Java before 19", []string{"text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2"},
			[]string{typeJSON}, typeJSON},
		{"type names fold", []string{"Application/JSON;q=0.5, TEXT/*;q=0.1"}, []string{typeHTML, typeJSON},
			typeJSON},
		{"a type name alone folds", []string{"Application/JSON"}, []string{typeHTML, typeJSON}, typeJSON},
	}
	for _, q := range []string{
		"", "2", "1.1", "1.001", "-1", "+1", "0.1234", "1.0000", "x", "0x1", "1e0", ".", "..1", "00.1", "0,5",
		`"0.5"`,
		"0.5.5", "0.5;q=0.5", ".1234", "5", "5.0",
	} {
		tests = append(tests,
			acceptTest{"bad weight " + q, []string{"application/json;q=" + q}, []string{typeJSON}, ""})
	}
	for _, member := range []string{
		"application", "application/", "/json", "*/json", "*", "application/json/x", "application /json",
		"application/json foo", "application/json;x", "application/json;x=", "application/json;=1",
		"application/json;q =1",
		"application/json;q= 1", `application/json;x="`, `application/json;x="\`,
		"application/json;x=\"\x01\"",
		"application/js\xf6n", "(application)/json",
	} {
		tests = append(tests, acceptTest{"bad member " + member, []string{member, "text/html;q=0.1"},
			[]string{typeJSON, typeHTML}, typeHTML})
	}
	runAccept(t, tests)
}

func TestRule050AcceptTies(t *testing.T) {
	t.Parallel()
	runAccept(t, []acceptTest{
		{"order of offers", []string{"text/html, application/json"}, []string{typeJSON, typeHTML}, typeJSON},
		{"order of offers, turned", []string{"text/html, application/json"}, []string{typeHTML, typeJSON},
			typeHTML},
		{"specificity is no weight", []string{"*/*, text/html"}, []string{typeJSON, typeHTML}, typeJSON},
		{"equal weights", []string{"text/html;q=0.5, application/json;q=0.50"}, []string{typeJSON, typeHTML},
			typeJSON},
		{"a lone type, first offer with parameters", []string{"a/b"}, []string{"a/b;x=1", "a/b"}, "a/b;x=1"},
		{"a lone type, later offer", []string{"a/b"}, []string{"a/c", "a/b", "A/B"}, "a/b"},
	})
}

func TestRule051AcceptParameters(t *testing.T) {
	t.Parallel()
	profiled := []string{typeJSON, `application/json;profile="a,b"`}
	runAccept(t, []acceptTest{
		{"the offer lacks it", []string{"application/json;profile=x"}, []string{typeJSON}, ""},
		{"the offer has another value", []string{"application/json;profile=x"}, profiled, ""},
		{"the offer has it", []string{`application/json;profile="a,b"`}, profiled, profiled[1]},
		{"escaped", []string{`application/json;profile="a\,b"`}, profiled, profiled[1]},
		{"names fold, values do not", []string{`application/json;PROFILE="A,b"`}, profiled, ""},
		{"names fold", []string{`application/json;PROFILE="a,b"`}, profiled, profiled[1]},
		{"quoted or not", []string{`a/b;x="1"`}, []string{"a/b;x=1"}, "a/b;x=1"},
		{"one of two is lacking", []string{"a/b;x=1;y=2"}, []string{"a/b;x=1"}, ""},
		{"order does not matter", []string{"a/b;x=1;y=2"}, []string{"a/b;y=2;x=1"}, "a/b;y=2;x=1"},
		{"charset=utf-8 on JSON", []string{"application/json;charset=utf-8"}, []string{typeJSON}, typeJSON},
		{"in any form", []string{`application/json; Charset="UTF-8"; q=0.5`}, []string{typeJSON}, typeJSON},
		{"on a suffix", []string{"application/vnd.acme.1.0.0.widget+json;charset=utf-8"},
			[]string{typeWidget}, typeWidget},
		{"on a wildcard, for JSON only", []string{"*/*;charset=utf-8"}, []string{typeHTML, typeJSON},
			typeJSON},
		{"another charset", []string{"application/json;charset=latin1"}, []string{typeJSON}, ""},
		{"charset on what is no JSON", []string{"text/html;charset=utf-8"}, []string{typeHTML}, ""},
		{"charset values fold", []string{"text/html;charset=UTF-8"}, []string{"text/html;charset=utf-8"},
			"text/html;charset=utf-8"},
		{"json is no suffix of a name", []string{"a/notjson;charset=utf-8"}, []string{"a/notjson"}, ""},
		{"a bare suffix is no JSON", []string{"a/+json;charset=utf-8"}, []string{"a/+json"}, ""},
	})
}

func TestRule052AcceptNothing(t *testing.T) {
	t.Parallel()
	runAccept(t, []acceptTest{
		{"another type", []string{"image/png"}, []string{typeJSON, typeHTML}, ""},
		{"another subtype", []string{"text/plain"}, []string{typeHTML}, ""},
		{"a suffix relates no types", []string{typeJSON}, []string{typeWidget}, ""},
		{"nor the other way", []string{typeWidget}, []string{typeJSON}, ""},
		{"nothing to offer", []string{typeJSON}, nil, ""},
		{"an offer that is no type", []string{"a/*"}, []string{"a"}, ""},
	})
}

func TestAcceptManyOffers(t *testing.T) {
	t.Parallel()
	offers := make([]string, 100)
	for i := range offers {
		offers[i] = fmt.Sprintf("application/vnd.acme.%d.0.0.widget+json", i)
	}
	if i, ok := header.Accept([]string{offers[99] + ", " + offers[98] + ";q=0.9"}, offers); i != 99 || !ok {
		t.Errorf("got %d, %v, want 99, true", i, ok)
	}
}

// TestAcceptAllocations is not parallel, because testing.AllocsPerRun requires that.
func TestAcceptAllocations(t *testing.T) {
	offers := []string{typeWidget, typeJSON, "text/html;level=1", typeHTML}
	for _, line := range []string{
		"*/*", typeJSON, "", "image/png",
		"text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8",
		`application/json;charset="utf-8";q=0.3, text/html;level=1, */*;q=0.1`,
	} {
		lines := []string{line}
		if n := testing.AllocsPerRun(100, func() { header.Accept(lines, offers) }); n != 0 {
			t.Errorf("Accept(%q) allocates %v times, want 0", line, n)
		}
	}
	if n := testing.AllocsPerRun(100, func() { header.Accept(nil, offers) }); n != 0 {
		t.Errorf("Accept of an absent field allocates %v times, want 0", n)
	}
}

func ExampleAccept() {
	offers := []string{"application/json", "text/csv"}
	i, ok := header.Accept([]string{"text/*, application/json;q=0.9"}, offers)
	fmt.Println(offers[i], ok)

	_, ok = header.Accept([]string{"image/png"}, offers)
	fmt.Println(ok)
	// Output:
	// text/csv true
	// false
}

func BenchmarkAccept(b *testing.B) {
	offers := []string{typeWidget, typeJSON}
	for _, bb := range []struct{ name, line string }{
		{"any", "*/*"},
		{"exact", typeJSON},
		{"two", "application/json, text/plain;q=0.5"},
		{"browser",
			"text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8"},
		{"hostile", strings.Repeat("a/b;c=d,", 1000)},
	} {
		b.Run(bb.name, func(b *testing.B) {
			lines := []string{bb.line}
			b.ReportAllocs()
			for b.Loop() {
				header.Accept(lines, offers)
			}
		})
	}
}

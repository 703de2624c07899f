package parse_test

import (
	"testing"

	"github.com/stoa-go/stoa/query/graphql/internal/parse"
	"github.com/stoa-go/stoa/query/graphql/internal/scan"
)

// FuzzParse sees to it that parsing ends without a panic, that what is parsed prints as a text that parses to the same
// again, and that the guard and the parser agree on what a token is.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"{a}", `query Q($a:[Int!]!=[1,null]@d){b:c(d:$a e:{f:"\u{41}"}){...F ...on T{g}}}`,
		"fragment F on T @d(a:1.5e3){a}", "{a(b:\"\"\"\n  x\n   \\\"\"\" y\"\"\")}", "type T{a:Int}", `"d" query{a}`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		doc, err := parse.Parse(text)
		if err != nil {
			return
		}
		const all = 1 << 30
		if err := scan.Guard(text, scan.Limits{Bytes: all, Tokens: all, Nesting: all, Directives: all}); err != nil {
			t.Fatalf("the parser takes what the guard refuses: %v", err)
		}
		printed := parse.Print(doc)
		again, err := parse.Parse(printed)
		if err != nil {
			t.Fatalf("%q: %v", printed, err)
		}
		if twice := parse.Print(again); twice != printed {
			t.Fatalf("%q prints as %q", printed, twice)
		}
	})
}

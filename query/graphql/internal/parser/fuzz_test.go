package parser_test

import (
	"testing"

	"github.com/stoa-go/stoa/query/graphql/internal/lexer"
	"github.com/stoa-go/stoa/query/graphql/internal/parser"
)

// FuzzParse checks that Parse does not panic, that printing and parsing a document again produces
// the same tree, and that Guard and Parse accept the same tokens.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"{a}",
		`query Q($a:[Int!]!=[1,null]@d){b:c(d:$a e:{f:"\u{41}"}){...F ...on T{g}}}`,
		"fragment F on T @d(a:1.5e3){a}", "{a(b:\"\"\"\n  x\n   \\\"\"\" y\"\"\")}", "type T{a:Int}",
		`"d" query{a}`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		doc, err := parser.Parse(text)
		if err != nil {
			return
		}
		const all = 1 << 30
		if err := lexer.Guard(text, lexer.Limits{Bytes: all, Tokens: all, Nesting: all,
			Directives: all}); err != nil {
			t.Fatalf("the parser takes what the guard refuses: %v", err)
		}
		printed := parser.Print(doc)
		again, err := parser.Parse(printed)
		if err != nil {
			t.Fatalf("%q: %v", printed, err)
		}
		if twice := parser.Print(again); twice != printed {
			t.Fatalf("%q prints as %q", printed, twice)
		}
	})
}

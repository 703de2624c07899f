package parser_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query/graphql/internal/lexer"
	"github.com/stoa-go/stoa/query/graphql/internal/parser"
)

func document(t testing.TB, text string) *parser.Document {
	t.Helper()
	doc, err := parser.Parse(text)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return doc
}

// complaint returns an error in the format of the corpus.
func errorLines(t *testing.T, err error) []string {
	t.Helper()
	if err == nil {
		return []string{}
	}
	var e *lexer.Error
	if !errors.As(err, &e) {
		t.Fatalf("%T: %v", err, err)
	}
	return []string{fmt.Sprintf("%s @ %d:%d", e.Message, e.Line, e.Column)}
}

// TestReference compares errors with those of graphql-js 16 for invalid and almost invalid texts. A
// test in .ci/clients generates and verifies the file.
func TestReference(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	var corpus []struct {
		Text string
		Want []string
	}
	if err := json.Unmarshal(text, &corpus); err != nil {
		t.Fatal(err)
	}
	if len(corpus) < 100 {
		t.Fatalf("only %d texts", len(corpus))
	}
	for _, tt := range corpus {
		t.Run(tt.Text, func(t *testing.T) {
			t.Parallel()
			doc, err := parser.Parse(tt.Text)
			if (doc == nil) != (err != nil) {
				t.Errorf("a document and an error, or neither: %v %v", doc, err)
			}
			var e *lexer.Error
			if errors.As(err, &e) && e.Rule != "" {
				return // covered by TestTypeSystem
			}
			if diff := cmp.Diff(tt.Want, errorLines(t, err)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestTypeSystem(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, want string }{
		{"type T{a:Int}", `The "T" definition is not executable. @ 1:1`},
		{"{a}\n\"\"\"d\"\"\" scalar S", `The "S" definition is not executable. @ 2:1`},
		{"schema{query:Q}", "The schema definition is not executable. @ 1:1"},
		{"extend type T{a:Int}", `The "T" definition is not executable. @ 1:1`},
		{"extend schema @a", "The schema definition is not executable. @ 1:1"},
		{"directive @d on FIELD", `The "d" definition is not executable. @ 1:1`},
		{"input I", `The "I" definition is not executable. @ 1:1`},
		{"union U enum interface", `The "U" definition is not executable. @ 1:1`},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			t.Parallel()
			_, err := parser.Parse(tt.text)
			if diff := cmp.Diff([]string{tt.want}, errorLines(t, err)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			var e *lexer.Error
			if errors.As(err, &e); e == nil || e.Rule != "ExecutableDefinitions" {
				t.Errorf("%v does not name the rule", err)
			}
		})
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"shorthand", "{a b}", "query { a b }"},
		{"operations", "mutation M{a} subscription{b} query Q{c}",
			"mutation M { a } subscription { b } query Q { c }"},
		{"variables", "query($a:Int $b:[T!]!=[null,1]@d(e:1)){c}",
			"query($a: Int, $b: [T!]! = [null, 1] @d(e: 1)) { c }"},
		{"descriptions", `"x" query("y" $a:Int){b} """z""" fragment F on T{c}`,
			"query($a: Int) { b } fragment F on T { c }"},
		{"alias, arguments, directives", "{a:b(c:1,d:$e)@f @g(h:E){i}}",
			"query { a: b(c: 1, d: $e) @f @g(h: E) { i } }"},
		{"fragments", "{...F@a ...on T@b{c}...{d}...@e{f}}",
			"query { ...F @a ... on T @b { c } ... { d } ... @e { f } }"},
		{"words are names", "query query{on:fragment(null:null true:on){type}}",
			"query query { on: fragment(null: null, true: on) { type } }"},
		{"values", `{a(b:{c:[1,-2.5e3,"x",true,false,null,E,$v,{}],d:[]})}`,
			`query { a(b: {c: [1, -2.5e3, "x", true, false, null, E, $v, {}], d: []}) }`},
		{"escapes", `{a(b:"\"\\\/\b\f\n\r\t\u00e9\u{1F600}\uD83D\uDE00\u{0}")}`,
			`query { a(b: "\"\\/\b\f\n\r\té😀😀\u0000") }`},
		{"block string", "{a(b:\"\"\"\n    x\n      y \\\"\"\" \\n\r\n\n   \n\"\"\")}",
			`query { a(b: "x\n  y \"\"\" \\n") }`},
		{"block string on one line", `{a(b:""" x """)}`, `query { a(b: " x ") }`},
		{"block string with a first line", "{a(b:\"\"\" x\n   y\n  z\"\"\")}", `query { a(b: " x\n y\nz") }`},
		{"blank block string", "{a(b:\"\"\" \n\t\"\"\")}", `query { a(b: "") }`},
		{"ignored", "\ufeff#c\r\n,,{,a,#}\r,}#", "query { a }"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			doc := document(t, tt.text)
			got := parser.Print(doc)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if again := parser.Print(document(t, got)); again != got {
				t.Errorf("prints as %s and then as %s", got, again)
			}
		})
	}
}

func TestLocation(t *testing.T) {
	t.Parallel()
	doc := document(t, "# 😀é\n{ x(a: \"😀é\", b: \"\"\"\n😀\"\"\", c: 1) }")
	field := doc.Definitions[0].(*parser.OperationDefinition).SelectionSet.Selections[0].(*parser.Field)
	var got []parser.Location
	for _, arg := range field.Arguments {
		got = append(got, *arg.Value.Location())
	}
	if diff := cmp.Diff([]parser.Location{{Line: 2, Column: 8}, {Line: 2, Column: 18}, {Line: 3, Column: 11}},
		got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestNesting has texts that need recursion as deep as they are long.
func TestNesting(t *testing.T) {
	t.Parallel()
	const n = 1 << 20
	for _, text := range []string{strings.Repeat("{a", n), "{a(b:" + strings.Repeat("[", n), "{a(b:" +
		strings.Repeat("{c:", n),
		"query($a:" + strings.Repeat("[", n), "{" + strings.Repeat("...{", n)} {
		t.Run(text[:12], func(t *testing.T) {
			t.Parallel()
			_, err := parser.Parse(text)
			var e *lexer.Error
			if !errors.As(err, &e) || !e.Limit {
				t.Errorf("%v", err)
			}
		})
	}
	deep := strings.Repeat("{a", parser.MaxNesting) + strings.Repeat("}", parser.MaxNesting)
	document(t, deep)
}

func BenchmarkParse(b *testing.B) {
	text := `query Q($id: ID!, $first: Int = 10) { being(id: $id) { id name friends(first: $first) {
		id name ... on Human { height pets { name owner { name } } } } } }`
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := parser.Parse(text); err != nil {
			b.Fatal(err)
		}
	}
}

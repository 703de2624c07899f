package sdl_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query/graphql/internal/graphqltest"
	"github.com/stoa-go/stoa/query/graphql/internal/introspect"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/query/graphql/internal/sdl"
)

var update = flag.Bool("update", false, "write the golden files")

func ExamplePrint() {
	text := &model.Type{Kind: model.Scalar, Name: "String"}
	query := &model.Type{Kind: model.Object, Name: "Query", Doc: "What can be asked.",
		Fields: []*model.Field{{Name: "hello",
			Doc: "Greets.", Type: &model.Ref{Type: text, NonNull: true},
			Args: []*model.Input{{Name: "name", Type: &model.Ref{Type: text}, Default: "you",
				HasDefault: true}}}}}
	fmt.Println(sdl.Print(&model.Schema{Query: query, Types: []*model.Type{query, text}}))
	// Output:
	// """What can be asked."""
	// type Query {
	//   """Greets."""
	//   hello(name: String = "you"): String!
	// }
}

// golden compares got with a file. A test in .ci/clients compares the file with the reference
// implementation.
func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

// TestKitchen prints the kitchen sink schema. The introspection types must not be in the output.
func TestKitchen(t *testing.T) {
	t.Parallel()
	s := graphqltest.Kitchen()
	introspect.Extend(s) // sorts the types
	golden(t, "testdata/kitchen.graphql", sdl.Print(s)+"\n")
}

// TestOrder checks that types, fields and values have the order of the model.
func TestOrder(t *testing.T) {
	t.Parallel()
	s := graphqltest.Kitchen()
	introspect.Extend(s)
	sorted := sdl.Print(s)
	for range 3 {
		again := graphqltest.Kitchen() // builds its types from a map
		introspect.Extend(again)
		if diff := cmp.Diff(sorted, sdl.Print(again)); diff != "" {
			t.Errorf("it differs from one time to the next (-first +next):\n%s", diff)
		}
	}
	slices.Reverse(s.Types)
	if got := sdl.Print(s); strings.Index(got, "type Thing") > strings.Index(got, "type Query") {
		t.Errorf("the order of the types is not that of the model:\n%s", got)
	}
}

// TestSchemaDefinition checks that the schema definition is present only if it is needed.
func TestSchemaDefinition(t *testing.T) {
	t.Parallel()
	root := func(name string) *model.Type { return &model.Type{Kind: model.Object, Name: name} }
	tests := []struct {
		name string
		s    *model.Schema
		want string
	}{
		{"usual", &model.Schema{Query: root("Query"), Mutation: root("Mutation"),
			Subscription: root("Subscription")}, ""},
		{"no mutations", &model.Schema{Query: root("Query")}, ""},
		{"described", &model.Schema{Doc: "All.", Query: root("Query")},
			"\"\"\"All.\"\"\"\nschema {\n  query: Query\n}"},
		{"unusual query", &model.Schema{Query: root("Root"), Mutation: root("Mutation")},
			"schema {\n  query: Root\n  mutation: Mutation\n}"},
		{"unusual mutation", &model.Schema{Query: root("Query"), Mutation: root("Change")},
			"schema {\n  query: Query\n  mutation: Change\n}"},
		{"unusual subscription", &model.Schema{Query: root("Query"), Subscription: root("Watch")},
			"schema {\n  query: Query\n  subscription: Watch\n}"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, sdl.Print(tt.s)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestDescriptions checks which descriptions are block strings and which are quoted strings.
func TestDescriptions(t *testing.T) {
	t.Parallel()
	seventy := strings.Repeat("é", 70)
	tests := []struct{ name, doc, want string }{
		{"none", "", ""},
		{"short", "Short.", `"""Short."""`},
		{"70 units", seventy, `"""` + seventy + `"""`},
		{"71 units", seventy + "é", "\"\"\"\n" + seventy + "é\n\"\"\""},
		{"two units for one character", seventy[:68*2] + "𝄞𝄞", "\"\"\"\n" + seventy[:68*2] + "𝄞𝄞\n\"\"\""},
		{"lines", "One\n\ntwo", "\"\"\"\nOne\n\ntwo\n\"\"\""},
		{"quotation mark at the end", `a "b"`, "\"\"\"\na \"b\"\n\"\"\""},
		{"backslash at the end", `a \`, "\"\"\"\na \\\n\"\"\""},
		{"backslash inside", `a \n b`, `"""a \n b"""`},
		{"three quotation marks", `a """ b`, `"""a \""" b"""`},
		{"three at the end", `a """`, "\"\"\"\na \\\"\"\"\n\"\"\""},
		{"blank in front", " a", `""" a"""`},
		{"blank in front and backslash", " a\\", "\"\"\" a\\\n\"\"\""},
		{"tab in front of lines", "a\n\tb", "\"\"\"\na\n\tb\n\"\"\""},
		{"indentation of all lines", " a\n b", `" a\n b"`},
		{"empty line in front", "\na", `"\na"`},
		{"blank line at the end", "a\n ", `"a\n "`},
		{"blanks alone", "  ", `"  "`},
		{"carriage return", "a\r\nb", `"a\r\nb"`},
		{"control character", "a\x07", `"a\u0007"`},
		{"less of a control character", "a\x1b", "\"\"\"a\x1b\"\"\""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			scalar := &model.Type{Kind: model.Scalar, Name: "S", Doc: tt.doc}
			want := "scalar S"
			if tt.want != "" {
				want = tt.want + "\n" + want
			}
			if diff := cmp.Diff(want, sdl.Print(&model.Schema{Types: []*model.Type{scalar}})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

package introspect_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query/graphql/internal/graphqltest"
	"github.com/stoa-go/stoa/query/graphql/internal/introspect"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
)

var update = flag.Bool("update", false, "write the golden files")

func ExampleExtend() {
	text := &model.Type{Kind: model.Scalar, Name: "String"}
	query := &model.Type{Kind: model.Object, Name: "Query",
		Fields: []*model.Field{{Name: "hello", Type: &model.Ref{Type: text}}}}
	s := &model.Schema{Query: query, Types: []*model.Type{query, text}}
	introspect.Extend(s)
	for _, t := range s.Types {
		fmt.Println(t.Kind, t.Name)
	}
	// Output:
	// SCALAR Boolean
	// OBJECT Query
	// SCALAR String
	// OBJECT __Directive
	// ENUM __DirectiveLocation
	// OBJECT __EnumValue
	// OBJECT __Field
	// OBJECT __InputValue
	// OBJECT __Schema
	// OBJECT __Type
	// ENUM __TypeKind
}

// kitchen returns the kitchen sink schema with introspection.
func kitchen() *model.Schema {
	s := graphqltest.Kitchen()
	introspect.Extend(s)
	return s
}

// ask executes a document and returns the response.
func ask(t *testing.T, s *model.Schema, document string) string {
	t.Helper()
	data, err := graphqltest.Ask(s, document)
	if err != nil {
		t.Fatalf("%s: %v", document, err)
	}
	return string(data)
}

// TestGolden compares the response to a full introspection query with a file. A test in .ci/clients
// compares the file with the reference implementation.
func TestGolden(t *testing.T) {
	t.Parallel()
	document, err := os.ReadFile("testdata/everything.graphql")
	if err != nil {
		t.Fatal(err)
	}
	got := jsontext.Value(ask(t, kitchen(), string(document)))
	if err := got.Indent(jsontext.WithIndent(" ")); err != nil {
		t.Fatal(err)
	}
	const file = "testdata/everything.json"
	if *update {
		if err := os.WriteFile(file, append(got, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)+"\n"); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

func TestFields(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, document, want string }{
		{"type that there is not", `{__type(name: "Nothing") {name}}`, `{"__type":null}`},
		{"scalar", `{__type(name: "DateTime") {kind name specifiedByURL fields {name} inputFields {name} enumValues {name}
			interfaces {name} possibleTypes {name} ofType {name} isOneOf}}`,
			`{"__type":{"kind":"SCALAR","name":"DateTime",` +
				`"specifiedByURL":"https://www.rfc-editor.org/rfc/rfc3339#section-5.6",` +
				`"fields":null,"inputFields":null,"enumValues":null,"interfaces":null,` +
				`"possibleTypes":null,"ofType":null,"isOneOf":null}}`},
		{"object", `{__type(name: "Change") {kind interfaces {name} possibleTypes {name} fields {name} ` +
			`inputFields {name} isOneOf}}`,
			`{"__type":{"kind":"OBJECT","interfaces":[],"possibleTypes":null,"fields":[{"name":"set"},` +
				`{"name":"with"}],` +
				`"inputFields":null,"isOneOf":null}}`},
		{"input objects",
			`{a: __type(name: "Choice") {isOneOf inputFields {name}} b: __type(name: "Tree") {isOneOf}}`,
			`{"a":{"isOneOf":true,"inputFields":[{"name":"id"},{"name":"name"}]},"b":{"isOneOf":false}}`},
		{"deprecated values", `{__type(name: "Color") {a: enumValues {name} b: enumValues(includeDeprecated: true)
			{name isDeprecated deprecationReason}}}`,
			`{"__type":{"a":[{"name":"RED"},{"name":"GREEN"},{"name":"NAVY"}],"b":[` +
				`{"name":"RED","isDeprecated":false,"deprecationReason":null},` +
				`{"name":"GREEN","isDeprecated":false,"deprecationReason":null},` +
				`{"name":"BLUE","isDeprecated":true,"deprecationReason":"Use \"NAVY\"."},` +
				`{"name":"NAVY","isDeprecated":false,"deprecationReason":null}]}}`},
		{"deprecated fields",
			`{__type(name: "Thing") {a: fields {name} b: fields(includeDeprecated: true) {name}}}`,
			`{"__type":{"a":` + names("id color at size data things flag") + `,"b":` +
				names("id color at size data things gone why flag") + `}}`},
		{"deprecated arguments",
			`{__type(name: "Query") {fields {a: args {name} b: args(includeDeprecated: true) {name}}}}`,
			`{"__type":{"fields":[{"a":` + names("id color") + `,"b":` + names("id color old") + `},{"a":` +
				names("choice tree json") + `,"b":` + names("choice tree json") + `},{"a":[],"b":[]}]}}`},
		{"lists and what is not null", `{__type(name: "Change") {fields {type {kind name description specifiedByURL isOneOf
			fields {name} ofType {kind name ofType {name}}}}}}`,
			`{"__type":{"fields":[{"type":{"kind":"NON_NULL","name":null,"description":null,` +
				`"specifiedByURL":null,"isOneOf":null,` +
				`"fields":null,"ofType":{"kind":"SCALAR","name":"Boolean","ofType":null}}},` +
				`{"type":{"kind":"SCALAR",` +
				`"name":"String","description":"A sequence of Unicode characters.",` +
				`"specifiedByURL":null,` +
				`"isOneOf":null,"fields":null,"ofType":null}}]}}`},
		{"roots", `{__schema {queryType {name} mutationType {name} subscriptionType {name}}}`,
			`{"__schema":{"queryType":{"name":"Query"},"mutationType":{"name":"Change"},` +
				`"subscriptionType":null}}`},
		{"names of types",
			`{__typename __schema {__typename directives {__typename}} __type(name: "Color") {__typename}}`,
			`{"__typename":"Query","__schema":{"__typename":"__Schema","directives":[` +
				strings.TrimSuffix(strings.Repeat(`{"__typename":"__Directive"},`, 7), ",") +
				`]},"__type":{"__typename":"__Type"}}`},
		{"directives by name", `{__schema {directives {name isRepeatable}}}`,
			`{"__schema":{"directives":[{"name":"deprecated","isRepeatable":false},{"name":"include",` +
				`"isRepeatable":false},` +
				`{"name":"oneOf","isRepeatable":false},{"name":"plain","isRepeatable":false},` +
				`{"name":"skip","isRepeatable":false},` +
				`{"name":"specifiedBy","isRepeatable":false},{"name":"tag","isRepeatable":true}]}}`},
	}
	s := kitchen()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, ask(t, s, tt.document)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// names returns the JSON of objects with the field name.
func names(list string) string {
	return `[{"name":"` + strings.Join(strings.Fields(list), `"},{"name":"`) + `"}]`
}

// TestNullFlag checks that null for includeDeprecated means false.
func TestNullFlag(t *testing.T) {
	t.Parallel()
	s := kitchen()
	fields := s.MetaType.Type.Type.Field("fields")
	thing := s.MetaType.Meta(nil, map[string]any{"name": "Thing"})
	var counts []int
	for _, flag := range []any{nil, false, true} {
		counts = append(counts, len(fields.Meta(thing, map[string]any{"includeDeprecated": flag}).([]any)))
	}
	if diff := cmp.Diff([]int{7, 7, 9}, counts); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestExtendKeepsScalars checks that Extend uses the scalars that the schema already has.
func TestExtendKeepsScalars(t *testing.T) {
	t.Parallel()
	text := &model.Type{Kind: model.Scalar, Name: "String", Doc: "Mine."}
	query := &model.Type{Kind: model.Object, Name: "Query"}
	s := &model.Schema{Query: query, Types: []*model.Type{query, text}}
	introspect.Extend(s)
	if got := s.TypeName.Type.Type; got != text {
		t.Errorf("__typename is of another String: %+v", got)
	}
	seen := map[string]int{}
	for _, typ := range s.Types {
		seen[typ.Name]++
	}
	for name, n := range seen {
		if n != 1 {
			t.Errorf("there are %d types %s", n, name)
		}
	}
	if !slices.IsSortedFunc(s.Types, func(a, b *model.Type) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("the types are not sorted")
	}
}

// TestMeta calls the Meta functions as an executor does.
func TestMeta(t *testing.T) {
	t.Parallel()
	s := kitchen()
	meta := func(parent *model.Type, name string, source any, args map[string]any) any {
		return s.Field(parent, name).Meta(source, args)
	}
	if got := meta(s.Query, "__type", nil, map[string]any{"name": "Nothing"}); got != nil {
		t.Errorf("__type of nothing is %v", got)
	}
	choice := meta(s.Query, "__type", nil, map[string]any{"name": "Choice"})
	if got := meta(s.Type("__Type"), "isOneOf", choice, nil); got != true {
		t.Errorf("isOneOf is %v", got)
	}
	schema := meta(s.Query, "__schema", nil, nil)
	if got := meta(s.Type("__Schema"), "description", schema, nil); got != "The kitchen sink." {
		t.Errorf("the description is %v", got)
	}
}

package validate_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query/graphql/internal/graphqltest"
	"github.com/stoa-go/stoa/query/graphql/internal/introspect"
	"github.com/stoa-go/stoa/query/graphql/internal/parser"
	"github.com/stoa-go/stoa/query/graphql/internal/validate"
)

func ExampleDocument() {
	s := graphqltest.Kitchen()
	introspect.Extend(s)
	doc, err := parser.Parse(`{thing(id: 1) {colour} __type(name: "Color") {isOneOf}}`)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range validate.Document(s, doc, validate.Limits{}) {
		fmt.Println(e.Message)
	}
	// Output: Cannot query field "colour" on type "Thing".
}

// TestIntrospection has valid and invalid selections of the introspection types.
func TestIntrospection(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, document string
		want           []string
	}{
		{"all", `{__schema {description directives(includeDeprecated: true) {isRepeatable isDeprecated deprecationReason
			args(includeDeprecated: true) {isDeprecated deprecationReason}}} __type(name: "A") {...T}}
			fragment T on __Type {specifiedByURL isOneOf inputFields(includeDeprecated: true) {name} kind}`, nil},
		{"enum in place of an object", `{__type(name: "A") {kind {name}}}`,
			[]string{`Field "kind" must not have a selection since type "__TypeKind!" has no subfields.`}},
		{"no such field", "{__schema {onOperation}}",
			[]string{`Cannot query field "onOperation" on type "__Schema".`}},
		{"no name", "{__type {name}}",
			[]string{`Field "__type" argument "name" of type "String!" is required, but it was not ` +
				`provided.`}},
		{"not at the root", "{thing(id: 1) {__typename __schema {__typename}}}",
			[]string{`Cannot query field "__schema" on type "Thing".`}},
		{"variables in JSON", `query($a: Int, $b: [Color!], $c: Int)
			{things(json: {x: [$a, {y: $b}]}) {id} b: things(json: [{z: $a}]) {id}}`,
			[]string{`Variable "$c" is never used.`}},
		{"oneOf", "{things(choice: {id: 1, name: \"a\"}) {id}}",
			[]string{`OneOf Input Object "Choice" must specify exactly one key.`}},
		{"repeatable", `{thing(id: 1) @tag(name: "a") @tag(name: "b") @plain @plain {id}}`,
			[]string{`The directive "@plain" can only be used once at this location.`}},
	}
	s := graphqltest.Kitchen()
	introspect.Extend(s)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			doc, err := parser.Parse(tt.document)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, e := range validate.Document(s, doc, validate.Limits{}) {
				got = append(got, e.Message)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

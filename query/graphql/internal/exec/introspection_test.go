package exec_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query/graphql/internal/exec"
)

func TestIntrospection(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, document, variables, want string }{
		{"names", `{ __type(name: "Cover") { name kind fields { name type { kind name ofType { name } } ` +
			`} } }`, "",
			`{"__type":{"name":"Cover","kind":"OBJECT","fields":[{"name":"color",` +
				`"type":{"kind":"NON_NULL","name":null,"ofType":{"name":"CoverColor"}}}]}}`},
		{"variables",
			`query($n: String!, $d: Boolean) { __type(name: $n) { n: name enumValues(includeDeprecated: ` +
				`$d) { name } } }`,
			`{"n": "CoverColor", "d": true}`,
			`{"__type":{"n":"CoverColor","enumValues":[{"name":"red"},{"name":"blue"}]}}`},
		{"no such type", `{ __type(name: "Nope") { name } }`, "", `{"__type":null}`},
		{"beside data", `{ __schema { queryType { name __typename } } book(id: 1) { __typename title } }`, "",
			`{"__schema":{"queryType":{"name":"Query","__typename":"__Type"}},` +
				`"book":{"__typename":"Book","title":"First"}}`},
		{"aliases and merges",
			`{ s: __schema { queryType { name } } s: __schema { queryType { kind } } t: __typename }`, "",
			`{"s":{"queryType":{"name":"Query","kind":"OBJECT"}},"t":"Query"}`},
		{"conditions", `query($a: Boolean!) { __schema @skip(if: $a) { queryType { name } } __typename }`,
			`{"a": true}`,
			`{"__typename":"Query"}`},
	}
	w := newWorld(t, setting{})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for range 2 { // compiled, and from the cache
				if diff := cmp.Diff(`{"data":`+tt.want+`}`, w.ask(t, tt.document, tt.variables)); diff != "" {
					t.Errorf("answer (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// TestFullIntrospection checks that each member of the introspection types has a value.
func TestFullIntrospection(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setting{})
	got := w.ask(t, fullIntrospection)
	for _, typ := range w.schema.Types {
		if !strings.Contains(got, `"name":"`+typ.Name+`"`) {
			t.Errorf("no word of %s", typ.Name)
		}
	}
	if _, bytes := w.engine.Cached(); bytes < len(got) {
		t.Errorf("the answer of %d bytes counts for %d", len(got), bytes)
	}
}

// TestIntrospectionLimit checks the limit of introspection objects, which documents of tools do not
// reach.
func TestIntrospectionLimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setting{config: exec.Config{Cost: 1}})
	if got := w.ask(t, fullIntrospection); strings.Contains(got, `"errors"`) {
		t.Errorf("what tools ask for is refused: %.200s", got)
	}
	_, full, _ := strings.Cut(fullIntrospection, "{")
	full, fragments, _ := strings.Cut(full, "fragment")
	full = strings.TrimSuffix(strings.TrimSpace(full), "}")
	many := "{"
	for i := range 50 {
		many += fmt.Sprintf(" a%d: %s", i, strings.TrimSpace(full))
	}
	got := w.ask(t, many+" } fragment"+fragments)
	if !strings.Contains(got, `"code":"BAD_USER_INPUT"`) || !strings.HasSuffix(got, `"data":null}`) ||
		len(got) > 1000 {
		t.Errorf("%d bytes: %.300s", len(got), got)
	}
	if got := w.ask(t, `{ __schema { types { name } } }`); strings.Contains(got, `"errors"`) {
		t.Errorf("the next one is refused: %.200s", got)
	}
}

func TestNoIntrospection(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, document, want string }{
		{"the schema", `{ __schema { queryType { name } } }`,
			`GRAPHQL_VALIDATION_FAILED NoSchemaIntrospection: ` +
				`GraphQL introspection is disabled, but the operation selects __schema.`},
		{"a type", `{ book(id: 1) { id } ...F } fragment F on Query { a: __type(name: "Book") { name } }`,
			`GRAPHQL_VALIDATION_FAILED NoSchemaIntrospection: GraphQL introspection is disabled, ` +
				`but the operation selects __type.`},
		{"a name", `{ __typename book(id: 1) { __typename } }`,
			`{"data":{"__typename":"Query","book":{"__typename":"Book"}}}`},
	}
	w := newWorld(t, setting{config: exec.Config{NoIntrospection: true}})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, w.ask(t, tt.document)); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
		})
	}
}

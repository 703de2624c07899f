package oracle_test

import (
	"slices"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query/graphql/internal/graphqltest/oracle"
)

// variable returns the variables of a request with one variable.
func variable(raw string) map[string]jsontext.Value {
	return map[string]jsontext.Value{"v": jsontext.Value(raw)}
}

// oracleFault is a defect of graphql-go v0.8.1. The documents of the differential test avoid only
// these defects.
type oracleFault struct {
	// feature is its name in [oracle.Generate].
	feature  string
	document oracle.Document
	// wrong is the result of graphql-go, and why is the rule of the specification that it violates.
	wrong, why string
	// want is the correct data; empty if the document must be rejected.
	want string
}

// refused is the want of a document that must be rejected.
const refused = ""

// faults are all known defects.
func faults() []oracleFault {
	doc := func(text string) oracle.Document { return oracle.Document{Text: text} }
	with := func(raw, text string) oracle.Document {
		return oracle.Document{Text: text,
			Variables: variable(raw)}
	}
	return []oracleFault{
		{"fragment without a type in what is not just nullable",
			doc(`{ books { pageInfo { ... { hasNextPage } } } }`),
			"it compares the type of the fragment with that of the field, list and non-null and all",
			"section 5.5.2.3: the parent type of a selection set is a named type",
			`{"books":{"pageInfo":{"hasNextPage":true}}}`},
		{"variable of a non-null type with a default", doc(`query($v: ID! = "b1") { book(id: $v) { id } }`),
			"it refuses the default",
			"section 6.1.2: a variable without a value has its default, whatever its type",
			`{"book":{"id":"b1"}}`},
		{"null literal", doc(`{ books(filter: null) { totalCount } }`), "it does not know the literal null",
			"section 2.10.5", `{"books":{"totalCount":14}}`},
		{"null in variables", with(`{"name":"N","note":null}`,
			`mutation($v: PatchAuthorInput!) { patchAuthor(id: 1, input: $v) { name note } }`),
			"it drops members that are null",
			"section 3.10: an explicit null is a value, and not the same as none",
			`{"patchAuthor":{"name":"N","note":null}}`},
		{"mutations in a fragment with a name", doc(`mutation { ...F deleteBook(id: "n1") { id } } ` +
			`fragment F on Mutation { createBook(input: {title: "T"}) { id } }`),
			"it does them in the order in which they stand in the text, fragments where they are defined",
			"sections 6.2.2 and 6.3.2: in the order in which the selection set comes to them",
			`{"createBook":{"id":"n1"},"deleteBook":{"id":"n1"}}`},
		{"introspection", doc(`{ __type(name: "DateTime") { specifiedByURL } }`),
			"its types of introspection are those of 2016, and the fields of types come in the order of " +
				"their names",
			"section 4.2", `{"__type":{"specifiedByURL":"https://www.rfc-editor.org/rfc/rfc3339"}}`},
		{"escape in braces", doc(`{ book(id: "b\u{31}") { id } }`), "it does not know the escape",
			"section 2.10.4",
			`{"book":{"id":"b1"}}`},
		{"pair of surrogates", doc(`mutation { toolsEcho(input: {text: "\uD83D\uDE00"}) { text } }`),
			"it makes two characters of it, neither of which there is", "section 2.10.4",
			`{"toolsEcho":{"text":"` + "\U0001F600" + `"}}`},
		{"variable: text of digits for a number",
			with(`"12"`, `query($v: Int) { books(first: $v) { totalCount } }`),
			"it takes it", "sections 3.5.1 and 3.5.2: other input values raise a request error", refused},
		{"variable: fraction for an Int", with(`1.5`, `query($v: Int) { books(first: $v) { totalCount } }`),
			"it cuts the fraction off", "section 3.5.1: values with a fractional part raise a request error",
			refused},
		{"variable: Boolean for a number", with(`true`, `query($v: Int) { books(first: $v) { totalCount } }`),
			"it takes it for 1", "sections 3.5.1 and 3.5.2: other input values raise a request error",
			refused},
		{"variable: text for a Boolean", with(`"many"`,
			`query($v: Boolean!) { books @skip(if: $v) { totalCount } }`),
			"it takes every text but false and the empty one for true",
			"section 3.5.4: only a boolean will do", refused},
		{"variable: number for a Boolean", with(`1`,
			`query($v: Boolean!) { books @skip(if: $v) { totalCount } }`),
			"it takes every number but 0 for true", "section 3.5.4: only a boolean will do", refused},
		{"variable: list for a Boolean", with(`[true]`,
			`query($v: Boolean!) { books @skip(if: $v) { totalCount } }`),
			"it takes it for false", "section 3.5.4: only a boolean will do", refused},
		{"variable: number for a String", with(`12`,
			`query($v: String!) { books(filter: {title: {startsWith: $v}}) { totalCount } }`),
			"it takes it for its digits", "section 3.5.3: only a string will do", refused},
		{"variable: Boolean for a text", with(`true`, `query($v: ID!) { book(id: $v) { id } }`),
			"it takes it for true",
			"sections 3.5.3 and 3.5.5: only a string will do, or for an ID an integer", refused},
		{"variable: list for a text", with(`["b1"]`, `query($v: ID!) { book(id: $v) { id } }`),
			"it takes it for [b1], as Go prints it",
			"sections 3.5.3 and 3.5.5: only a string will do, or for an ID an integer",
			refused},
		{"variable: object for a text", with(`{}`, `query($v: ID!) { book(id: $v) { id } }`),
			"it takes it for map[], as Go prints it",
			"sections 3.5.3 and 3.5.5: only a string will do, or for an ID an integer",
			refused},
		{"variable: fraction for an ID", with(`1.5`, `query($v: ID!) { book(id: $v) { id } }`),
			"it takes it for its text",
			"section 3.5.5: only a string or an integer will do", refused},
	}
}

// without has the features that generated documents avoid.
func without() []string {
	var list []string
	for _, f := range faults() {
		list = append(list, f.feature)
	}
	return list
}

// TestFaults checks that graphql-go still has each defect, and that package exec follows the
// specification.
func TestFaults(t *testing.T) {
	t.Parallel()
	for _, f := range faults() {
		t.Run(f.feature, func(t *testing.T) {
			t.Parallel()
			mine, other := world(t), world(t)
			got, said := ours(t, engine(mine), &f.document)
			want := answer{Refused: true}
			if f.want != refused {
				var data any
				decode(t, []byte(f.want), &data)
				want = answer{Data: plain(data), Errors: []string{}}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("we say %s (-want +got):\n%s", said, diff)
			}
			if theirs, say := theirs(t, other, &f.document); cmp.Diff(want, theirs) == "" {
				t.Errorf("graphql-go is right now, so take it off the list: %s", say)
			}
		})
	}
}

// TestFaultsAreFeatures checks that generated documents would have each of these features.
func TestFaultsAreFeatures(t *testing.T) {
	t.Parallel()
	w := world(t)
	seen := map[string]bool{}
	for n := range uint64(20000) {
		d := oracle.Generate(w.Model, seed(n), oracle.Options{Defects: n%2 == 0, Mutation: n%8 == 7})
		for _, feature := range d.Features {
			seen[feature] = true
		}
		if slices.IndexFunc(without(), func(f string) bool { return !seen[f] }) < 0 {
			return
		}
	}
	for _, f := range without() {
		if !seen[f] {
			t.Errorf("no document has: %s", f)
		}
	}
}

package exec_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestQuery(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, document, variables, want string
		calls                           string
	}{
		{"one item", `{ book(id: 1) { title id } }`, "", `{"data":{"book":{"title":"First","id":"1"}}}`,
			"books get 1"},
		{"no such item", `{ book(id: 77) { title } }`, "", `{"data":{"book":null}}`, "books get 77"},
		{"every kind of member",
			`{ book(id: 1) { id title genre authorId sequelId pages sold price note tags moods extra ` +
				`published shelf } }`, "",
			`{"data":{"book":{"id":"1","title":"First","genre":"novel","authorId":"ann","sequelId":2,` +
				`"pages":100,` +
				`"sold":1099511627776,"price":9.5,"note":"mind the <step>","tags":["a","b"],` +
				`"moods":["sad","funny"],` +
				`"extra":{"k":[1,null]},"published":"2001-02-03T04:05:06Z","shelf":"A1"}}}`, "books get 1"},
		{"what is empty",
			`{ book(id: 2) { sequelId note tags moods extra cover { color } editions { year } } }`, "",
			`{"data":{"book":{"sequelId":99,"note":null,"tags":[],"moods":[],"extra":{},"cover":null,` +
				`"editions":[]}}}`, "books get 2"},
		{"structs in structs",
			`{ book(id: 1) { cover { color } editions { cover { color __typename } print year } } }`, "",
			`{"data":{"book":{"cover":{"color":"red"},"editions":[{"cover":{"color":"blue",` +
				`"__typename":"Cover"},"print":null,` +
				`"year":1999},{"cover":{"color":"red","__typename":"Cover"},"print":7,"year":2003}]}}}`,
			"books get 1"},
		{"keys in the order asked",
			`{ z: book(id: 1) { b: title a: id } a: book(id: 2) { a: id b: title __typename } __typename }`,
			"", `{"data":{"z":{"b":"First","a":"1"},"a":{"a":"2","b":"Second","__typename":"Book"},` +
				`"__typename":"Query"}}`,
			"books get 1, books get 2"},
		{"a list", `{ books { nodes { id } } }`, "",
			`{"data":{"books":{"nodes":[{"id":"1"},{"id":"2"},{"id":"3"}]}}}`, "books list"},
		{"all of a connection",
			`{ books(first: 2) { totalCount pageInfo { hasNextPage hasPreviousPage } edges { node { id } ` +
				`} nodes { title } } }`, "",
			`{"data":{"books":{"totalCount":3,"pageInfo":{"hasNextPage":true,"hasPreviousPage":false},` +
				`"edges":[{"node":{"id":"1"}},` +
				`{"node":{"id":"2"}}],"nodes":[{"title":"First"},{"title":"Second"}]}}}`,
			"books count, books list"},
		{"an empty connection",
			`{ books(filter: {title: {eq: "none"}}) { edges { cursor } nodes { id } pageInfo { ` +
				`startCursor endCursor hasNextPage } } }`,
			"", `{"data":{"books":{"edges":[],"nodes":[],"pageInfo":{"startCursor":null,"endCursor":null,` +
				`"hasNextPage":false}}}}`,
			"books list"},
		{"relations of a level are one call each",
			`{ books { nodes { id author { name } reviews { stars } sequel { title } } } }`, "",
			`{"data":{"books":{"nodes":[` +
				`{"id":"1","author":{"name":"Ann"},"reviews":[{"stars":0},{"stars":2}],` +
				`"sequel":{"title":"Second"}},` +
				`{"id":"2","author":{"name":"Ann"},"reviews":[{"stars":1},{"stars":3}],"sequel":null},` +
				`{"id":"3","author":{"name":"Bob \"B\""},"reviews":[],"sequel":{"title":"First"}}]}}}`,
			"authors many 2, books list, books many 3, reviews by bookId 3"},
		{"levels upon levels", `{ author(id: "ann") { books { sequel { author { name books { id } } } } } }`,
			"",
			`{"data":{"author":{"books":[{"sequel":{"author":{"name":"Ann","books":[{"id":"1"},` +
				`{"id":"2"}]}}},{"sequel":null}]}}}`,
			"authors get ann, authors many 1, books by authorId 1, books by authorId 1, books many 2"},
		{"a missing item", `{ book(id: 3) { reviews { book { id } } } }`, "",
			`{"data":{"book":{"reviews":[]}}}`,
			"books get 3, reviews by bookId 1"},
		{"variables",
			`query($id: ID!, $n: Int = 1) { book(id: $id) { id } books(first: $n) { nodes { id } } }`,
			`{"id": 2}`,
			`{"data":{"book":{"id":"2"},"books":{"nodes":[{"id":"1"}]}}}`, "books get 2, books list"},
		{"an alias with other arguments",
			`{ a: books(first: 1) { nodes { id } } b: books(last: 1) { nodes { id } } }`, "",
			`{"data":{"a":{"nodes":[{"id":"1"}]},"b":{"nodes":[{"id":"3"}]}}}`, "books list, books list"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, setting{})
			if diff := cmp.Diff(tt.want, w.ask(t, tt.document, tt.variables)); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.calls, w.took()); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
			if log := w.logged(); log != "" {
				t.Errorf("logged: %s", log)
			}
		})
	}
}

// TestRunsShareNoValues checks that a run has no variables and arguments of an earlier one, although it
// reuses the memory.
func TestRunsShareNoValues(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setting{})
	const document = `query($n: Int, $skip: Boolean = false, $by: [BookSort!]) { ` +
		`books(first: $n, orderBy: $by) { nodes { id title @skip(if: $skip) } } }`
	for _, tt := range []struct{ variables, want string }{
		{`{"n": 1, "skip": true, "by": [{"field": "title", "direction": "DESC"}]}`, `[{"id":"3"}]`},
		{`{"n": 1, "skip": true}`, `[{"id":"1"}]`},
		{`{"skip": true}`, `[{"id":"1"},{"id":"2"},{"id":"3"}]`},
		{`{"n": 1}`, `[{"id":"1","title":"First"}]`},
	} {
		for range 3 { // a pool may drop memory
			want := `{"data":{"books":{"nodes":` + tt.want + `}}}`
			if diff := cmp.Diff(want, w.ask(t, document, tt.variables)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.variables, diff)
			}
		}
	}
}

package exec_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestJoinedFields checks that responses do not depend on whether fields are written together.
func TestJoinedFields(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, document, want string }{
		{"names of types in front, between and at the end",
			`{ book(id: 3) { a: __typename id b: __typename c: __typename title d: __typename } }`,
			`{"book":{"a":"Book","id":"3","b":"Book","c":"Book","title":"Third","d":"Book"}}`},
		{"nothing else", `{ book(id: 3) { a: __typename sequel { __typename b: __typename } } }`,
			`{"book":{"a":"Book","sequel":{"__typename":"Book","b":"Book"}}}`},
		{"at the end of a relation",
			`{ books(first: 2) { nodes { sequel { __typename title id } author { __typename } reviews { ` +
				`stars __typename } } } }`,
			`[books nodes 1 sequel title] INTERNAL_SERVER_ERROR; ` +
				`{"books":{"nodes":[{"sequel":{"__typename":"Book","title":"Second","id":"2"},` +
				`"author":{"__typename":"Author"},"reviews":[{"stars":0,"__typename":"Review"},` +
				`{"stars":2,"__typename":"Review"}]},` +
				`{"sequel":null,"author":{"__typename":"Author"},"reviews":[{"stars":1,` +
				`"__typename":"Review"},{"stars":3,"__typename":"Review"}]}]}}`},
		{"one of them fails", `{ book(id: 99) { id pages price sold } }`,
			`[book price] INTERNAL_SERVER_ERROR; {"book":null}`},
		{"one that can be null fails", `{ book(id: 99) { id a: __typename note pages } }`,
			`[book note] INTERNAL_SERVER_ERROR; {"book":{"id":"99","a":"Book","note":null,"pages":7}}`},
		{"other fields between", `{ book(id: 3) { id genre title shelf pages tags sold } }`,
			`{"book":{"id":"3","genre":"essay","title":"Third","shelf":"","pages":300,"tags":[],"sold":0}}`},
	}
	w := newWorld(t, setting{})
	note := "a\xff"
	bad := book{ID: 99, Title: "b\xff", Genre: "novel", Price: math.NaN(), Note: &note, Pages: 7}
	if _, err := w.books.Insert(t.Context(), "99", bad); err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, outline(t, w.ask(t, tt.document))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

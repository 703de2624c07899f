package graphql_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/query/graphql"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
)

// TestHints: errors of unknown names suggest what the schema has, unless introspection is off.
func TestHints(t *testing.T) {
	t.Parallel()
	type genre struct {
		ID    int    `json:"id" readOnly:"true"`
		Title string `json:"title"`
	}
	type book struct {
		ID    int      `json:"id" readOnly:"true"`
		Title string   `json:"title"`
		Tags  []string `json:"tags"`
		Genre int      `json:"genreId"`
		Parts []genre  `json:"parts"`
	}
	books := resource.New("books", memory.New[book](nil), &resource.Options[book]{Public: true, Query: query.Support{
		Filter: map[string][]query.Op{"genreId": {query.Eq}, "title": {query.Eq}}}})
	genres := resource.New("genres", memory.New[genre](nil), &resource.Options[genre]{Public: true,
		Relations: []resource.Relation[genre]{{Name: "books", Target: "books", By: "genreId", Many: true}}})
	c := resource.NewCatalog(nil, books, genres)
	message := func(t *testing.T, h http.Handler, document string) string {
		t.Helper()
		body, err := json.Marshal(map[string]string{"query": document})
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequestWithContext(t.Context(), "POST", "/graphql", strings.NewReader(string(body)))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		var answer struct{ Errors []struct{ Message string } }
		if err := json.Unmarshal(w.Body.Bytes(), &answer, json.MatchCaseInsensitiveNames(true)); err != nil ||
			len(answer.Errors) == 0 {
			t.Fatalf("answer %s: %v", w.Body, err)
		}
		return answer.Errors[0].Message
	}
	open, closed := graphql.New(c, nil), graphql.New(c, &graphql.Options{NoIntrospection: true})
	for _, tt := range []struct{ name, document, message, hint string }{
		{"connection taken for a list", `{books{title}}`, `Cannot query field "title" on type "BookConnection".`,
			`Did you mean "nodes { title }"?`},
		{"list taken for a connection", `{genre(id:1){books{nodes{id}}}}`, `Cannot query field "nodes" on type "Book".`,
			`Did you mean "booksConnection { nodes }"?`},
		{"list in a fragment", `{genre(id:1){books{...on Book{totalCount}}}}`,
			`Cannot query field "totalCount" on type "Book".`, `Did you mean "booksConnection { totalCount }"?`},
		{"list without connection", `{book(id:1){parts{nodes{id}}}}`, `Cannot query field "nodes" on type "GenreValue".`,
			`"parts" is a list, not a connection; select fields of "GenreValue".`},
		{"beginning of a name", `{book(id:1){gen}}`, `Cannot query field "gen" on type "Book".`, `Did you mean "genreId"?`},
		{"a longer name", `{genresConnection{nodes{id}}}`, `Cannot query field "genresConnection" on type "Query".`,
			`Did you mean "genres" or "genre"?`},
		{"one letter", `{genre(id:1){titel}}`, `Cannot query field "titel" on type "Genre".`, `Did you mean "title"?`},
		{"case", `{book(id:1){TITLE}}`, `Cannot query field "TITLE" on type "Book".`, `Did you mean "title"?`},
		{"nothing similar", `{book(id:1){colour}}`, `Cannot query field "colour" on type "Book".`, ""},
		{"short names", `{book(id:1){ident}}`, `Cannot query field "ident" on type "Book".`, ""},
		{"fields of introspection", `{book(id:1){__types}}`, `Cannot query field "__types" on type "Book".`, ""},
		{"argument", `{books(frist:1){nodes{id}}}`, `Unknown argument "frist" on field "Query.books".`,
			`Did you mean "first"?`},
		{"filter", `{books(filter:{titel:{eq:"x"}}){nodes{id}}}`, `Field "titel" is not defined by type "BookFilter".`,
			`Did you mean "title"?`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			want := strings.TrimSuffix(tt.message+" "+tt.hint, " ")
			if diff := cmp.Diff(want, message(t, open, tt.document)); diff != "" {
				t.Errorf("message (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.message, message(t, closed, tt.document)); diff != "" {
				t.Errorf("message without introspection (-want +got):\n%s", diff)
			}
		})
	}
}

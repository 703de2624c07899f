package openapi_test

import (
	"maps"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/openapi"
	"github.com/stoa-go/stoa/resource/rest"
)

// TestLinks describes the links of two resources with the ids of a third one.
func TestLinks(t *testing.T) {
	t.Parallel()
	type product struct {
		ID string `json:"id"`
	}
	type tag struct {
		ID int `json:"id"`
	}
	type productTag struct {
		ID      string `json:"id" readOnly:"true" id:"product,tag"`
		Product string `json:"product"`
		Tag     int    `json:"tag"`
		Note    string `json:"note"`
	}
	c := resource.NewCatalog(nil,
		resource.New("products", memory.New[product](nil), &resource.Options[product]{Public: true,
			Relations: []resource.Relation[product]{{Name: "tags", Target: "tags", Through: "product-tags",
				By: "product", To: "tag"}}}),
		resource.New("tags", memory.New[tag](nil), &resource.Options[tag]{Public: true}),
		resource.New("product-tags", memory.New[productTag](nil), &resource.Options[productTag]{Public: true,
			AllowRecreate: true, Query: query.Support{Filter: map[string][]query.Op{"product": {query.Eq}}}}))
	w := httptest.NewRecorder()
	openapi.New(c, nil).ServeHTTP(w, httptest.NewRequest("GET", "/openapi.json", nil))
	var doc struct {
		Paths      map[string]map[string]jsontext.Value `json:"paths"`
		Components struct {
			Schemas map[string]struct {
				Required []string `json:"required"`
			} `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	path := doc.Paths["/products/{id}/tags/{target}"]
	for method, want := range map[string]string{"put": `"linkProductTags"`, "delete": `"unlinkProductTags"`} {
		if text := string(path[method]); text == "" || !strings.Contains(text, want) {
			t.Errorf("%s is %s, want one with %s", method, text, want)
		}
	}
	for name, want := range map[string]string{"ProductTagCreate": "product tag", "ProductTagReplace": ""} {
		s, ok := doc.Components.Schemas[name]
		if got := strings.Join(s.Required, " "); !ok || got != want {
			t.Errorf("%s requires %q, want %q; declared: %t", name, got, want, ok)
		}
	}
}

// TestItemNames: schemas and operations have the capitals of the Go type, as GraphQL types have.
func TestItemNames(t *testing.T) {
	t.Parallel()
	type bookGenre struct {
		ID string `json:"id"`
	}
	type bookGenreV1 struct {
		ID string `json:"id"`
	}
	type Bookgenre struct {
		ID string `json:"id"`
	}
	type HTTPLog struct {
		ID string `json:"id"`
	}
	genres := resource.New("book-genres", memory.New[bookGenre](nil), &resource.Options[bookGenre]{Public: true})
	view := resource.View(genres, func(g bookGenre) (bookGenreV1, error) { return bookGenreV1(g), nil },
		func(v bookGenreV1, _ bookGenre) (bookGenre, error) { return bookGenre(v), nil }, nil)
	other := resource.New("others", memory.New[Bookgenre](nil), &resource.Options[Bookgenre]{Public: true})
	logs := resource.New("logs", memory.New[HTTPLog](nil), &resource.Options[HTTPLog]{Public: true})
	media := func(name, to string) *rest.Options {
		return &rest.Options{Resources: map[string]rest.ResourceOptions{name: {Media: to}}}
	}
	for _, tt := range []struct {
		name, path                 string
		part                       *resource.Resource
		rest                       *rest.Options
		schema, operation, summary string
	}{
		{"a compound name", "/book-genres/{id}", genres, nil, "BookGenre", "getBookGenre", "Get a book genre"},
		{"a view", "/book-genres/{id}", view, nil, "BookGenre", "getBookGenre", "Get a book genre"},
		{"a Go name with one capital", "/others/{id}", other, nil, "Bookgenre", "getBookgenre", "Get a bookgenre"},
		{"a run of capitals", "/logs/{id}", logs, nil, "HTTPLog", "getHTTPLog", "Get a http log"},
		{"Media", "/book-genres/{id}", genres, media("book-genres", "genre-link"), "GenreLink", "getGenreLink",
			"Get a genre-link"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := described(t, openapi.New(resource.NewCatalog(nil, tt.part), &openapi.Options{REST: tt.rest}))
			op := d.at(d.root, "paths", tt.path, "get").(object)
			if diff := cmp.Diff([]any{tt.operation, tt.summary}, []any{op["operationId"], op["summary"]}); diff != "" {
				t.Errorf("operation (-want +got):\n%s", diff)
			}
			if schemas := d.at(d.root, "components", "schemas").(object); schemas[tt.schema] == nil {
				t.Errorf("no schema %s in %v", tt.schema, slices.Sorted(maps.Keys(schemas)))
			}
		})
	}
}

package graphql_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing/fstest"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/query/graphql"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
)

// Planet and Moon are what the examples serve.
type Planet struct {
	ID   string `json:"id" maxLength:"20"`
	Name string `json:"name" required:"true"`
	Year *int   `json:"year" doc:"When it was found; null for those that were always known."`
}

type Moon struct {
	ID     string `json:"id" maxLength:"20"`
	Planet string `json:"planetId" required:"true"`
}

// sky is a catalog as REST has it.
func sky() *resource.Catalog {
	planets := resource.New("planets", memory.New[Planet](nil), &resource.Options[Planet]{Public: true,
		Relations: []resource.Relation[Planet]{{Name: "moons", Target: "moons", By: "planetId"}}})
	moons := resource.New("moons", memory.New[Moon](nil), &resource.Options[Moon]{Public: true,
		Query: query.Support{Filter: map[string][]query.Op{"planetId": {query.Eq}}}})
	return resource.NewCatalog(nil, planets, moons)
}

// posted posts a document and prints the answer.
func posted(h http.Handler, document string) {
	body := strings.NewReader(fmt.Sprintf(`{"query":%q}`, document))
	r := httptest.NewRequest("POST", "/graphql", body)
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	fmt.Println(w.Body)
}

// A catalog that is served in REST is served in GraphQL by one line.
func Example() {
	mux := http.NewServeMux()
	handler := graphql.New(sky(), nil)
	mux.Handle("/graphql", handler)
	mux.Handle("/graphql/", handler) // for the schema

	posted(mux, `mutation {
		createPlanet(input: {id: "mars", name: "Mars"}) { name }
		phobos: createMoon(input: {id: "phobos", planetId: "mars"}) { id }
		deimos: createMoon(input: {id: "deimos", planetId: "mars"}) { id }
	}`)
	posted(mux, `{ planets { nodes { name year moons { id } } } }`)
	// Output:
	// {"data":{"createPlanet":{"name":"Mars"},"phobos":{"id":"phobos"},"deimos":{"id":"deimos"}}}
	// {"data":{"planets":{"nodes":[{"name":"Mars","year":null,"moons":[{"id":"deimos"},{"id":"phobos"}]}]}}}
}

func ExampleNew() {
	handler := graphql.New(sky(), &graphql.Options{
		Names:           map[string]string{"moons": "Satellite"},
		Limits:          graphql.Limits{Depth: 3},
		NoIntrospection: true,
	})
	posted(handler, `{ satellite(id: "io") { id } }`)
	posted(handler, `{ planets { edges { node { name } } } }`)
	// Output:
	// {"data":{"satellite":null}}
	// {"errors":[{"message":"The operation nests fields 4 levels deep; at most 3 are allowed.","locations":[{"line":1,"column":1}],"extensions":{"code":"GRAPHQL_VALIDATION_FAILED","rule":"Limits"}}]}
}

func ExampleHandler_Report() {
	fmt.Print(graphql.New(sky(),
		&graphql.Options{Trusted: graphql.Documents{"names": "{ planets { nodes { name } } }"}}).Report())
	// Output:
	// GraphQL  37 fields of 9 types
	//     limits: 10000 tokens, 16 levels, 10000 fields, cost 50000, 8 at a time, 30s
	//     documents: only the 1 of Trusted
	//     weak: introspection is on: every caller can read the schema
}

func ExampleHandler_SDL() {
	sdl := graphql.New(sky(), nil).SDL()
	from := strings.Index(sdl, "type Planet {")
	fmt.Println(sdl[from : from+strings.Index(sdl[from:], "}")+1])
	// Output:
	// type Planet {
	//   """The id of the item."""
	//   id: ID!
	//
	//   """The member `name` of an item of `planets`."""
	//   name: String!
	//
	//   """When it was found; null for those that were always known."""
	//   year: Int64
	//
	//   """The ETag of this revision, for the argument `ifMatch`."""
	//   etag: String!
	//
	//   """The related items of `moons`, at most 20."""
	//   moons: [Moon!]!
	//
	//   """A page of the related items of `moons`."""
	//   moonsConnection(
	//     """A filter for the items. Default: all items."""
	//     filter: MoonFilter
	//
	//     """
	//     The sort keys, at most 4. The next key decides if items are equal by the previous ones. The last key is the id.
	//     """
	//     orderBy: [MoonSort!]
	//
	//     """
	//     The number of items from the start, or after `after`: at most 200. Default 20.
	//     """
	//     first: Int
	//
	//     """
	//     Return items after this cursor. The response must have this list of one item only.
	//     """
	//     after: String
	//   ): MoonConnection
	// }
}

// A document is stored at the server, and the application sends its name.
func ExampleLoadDocuments() {
	// or embed.FS, or os.DirFS
	files := fstest.MapFS{"planet.graphql": {Data: []byte("query($id: ID!) { planet(id: $id) { name } }")}}
	docs, err := graphql.LoadDocuments(files)
	if err != nil {
		panic(err)
	}
	handler := graphql.New(sky(), &graphql.Options{Trusted: docs})

	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequest("GET",
		"/graphql?documentId=planet&variables="+url.QueryEscape(`{"id":"mars"}`), nil))
	fmt.Println(w.Body)
	posted(handler, `{ planets { nodes { id } } }`)
	// Output:
	// {"data":{"planet":null}}
	// {"errors":[{"message":"Only registered documents are accepted. Send the documentId of one.","extensions":{"code":"FORBIDDEN"}}]}
}

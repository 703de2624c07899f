// Command mount adds a catalog, over REST and over GraphQL, to an existing server: under a prefix
// of a [http.ServeMux] with [http.StripPrefix], and under a prefix of a chi router. The URLs in
// responses of the catalog keep the prefix.
//
//	go run -C examples ./mount
//	curl -i localhost:8080/api/notes -H 'Content-Type: application/json' -d '{"text":"buy oil"}'
//	curl -i localhost:8080/chi/v1/notes
//	curl -i localhost:8080/api/graphql -H 'Content-Type: application/json' \
//		-d '{"query":"{ notes { nodes { text } } }"}'
package main

import (
	"fmt"
	"log"
	"net/http"

	"github.com/go-chi/chi/v5"

	"github.com/stoa-go/stoa/query/graphql"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/rest"
)

// Note is the resource of the example.
type Note struct {
	ID   string `json:"id"`
	Text string `json:"text" required:"true" maxLength:"500"`
}

func main() {
	log.Print("mount: listening on http://localhost:8080")
	log.Fatal(http.ListenAndServe("localhost:8080", newMux()))
}

// newMux returns the existing mux with a page and a chi router, and adds the notes to both.
func newMux() *http.ServeMux {
	notes := resource.New("notes", memory.New[Note](nil), &resource.Options[Note]{Public: true})
	catalog := resource.NewCatalog(nil, notes)
	graphqlHandler := graphql.New(catalog, nil)

	api := http.NewServeMux()
	api.Handle("/", rest.New(catalog, nil))
	api.Handle("/graphql", graphqlHandler)
	api.Handle("/graphql/", graphqlHandler) // the schema

	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", page)
	// The patterns have no method, because the catalog answers 405 with Allow itself.
	mux.Handle("/api/", http.StripPrefix("/api", api))
	mux.Handle("/chi/", newRouter(api))
	return mux
}

// newRouter serves api under /chi/v1. Mount keeps the prefix in the path for nested chi routers, so
// StripPrefix is needed here, too.
func newRouter(api http.Handler) http.Handler {
	r := chi.NewRouter()
	r.Get("/chi/page", page)
	r.Mount("/chi/v1", http.StripPrefix("/chi/v1", api))
	return r
}

func page(w http.ResponseWriter, r *http.Request) {
	fmt.Fprintln(w, "Something else, at", r.URL.Path)
}

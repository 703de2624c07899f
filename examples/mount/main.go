// Command mount puts a catalog, and the same catalog in GraphQL, where other things are served already: under a prefix of a
// [http.ServeMux], with [http.StripPrefix], and under one of a chi router. The URLs that the catalog gives out keep the
// prefix.
//
//	go run -C examples ./mount
//	curl -i localhost:8080/api/notes -H 'Content-Type: application/json' -d '{"text":"buy oil"}'
//	curl -i localhost:8080/chi/v1/notes
//	curl -i localhost:8080/api/graphql -H 'Content-Type: application/json' -d '{"query":"{ notes { nodes { text } } }"}'
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

// Note is what is served.
type Note struct {
	ID   string `json:"id"`
	Text string `json:"text" required:"true" maxLength:"500"`
}

func main() {
	log.Print("mount: listening on http://localhost:8080")
	log.Fatal(http.ListenAndServe("localhost:8080", newMux()))
}

// newMux is what was there before: it serves the page, and a router that somebody else wrote. The notes are under both
// of them.
func newMux() *http.ServeMux {
	notes := resource.New("notes", memory.New[Note](nil), &resource.Options[Note]{Public: true})
	catalog := resource.NewCatalog(nil, notes)
	door := graphql.New(catalog, nil)

	api := http.NewServeMux()
	api.Handle("/", rest.New(catalog, nil))
	api.Handle("/graphql", door)
	api.Handle("/graphql/", door) // the schema

	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", page)
	// The patterns have no method: the catalog gets all of them, and answers those it does not serve itself, with Allow.
	mux.Handle("/api/", http.StripPrefix("/api", api))
	mux.Handle("/chi/", newRouter(api))
	return mux
}

// newRouter serves api under /chi/v1. Mount leaves the prefix in the path, for the benefit of routers inside of it, so
// StripPrefix is needed here as well.
func newRouter(api http.Handler) http.Handler {
	r := chi.NewRouter()
	r.Get("/chi/page", page)
	r.Mount("/chi/v1", http.StripPrefix("/chi/v1", api))
	return r
}

func page(w http.ResponseWriter, r *http.Request) {
	fmt.Fprintln(w, "Something else, at", r.URL.Path)
}

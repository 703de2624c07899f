// Command quickstart serves notes from memory.
package main

import (
	"log"
	"net/http"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/serve"
)

// Note is an item. The struct tags are its schema: they validate requests and describe the API.
type Note struct {
	ID   int64  `json:"id" readOnly:"true"`
	Text string `json:"text" required:"true" minLength:"1" maxLength:"500"`
	Done bool   `json:"done"`
}

// newAPI serves the notes over REST and GraphQL, with documents and pages. Query lists what clients
// may filter and sort by. To restrict access, set Authorize and Scope in place of Public.
func newAPI() http.Handler {
	notes := memory.New[Note](nil) // or your own store: two methods, and one more for each capability
	return serve.New(resource.NewCatalog(nil, resource.New("notes", notes, &resource.Options[Note]{
		Query:  query.Support{Filter: map[string][]query.Op{"done": {query.Eq}}, Sort: []string{"text"}},
		Public: true, // no authorization
	})), &serve.Options{Title: "Notes"})
}

func main() {
	log.Print("listening on http://localhost:8080")
	// For time limits and a graceful shutdown, use package middleware.
	log.Fatal(http.ListenAndServe("localhost:8080", newAPI()))
}

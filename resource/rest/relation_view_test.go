package rest_test

import (
	"net/http"
	"testing"

	"github.com/stoa-go/stoa/resource"
)

// A relation uses the field names of the collection, so its target may be a view that hides the
// field.
func TestRelationLeadsToAView(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		list func(*resource.Ops[book])
	}{
		{"grouper", func(*resource.Ops[book]) {}},
		{"lists", func(ops *resource.Ops[book]) { ops.ListByKeys = nil }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ops := resource.OpsOf(stocked(t, book{Title: "Emma", Author: 1}, book{Title: "Dune", Author: 2}))
			tt.list(&ops)
			books := ops.Resource("books", &resource.Options[book]{Query: bookSupport()})
			older := resource.View(books, toV1, fromV1, &resource.ViewOptions{Fields: map[string]string{"name": "title"}})
			authors := resource.New("authors", stocked(t, author{Name: "Jane"}), &resource.Options[author]{
				Relations: []resource.Relation[author]{{Name: "books", Target: "books", By: "authorId"}},
			})
			wantBody(t, send(t, catalog(t, older, authors), "GET /authors/1?expand=books&fields=name"), http.StatusOK,
				`{"name":"Jane","books":[{"id":1,"name":"Emma","stars":0}]}`)
		})
	}
}

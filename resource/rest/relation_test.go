package rest_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/rest"
)

// linked is a library with relations between books and authors, and with counted calls.
type linked struct {
	http.Handler
	catalog        *resource.Catalog
	books, authors calls
}

// linkedBooks: Ann (1) wrote the books 1 and 3, Bob (2) wrote 2, and Cat (3) nothing. Book 4 has no
// author. Book 1 is followed by 3, by 2, and by 9, which does not exist.
func linkedBooks(t testing.TB, opts ...func(*resource.Ops[book], *resource.Ops[author],
	*resource.Options[book], *resource.Options[author])) *linked {
	t.Helper()
	books := resource.OpsOf(stocked(t,
		book{Title: "a", Author: 1, Sequels: []int64{3, 2, 9}}, book{Title: "b", Author: 2}, book{Title: "c", Author: 1},
		book{Title: "d", Author: 9}))
	authors := resource.OpsOf(stocked(t, author{Name: "Ann"}, author{Name: "Bob"}, author{Name: "Cat"}))
	bookOptions := resource.Options[book]{Query: bookSupport(), Relations: []resource.Relation[book]{
		{Name: "author", Target: "authors", Keys: func(b *book) []string { return []string{strconv.FormatInt(b.Author, 10)} }},
		{Name: "next", Target: "books", Many: true, Keys: func(b *book) []string {
			var keys []string
			for _, id := range b.Sequels {
				keys = append(keys, strconv.FormatInt(id, 10))
			}
			return keys
		}},
	}}
	authorOptions := resource.Options[author]{Relations: []resource.Relation[author]{
		{Name: "books", Target: "books", By: "authorId"},
		{Name: "first", Target: "books", By: "authorId", Limit: 1},
		{Name: "namesakes", Target: "books", By: "title", Keys: func(a *author) []string {
			return []string{strings.ToLower(a.Name[:1])}
		}},
	}}
	for _, opt := range opts {
		opt(&books, &authors, &bookOptions, &authorOptions)
	}
	l := &linked{}
	l.catalog = newCatalog(t, counting(books, &l.books).Resource("books", &bookOptions),
		counting(authors, &l.authors).Resource("authors", &authorOptions))
	l.Handler = rest.New(l.catalog, nil)
	return l
}

func withoutMany(b *resource.Ops[book], a *resource.Ops[author], _ *resource.Options[book], _ *resource.Options[author]) {
	b.GetMany, b.ListByKeys, a.GetMany, a.ListByKeys = nil, nil, nil, nil
}

const (
	ann1  = `{"id":1,"name":"Ann","born":0}`
	bob   = `{"id":2,"name":"Bob","born":0}`
	bookA = `{"id":1,"title":"a","authorId":1,"owner":"","stars":0,"note":null,"sequels":[3,2,9]}`
	bookB = `{"id":2,"title":"b","authorId":2,"owner":"","stars":0,"note":null}`
	bookC = `{"id":3,"title":"c","authorId":1,"owner":"","stars":0,"note":null}`
)

func TestExpand(t *testing.T) {
	t.Parallel()
	tests := []struct{ target, body string }{
		{"/books/2?expand=author&fields=id", `{"id":2,"author":` + bob + `}`},
		{"/books/4?expand=author&fields=id", `{"id":4,"author":null}`},
		{"/books/1?expand=next&fields=title", `{"title":"a","next":[` + bookC + `,` + bookB + `]}`},
		{"/books/2?expand=next&fields=title", `{"title":"b","next":[]}`},
		{"/books/1?expand=author,next&fields=id", `{"id":1,"author":` + ann1 + `,"next":[` + bookC + `,` + bookB + `]}`},
		{"/books/1?expand=next&expand=author&fields=id", `{"id":1,"next":[` + bookC + `,` + bookB + `],"author":` + ann1 + `}`},
		{"/books/2?expand=author,author&fields=id", `{"id":2,"author":` + bob + `}`},
		{"/authors/1?expand=books&fields=id", `{"id":1,"books":[` + bookA + `,` + bookC + `]}`},
		{"/authors/1?expand=first&fields=id", `{"id":1,"first":[` + bookA + `]}`},
		{"/authors/3?expand=books&fields=id", `{"id":3,"books":[]}`},
		{"/authors/3?expand=namesakes&fields=id", `{"id":3,"namesakes":[` + bookC + `]}`},
		{"/books?expand=author&fields=id", `{"items":[{"id":1,"author":` + ann1 + `},{"id":2,"author":` + bob +
			`},{"id":3,"author":` + ann1 + `},{"id":4,"author":null}]}`},
		{"/authors?expand=first&fields=id", `{"items":[{"id":1,"first":[` + bookA + `]},{"id":2,"first":[` + bookB +
			`]},{"id":3,"first":[]}]}`},
	}
	all, few := linkedBooks(t), linkedBooks(t, withoutMany)
	for _, tt := range tests {
		t.Run(tt.target, func(t *testing.T) {
			t.Parallel()
			wantBody(t, send(t, all, "GET "+tt.target), http.StatusOK, tt.body)
			wantBody(t, send(t, few, "GET "+tt.target), http.StatusOK, tt.body)
		})
	}
}

// TestExpandCalls: a relation takes one call for a page if the target supports it, and otherwise
// one call for each key.
func TestExpandCalls(t *testing.T) {
	t.Parallel()
	tests := []struct {
		target         string
		books, authors map[string]int
		booksFew       map[string]int // if the collections have only Get and List
		authorsFew     map[string]int
	}{
		{"/books?expand=author", map[string]int{"List": 1}, map[string]int{"GetMany": 1},
			map[string]int{"List": 1}, map[string]int{"Get": 3}},
		{"/books?expand=next", map[string]int{"List": 1, "GetMany": 1}, nil, map[string]int{"List": 1, "Get": 3}, nil},
		{"/books?expand=author,next", map[string]int{"List": 1, "GetMany": 1}, map[string]int{"GetMany": 1},
			map[string]int{"List": 1, "Get": 3}, map[string]int{"Get": 3}},
		{"/authors?expand=books", map[string]int{"ListByKeys": 1}, map[string]int{"List": 1},
			map[string]int{"List": 3}, map[string]int{"List": 1}},
		{"/authors?expand=books,first", map[string]int{"ListByKeys": 2}, map[string]int{"List": 1},
			map[string]int{"List": 6}, map[string]int{"List": 1}},
		{"/books/2?expand=next", map[string]int{"Get": 1}, nil, map[string]int{"Get": 1}, nil}, // no keys, no call
		{"/books", map[string]int{"List": 1}, nil, map[string]int{"List": 1}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.target, func(t *testing.T) {
			t.Parallel()
			all, few := linkedBooks(t), linkedBooks(t, withoutMany)
			for _, fields := range [][]string{nil, {"Accept: application/x-ndjson, application/json;q=0.5"}} {
				if fields != nil && !strings.HasPrefix(tt.target, "/books?") && !strings.HasPrefix(tt.target, "/authors?") {
					continue
				}
				want(t, send(t, all, "GET "+tt.target, fields...), http.StatusOK)
				same(t, "calls of books", tt.books, all.books.reset())
				same(t, "calls of authors", tt.authors, all.authors.reset())
				want(t, send(t, few, "GET "+tt.target, fields...), http.StatusOK)
				same(t, "calls of books that can less", tt.booksFew, few.books.reset())
				same(t, "calls of authors that can less", tt.authorsFew, few.authors.reset())
			}
		})
	}
}

func TestExpandOnWritesAndLines(t *testing.T) {
	t.Parallel()
	l := linkedBooks(t)
	fields := `{"title":"x","author":` + bob + `}`
	wantBody(t, send(t, l, "POST /books?expand=author&fields=title", jsonBody, "", `{"title":"x","authorId":2}`),
		http.StatusCreated, fields)
	wantBody(t, send(t, l, "PUT /books/5?expand=author&fields=title", jsonBody, "", `{"title":"x","authorId":2}`),
		http.StatusOK, fields)
	wantBody(t, send(t, l, "PATCH /books/1?expand=author&fields=title", mergeBody, "", `{"title":"x","authorId":2}`),
		http.StatusOK, fields)
	wantBody(t, send(t, l, "GET /authors?expand=first&fields=id", "Accept: application/x-ndjson"), http.StatusOK,
		`{"id":1,"first":[`+bookC+"]}\n"+
			`{"id":2,"first":[{"id":1,"title":"x","authorId":2,"owner":"","stars":0,"note":null,"sequels":[3,2,9]}]}`+"\n"+
			`{"id":3,"first":[]}`+"\n")
}

func TestExpandRefuses(t *testing.T) {
	t.Parallel()
	var many []resource.Relation[book]
	var names []string
	for i := range 9 {
		name := fmt.Sprintf("r%d", i)
		many = append(many, resource.Relation[book]{Name: name, Target: "books", Keys: func(*book) []string { return nil }})
		names = append(names, name)
	}
	h := catalog(t, resource.New("books", stocked(t, book{Title: "a"}), &resource.Options[book]{Relations: many}))
	want(t, send(t, h, "GET /books/1?expand="+strings.Join(names[:8], ",")), http.StatusOK)
	tests := []struct{ target, place string }{
		{"/books?expand=publisher", "?expand unknownRelation"},
		{"/books?expand=", "?expand unknownRelation"},
		{"/books/1?expand=r1,", "?expand unknownRelation"},
		{"/books/1?expand=R1", "?expand unknownRelation"},
		{"/books/1?expand=" + strings.Join(names, ","), "?expand tooMany"},
	}
	for _, tt := range tests {
		t.Run(tt.target, func(t *testing.T) {
			t.Parallel()
			wantErrors(t, wantProblem(t, send(t, h, "GET "+tt.target), problem.InvalidParameter), tt.place)
		})
	}
}

// TestExpandTag: the tag of a representation changes with the related items in it.
func TestExpandTag(t *testing.T) {
	t.Parallel()
	l := linkedBooks(t)
	for _, target := range []string{"/books/1?expand=author", "/books?expand=author"} {
		before := send(t, l, "GET "+target).header.Get("Etag")
		want(t, send(t, l, "GET "+target, "If-None-Match: "+before), http.StatusNotModified)
		plain := send(t, l, "GET "+strings.TrimSuffix(target, "?expand=author")).header.Get("Etag")
		if before == plain || before == "" {
			t.Errorf("%s: tag %q, and without the author %q", target, before, plain)
		}
		want(t, send(t, l, "PATCH /authors/1", mergeBody, "", `{"born":`+strconv.Itoa(len(target))+`}`), http.StatusOK)
		want(t, send(t, l, "GET "+target, "If-None-Match: "+before), http.StatusOK)
	}
}

// TestExpandHides: a caller without access to a related item cannot detect that it exists.
func TestExpandHides(t *testing.T) {
	t.Parallel()
	onlyOdd := func(_ context.Context, _ resource.Op, before, _ *book) error {
		if before != nil && before.ID%2 == 0 {
			return resource.ErrForbidden
		}
		return nil
	}
	notAnn := func(context.Context) (query.Filter, error) { return query.Where("name", query.Ne, "Ann"), nil }
	policy := func(_ *resource.Ops[book], _ *resource.Ops[author], b *resource.Options[book], a *resource.Options[author]) {
		b.Authorize, a.Scope = onlyOdd, notAnn
	}
	for _, l := range []*linked{linkedBooks(t, policy), linkedBooks(t, policy, withoutMany)} {
		wantBody(t, send(t, l, "GET /books/1?expand=author,next&fields=id"), http.StatusOK,
			`{"id":1,"author":null,"next":[`+bookC+`]}`)
		wantBody(t, send(t, l, "GET /authors?expand=books&fields=id"), http.StatusOK,
			`{"items":[{"id":2,"books":[]},{"id":3,"books":[]}]}`)
	}
}

// TestExpandInContracts: a relation leads to the resource with the name of its target in the same
// catalog.
func TestExpandInContracts(t *testing.T) {
	t.Parallel()
	authors := resource.New("authors", stocked(t, author{Name: "Ann"}), &resource.Options[author]{
		Relations: []resource.Relation[author]{{Name: "books", Target: "books", By: "stars",
			Keys: func(*author) []string { return []string{"4"} }}}})
	books := resource.New("books", stocked(t, shelved()), &resource.Options[book]{Query: bookSupport()})
	older := resource.View(books, toV1, fromV1, &resource.ViewOptions{Fields: map[string]string{"name": "title"}})
	wantBody(t, send(t, catalog(t, authors, older), "GET /authors/1?expand=books&fields=id"), http.StatusOK,
		`{"id":1,"books":[{"id":1,"name":"Emma","stars":4}]}`)
	wantBody(t, send(t, catalog(t, authors, books), "GET /authors/1?expand=books&fields=id"), http.StatusOK,
		`{"id":1,"books":[{"id":1,"title":"Emma","authorId":7,"owner":"ann","stars":4,"note":"signed","sequels":[2]}]}`)
}

// TestExpandedItemHasNoDate checks that a conditional request by date does not receive 304 after a
// related item has changed: the date is only that of the item.
func TestExpandedItemHasNoDate(t *testing.T) {
	t.Parallel()
	h := api(t)
	send(t, h, "PUT /users/ann", jsonBody, "", `{"name":"Ann"}`)
	send(t, h, "POST /orders", jsonBody, "", `{"customerId":"ann"}`)
	const later = "If-Modified-Since: Fri, 01 Mar 2030 12:00:00 GMT"
	want(t, send(t, h, "GET /orders/1", later), 304)
	want(t, send(t, h, "GET /orders/1?expand=customer", later), 200, "Last-Modified:", "Etag: *")
}

// TestWriteSucceedsIfRelationsFail checks that a write is reported as successful even if its
// related items cannot be fetched for the response.
func TestWriteSucceedsIfRelationsFail(t *testing.T) {
	t.Parallel()
	h := api(t, func(s *setup) {
		s.catalog.Logger = slog.New(slog.DiscardHandler)
		s.userOps.GetMany = func(context.Context, []string) iter.Seq2[resource.Item[user], error] {
			return func(yield func(resource.Item[user], error) bool) {
				yield(resource.Item[user]{}, errors.New("the users are somewhere else"))
			}
		}
	})
	res := send(t, h, "POST /orders?expand=customer", jsonBody, "", `{"customerId":"ann"}`)
	want(t, res, 201, "Location: /orders/1", "Content-Length: 0", "Content-Location:")
	res = send(t, h, "PATCH /orders/1?expand=customer", mergeBody, "", `{"cents":5}`)
	want(t, res, 204, "Content-Type:")
	want(t, send(t, h, "GET /orders/1"), 200, "Etag: *")
	want(t, send(t, h, "GET /orders/1?expand=customer"), 500)
}

// TestExpandByField: a relation by field has the same results as one by function.
func TestExpandByField(t *testing.T) {
	t.Parallel()
	byField := func(_ *resource.Ops[book], _ *resource.Ops[author], b *resource.Options[book], _ *resource.Options[author]) {
		b.Relations = []resource.Relation[book]{{Name: "author", Target: "authors", Field: "authorId"},
			{Name: "next", Target: "books", Many: true, Field: "sequels"}}
	}
	keys, field := linkedBooks(t), linkedBooks(t, byField)
	for _, target := range []string{"/books/1?expand=author,next", "/books/2?expand=next", "/books?expand=author,next",
		"/books?expand=next&fields=title"} {
		wantBody(t, send(t, field, "GET "+target), 200, send(t, keys, "GET "+target).body)
	}
}

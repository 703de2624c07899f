package rest_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/problem"
)

type bestIn struct {
	Author int64  `json:"authorId" required:"true" minimum:"1"`
	Mood   string `json:"mood" enum:"gay,grave"`
	Since  int64  `json:"since" minimum:"1900"`
}

// bestBooks is a lookup of books: author 1 has the best book 1, author 2 a hidden one, and the
// others cause errors.
func bestBooks(t testing.TB) http.Handler {
	t.Helper()
	find := func(_ context.Context, in bestIn) (string, error) {
		switch in.Author {
		case 1:
			if in.Mood == "grave" {
				return "3", nil
			}
			return "1", nil
		case 2:
			return "2", nil
		case 3:
			return "", nil
		case 4:
			return "", resource.ErrNotFound
		case 5:
			return "77", nil
		case 6:
			return "", resource.ErrUnauthenticated
		}
		return "", errors.New("secret")
	}
	hidden := func(_ context.Context, _ resource.Op, before, _ *book) error {
		if before != nil && before.Title == "hidden" {
			return resource.ErrForbidden
		}
		return nil
	}
	books := resource.New("books", stocked(t, book{Title: "a"}, book{Title: "hidden"}, book{Title: "c"}),
		&resource.Options[book]{Authorize: hidden, Relations: []resource.Relation[book]{
			{Name: "third", Target: "books", Keys: func(*book) []string { return []string{"3"} }}}})
	return catalog(t, books, resource.NewLookup("best", "books", find))
}

func TestLookupFinds(t *testing.T) {
	t.Parallel()
	h := bestBooks(t)
	item := send(t, h, "GET /books/1")
	res := send(t, h, "GET /best?authorId=1")
	wantBody(t, res, http.StatusOK, item.body)
	want(t, res, http.StatusOK, "Content-Location: /books/1", "Etag: "+item.header.Get("Etag"),
		"Last-Modified: "+item.header.Get("Last-Modified"), "Vary: Accept, Accept-Encoding", "Accept-Patch:",
		"Cache-Control: private, no-cache")
	want(t, send(t, h, "GET /best?authorId=1", "If-None-Match: "+item.header.Get("Etag")), http.StatusNotModified,
		"Etag: "+item.header.Get("Etag"))
	want(t, send(t, h, "GET /best?authorId=1", `If-Match: "x"`), http.StatusPreconditionFailed)
	want(t, send(t, h, "GET /best?authorId=1&mood=grave"), http.StatusOK, "Content-Location: /books/3")
	wantBody(t, send(t, h, "GET /best?authorId=1&fields=title"), http.StatusOK, `{"title":"a"}`)
	wantBody(t, send(t, h, "GET /best?authorId=1&fields=id&expand=third"), http.StatusOK,
		`{"id":1,"third":{"id":3,"title":"c","authorId":0,"owner":"","stars":0,"note":null}}`)
	head := send(t, h, "HEAD /best?authorId=1")
	wantBody(t, head, http.StatusOK, "")
	same(t, "header of HEAD", res.header, head.header)
}

func TestLookupRefuses(t *testing.T) {
	t.Parallel()
	h := bestBooks(t)
	tests := []struct {
		target string
		places []string
	}{
		{"/best", []string{"?authorId required"}},
		{"/best?authorId=", []string{"?authorId invalidValue"}},
		{"/best?authorId=x", []string{"?authorId invalidValue"}},
		{"/best?authorId=1&authorId=2", []string{"?authorId duplicateParameter"}},
		{"/best?authorId=0", []string{"?authorId minimum"}},
		{"/best?authorId=1&since=1800", []string{"?since minimum"}},
		{"/best?authorId=1&mood=glad", []string{"?mood invalidValue"}},
		{"/best?authorId=1&AuthorID=1", []string{"?AuthorID unknownParameter"}},
		{"/best?z=1&mood=glad&a=1", []string{"?a unknownParameter", "?mood invalidValue", "?z unknownParameter",
			"?authorId required"}},
		{"/best?authorId=1&fields=nothing", []string{"?fields unknownField"}},
		{"/best?authorId=1&expand=nothing", []string{"?expand unknownRelation"}},
	}
	for _, tt := range tests {
		t.Run(tt.target, func(t *testing.T) {
			t.Parallel()
			wantErrors(t, wantProblem(t, send(t, h, "GET "+tt.target), problem.InvalidParameter), tt.places...)
		})
	}
	want(t, send(t, h, "GET /best?authorId=1&authorId=1"), http.StatusOK)
	wantProblem(t, send(t, h, "GET /best?authorId=1;mood=gay"), problem.BadRequest)
}

func TestLookupFindsNothing(t *testing.T) {
	t.Parallel()
	h := bestBooks(t)
	tests := []struct {
		target string
		kind   problem.Kind
	}{
		{"/best?authorId=2", problem.NotFound}, // it is hidden
		{"/best?authorId=3", problem.NotFound},
		{"/best?authorId=4", problem.NotFound},
		{"/best?authorId=5", problem.NotFound},
		{"/best?authorId=6", problem.Unauthenticated},
		{"/best?authorId=7", problem.Internal},
		{"/best/1", problem.NotFound},
		{"/best/1?authorId=1", problem.NotFound},
	}
	for _, tt := range tests {
		t.Run(tt.target, func(t *testing.T) {
			t.Parallel()
			res := send(t, h, "GET "+tt.target)
			wantProblem(t, res, tt.kind, "Content-Location:")
			if strings.Contains(res.body, "secret") {
				t.Errorf("it tells: %s", res.body)
			}
		})
	}
}

func TestLookupMethods(t *testing.T) {
	t.Parallel()
	h := bestBooks(t)
	for _, method := range []string{"POST", "PUT", "PATCH", "DELETE"} {
		wantProblem(t, send(t, h, method+" /best?authorId=1"), problem.MethodNotAllowed, "Allow: GET, HEAD, QUERY, OPTIONS")
	}
	want(t, send(t, h, "OPTIONS /best"), http.StatusNoContent, "Allow: GET, HEAD, QUERY, OPTIONS", "Accept-Post:", "Accept-Patch:")
	wantProblem(t, send(t, h, "GET /best?authorId=1", "Accept: text/html"), problem.NotAcceptable)
}

// TestLookupInContracts: the result is the view of the target in the catalog of the lookup.
func TestLookupInContracts(t *testing.T) {
	t.Parallel()
	books := resource.New("books", stocked(t, shelved()), nil)
	older := resource.View(books, toV1, fromV1, &resource.ViewOptions{Fields: map[string]string{"name": "title"}})
	first := resource.NewLookup("first", "books", func(context.Context, struct{}) (string, error) { return "1", nil })
	wantBody(t, send(t, catalog(t, older, first), "GET /first"), http.StatusOK, `{"id":1,"name":"Emma","stars":4}`)
	same(t, "name", "first", first.Name())
	same(t, "target", "books", first.Target())
	same(t, "fields of the input", 0, len(first.Input().Fields))
}

package rest_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/problem"
)

// The contracts of the library: now a book has a name and an author; before, it had no author; at
// first it was a label.

type bookV1 struct {
	ID    int64  `json:"id" readOnly:"true"`
	Name  string `json:"name" required:"true"`
	Stars int64  `json:"stars"`
	Key   string `json:"key,omitempty" writeOnly:"true"`
}

type bookV0 struct {
	Number int64  `json:"number" readOnly:"true"`
	Label  string `json:"label" required:"true"`
}

func toV1(b book) (bookV1, error) { return bookV1{ID: b.ID, Name: b.Title, Stars: b.Stars}, nil }

func fromV1(v bookV1, base book) (book, error) {
	base.Title, base.Stars = v.Name, v.Stars
	if v.Key != "" {
		base.Password = v.Key
	}
	return base, nil
}

func toV0(v bookV1) (bookV0, error) { return bookV0{Number: v.ID, Label: v.Name}, nil }

func fromV0(v bookV0, base bookV1) (bookV1, error) {
	base.Name = v.Label
	return base, nil
}

// contractOptions are options for the contracts.
type contractOptions struct {
	hub    resource.Options[book]
	v1, v0 resource.ViewOptions
}

// contractsOf serves books in three contracts, the oldest first.
func contractsOf(t testing.TB, store *memory.Store[book], opts ...func(*contractOptions)) [3]http.Handler {
	t.Helper()
	c := contractOptions{hub: resource.Options[book]{Query: bookSupport()}}
	c.v1.Fields = map[string]string{"name": "title"}
	c.v0.Fields = map[string]string{"number": "id", "label": "name"}
	for _, opt := range opts {
		opt(&c)
	}
	hub := resource.New("books", store, &c.hub)
	older := resource.View(hub, toV1, fromV1, &c.v1)
	oldest := resource.View(older, toV0, fromV0, &c.v0)
	return [3]http.Handler{catalog(t, oldest), catalog(t, older), catalog(t, hub)}
}

func shelved() book {
	note := "signed"
	return book{Title: "Emma", Author: 7, Owner: "ann", Stars: 4, Note: &note, Sequels: []int64{2}, Password: "hush",
		Shelf: "B3"}
}

func TestViewShowsAndQueries(t *testing.T) {
	t.Parallel()
	store := stocked(t, shelved(), book{Title: "Dune", Stars: 5})
	h := contractsOf(t, store)
	tests := []struct {
		contract     int
		target, body string
	}{
		{2, "/books/2", `{"id":2,"title":"Dune","authorId":0,"owner":"","stars":5,"note":null}`},
		{1, "/books/2", `{"id":2,"name":"Dune","stars":5}`},
		{0, "/books/2", `{"number":2,"label":"Dune"}`},
		{0, "/books?label=Dune", `{"items":[{"number":2,"label":"Dune"}]}`},
		{0, "/books?label.startsWith=E", `{"items":[{"number":1,"label":"Emma"}]}`},
		{0, "/books?sort=label", `{"items":[{"number":2,"label":"Dune"},{"number":1,"label":"Emma"}]}`},
		{0, "/books?sort=-number&fields=number", `{"items":[{"number":2},{"number":1}]}`},
		{1, "/books?name=Emma&fields=stars", `{"items":[{"stars":4}]}`},
		{1, `/books?filter={"or":[{"name":{"eq":"Dune"}},{"stars":{"lt":1}}]}&fields=name`, `{"items":[{"name":"Dune"}]}`},
	}
	for _, tt := range tests {
		t.Run(tt.target, func(t *testing.T) {
			t.Parallel()
			wantBody(t, send(t, h[tt.contract], "GET "+strings.ReplaceAll(tt.target, `"`, "%22")), http.StatusOK, tt.body)
		})
	}
}

func TestViewRefusesWhatItDoesNotShow(t *testing.T) {
	t.Parallel()
	h := contractsOf(t, stocked(t, shelved()))
	tests := []struct {
		contract          int
		target, parameter string
	}{
		{1, "/books?title=Emma", "?title unknownParameter"},
		{1, "/books?sort=title", "?sort unsupportedSort"},
		{1, "/books?owner=ann", "?owner unknownParameter"},
		{1, "/books?sort=owner", "?sort unsupportedSort"},
		{1, "/books?fields=title", "?fields unknownField"},
		{0, "/books?name=Emma", "?name unknownParameter"},
		{0, "/books?stars=4", "?stars unknownParameter"},
		{0, "/books?sort=stars", "?sort unsupportedSort"},
		{0, "/books?id=1", "?id unknownParameter"},
		{0, "/books/1?fields=id", "?fields unknownField"},
	}
	for _, tt := range tests {
		t.Run(tt.target, func(t *testing.T) {
			t.Parallel()
			d := wantProblem(t, send(t, h[tt.contract], "GET "+tt.target), problem.InvalidParameter)
			wantErrors(t, d, tt.parameter)
		})
	}
}

func TestViewWritesKeepWhatItDoesNotShow(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, line string
		contract   int
		rest       []string
		change     func(*book)
	}{
		{"put", "PUT /books/1", 1, []string{jsonBody, "", `{"name":"Emma 2"}`},
			func(b *book) { b.Title, b.Stars = "Emma 2", 0 }},
		{"put, one further", "PUT /books/1", 0, []string{jsonBody, "", `{"label":"Emma 2"}`},
			func(b *book) { b.Title = "Emma 2" }},
		{"merge", "PATCH /books/1", 1, []string{mergeBody, "", `{"stars":1}`}, func(b *book) { b.Stars = 1 }},
		{"merge, one further", "PATCH /books/1", 0, []string{mergeBody, "", `{"label":"E"}`},
			func(b *book) { b.Title = "E" }},
		{"patch", "PATCH /books/1", 0, []string{patchBody, "", `[{"op":"replace","path":"/label","value":"E"}]`},
			func(b *book) { b.Title = "E" }},
		{"write only", "PATCH /books/1", 1, []string{mergeBody, "", `{"key":"open sesame"}`},
			func(b *book) { b.Password = "open sesame" }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			store := stocked(t, shelved())
			h := contractsOf(t, store)
			want(t, send(t, h[tt.contract], tt.line, tt.rest...), http.StatusOK)
			expected := shelved()
			expected.ID = 1
			tt.change(&expected)
			same(t, "in the store", expected, stored(t, store, "1"))
		})
	}
}

func TestViewCreates(t *testing.T) {
	t.Parallel()
	store := stocked[book](t)
	h := contractsOf(t, store)
	res := send(t, h[0], "POST /books", jsonBody, "", `{"label":"Ulysses"}`)
	wantBody(t, res, http.StatusCreated, `{"number":1,"label":"Ulysses"}`)
	want(t, res, http.StatusCreated, "Location: /books/1")
	same(t, "in the store", book{ID: 1, Title: "Ulysses"}, stored(t, store, "1"))
}

func TestViewResetHidden(t *testing.T) {
	t.Parallel()
	store := stocked(t, shelved())
	h := contractsOf(t, store, func(c *contractOptions) { c.v1.ResetHidden = true })
	want(t, send(t, h[1], "PATCH /books/1", mergeBody, "", `{"stars":2}`), http.StatusOK)
	same(t, "after PATCH, which resets nothing", "ann", stored(t, store, "1").Owner)
	want(t, send(t, h[1], "PUT /books/1", jsonBody, "", `{"name":"Emma"}`), http.StatusOK)
	same(t, "after PUT", book{ID: 1, Title: "Emma", Password: "hush", Shelf: "B3"}, stored(t, store, "1"))
}

func TestViewTags(t *testing.T) {
	t.Parallel()
	store := stocked(t, shelved())
	h := contractsOf(t, store)
	var tags []string
	for _, contract := range h {
		res := send(t, contract, "GET /books/1")
		tags = append(tags, res.header.Get("Etag"))
	}
	for i, a := range tags {
		for j, b := range tags {
			if i != j && a == b {
				t.Errorf("contracts %d and %d share the tag %s", i, j, a)
			}
			status := http.StatusOK
			if i == j {
				status = http.StatusNotModified
			}
			want(t, send(t, h[i], "GET /books/1", "If-None-Match: "+b), status)
		}
	}
	// For a write, the tag of an older contract is valid in a newer one. The older one hides fields.
	wantProblem(t, send(t, h[0], "PATCH /books/1", mergeBody, "If-Match: "+tags[2], "", `{"label":"A"}`),
		problem.PreconditionFailed)
	want(t, send(t, h[2], "PATCH /books/1", mergeBody, "If-Match: "+tags[0], "", `{"title":"B"}`), http.StatusOK)
	wantProblem(t, send(t, h[2], "PATCH /books/1", mergeBody, "If-Match: "+tags[0], "", `{"title":"C"}`),
		problem.PreconditionFailed)
}

// TestViewTagsOfLikeTypes: two contracts with one Go type have different tags.
func TestViewTagsOfLikeTypes(t *testing.T) {
	t.Parallel()
	hub := resource.New("books", stocked(t, shelved()), nil)
	upper := resource.View(hub, func(b book) (book, error) { b.Title = strings.ToUpper(b.Title); return b, nil },
		func(v, _ book) (book, error) { return v, nil }, &resource.ViewOptions{Name: "upper"})
	a, b := send(t, catalog(t, hub), "GET /books/1"), send(t, catalog(t, upper), "GET /books/1")
	if tag := a.header.Get("Etag"); tag == b.header.Get("Etag") {
		t.Errorf("both contracts say %s", tag)
	}
}

func TestViewErrorsAreInItsNames(t *testing.T) {
	t.Parallel()
	before := func(_ context.Context, _ resource.Op, _, after *book) error {
		switch after.Title {
		case "taken":
			return resource.Taken("title")
		case "odd":
			return errors.Join(resource.Invalid("title", "odd"), resource.Invalid("owner", "unknownOwner"))
		}
		return nil
	}
	long := strings.Repeat("x", 41) // the older contracts do not have the limit of 40 letters for a title
	tests := []struct {
		title    string
		contract int
		kind     problem.Kind
		places   []string
	}{
		{"taken", 2, problem.Conflict, []string{"/title taken"}},
		{"taken", 1, problem.Conflict, []string{"/name taken"}},
		{"taken", 0, problem.Conflict, []string{"/label taken"}},
		{"odd", 2, problem.Invalid, []string{"/title odd", "/owner unknownOwner"}},
		{"odd", 0, problem.Invalid, []string{"/label odd", " unknownOwner"}},
		{long, 2, problem.Invalid, []string{"/title maxLength"}},
		{long, 1, problem.Invalid, []string{"/name maxLength"}},
		{long, 0, problem.Invalid, []string{"/label maxLength"}},
	}
	fields := []string{"label", "name", "title"}
	for _, tt := range tests {
		for _, line := range []string{"POST /books", "PUT /books/1", "PATCH /books/1"} {
			t.Run(line+" "+tt.title+" "+fields[tt.contract], func(t *testing.T) {
				t.Parallel()
				h := contractsOf(t, stocked(t, shelved()), func(c *contractOptions) { c.hub.Before = before })
				field := jsonBody
				if strings.HasPrefix(line, "PATCH") {
					field = mergeBody
				}
				res := send(t, h[tt.contract], line, field, "", `{"`+fields[tt.contract]+`":"`+tt.title+`"}`)
				wantErrors(t, wantProblem(t, res, tt.kind), tt.places...)
			})
		}
	}
}

func TestViewWhere(t *testing.T) {
	t.Parallel()
	store := stocked(t, book{Title: "a", Stars: 1}, book{Title: "b", Stars: -1}, book{Title: "c", Stars: 3},
		book{Title: "d", Stars: 5})
	h := contractsOf(t, store, func(c *contractOptions) {
		c.v1.Where = query.Where("stars", query.Gte, 0)
		c.v0.Where = query.Where("stars", query.Lt, 5)
	})
	for contract, list := range []struct{ field, body string }{
		{"label", `{"items":[{"label":"a"},{"label":"c"}],"total":2}`},
		{"name", `{"items":[{"name":"a"},{"name":"c"},{"name":"d"}],"total":3}`},
		{"title", `{"items":[{"title":"a"},{"title":"b"},{"title":"c"},{"title":"d"}],"total":4}`},
	} {
		res := send(t, h[contract], "GET /books?fields="+list.field, "Prefer: count=exact")
		wantBody(t, res, http.StatusOK, list.body)
	}
	for _, line := range []string{"GET /books/2", "HEAD /books/2", "DELETE /books/2"} {
		wantProblem(t, send(t, h[1], line), problem.NotFound)
	}
	wantProblem(t, send(t, h[1], "PUT /books/2", jsonBody, "", `{"name":"x"}`), problem.NotFound)
	wantProblem(t, send(t, h[1], "PATCH /books/2", mergeBody, "", `{"name":"x"}`), problem.NotFound)
	wantProblem(t, send(t, h[0], "GET /books/4"), problem.NotFound)
	// nor what the contract between cannot express
	wantProblem(t, send(t, h[0], "GET /books/2"), problem.NotFound)
	want(t, send(t, h[1], "GET /books/4"), http.StatusOK)
	wantBody(t, send(t, h[0], "GET /books?fields=label", "Accept: application/x-ndjson"), http.StatusOK,
		"{\"label\":\"a\"}\n{\"label\":\"c\"}\n")
	same(t, "book 2", "b", stored(t, store, "2").Title)
	same(t, "pages", [][]bookV0{{{Number: 1, Label: "a"}}, {{Number: 3, Label: "c"}}},
		walk[bookV0](t, h[0], "/books?limit=1", "next"))
}

// TestViewWhereHoldsForWrites: a view cannot create an item that it would not show.
func TestViewWhereHoldsForWrites(t *testing.T) {
	t.Parallel()
	store := stocked(t, book{Title: "a", Stars: 1})
	h := contractsOf(t, store, func(c *contractOptions) { c.v1.Where = query.Where("stars", query.Gte, 0) })
	wantProblem(t, send(t, h[1], "PATCH /books/1", mergeBody, "", `{"stars":-1}`), problem.Invalid)
	wantProblem(t, send(t, h[1], "PUT /books/1", jsonBody, "", `{"name":"a","stars":-1}`), problem.Invalid)
	wantProblem(t, send(t, h[1], "POST /books", jsonBody, "", `{"name":"b","stars":-1}`), problem.Invalid)
	want(t, send(t, h[2], "PATCH /books/1", mergeBody, "", `{"stars":-1}`), http.StatusOK)
	wantProblem(t, send(t, h[1], "GET /books/1"), problem.NotFound)
	wantBody(t, send(t, h[1], "GET /books"), http.StatusOK, `{"items":[]}`)
}

// TestViewThatCannotShow: Where excludes items that a view cannot represent. If such an item is
// listed anyway, the response is an internal error, neither 404 nor a gap, and clients do not see
// its cause.
func TestViewThatCannotShow(t *testing.T) {
	t.Parallel()
	hub := resource.New("books", stocked(t, shelved()), nil)
	view := resource.View(hub, func(book) (bookV1, error) { return bookV1{}, errors.New("secret reason") }, fromV1,
		&resource.ViewOptions{Fields: map[string]string{"name": "title"}})
	h := catalog(t, view)
	for _, line := range []string{"GET /books/1", "GET /books", "DELETE /books/1"} {
		res := send(t, h, line)
		wantProblem(t, res, problem.Internal)
		if strings.Contains(res.body, "secret") {
			t.Errorf("%s tells: %s", line, res.body)
		}
	}
}

func TestViewDescribesItself(t *testing.T) {
	t.Parallel()
	o := &resource.Options[book]{Query: bookSupport()}
	hub := resource.New("books", stocked[book](t), o)
	older := resource.View(hub, toV1, fromV1, &resource.ViewOptions{Fields: map[string]string{"name": "title"}})
	oldest := resource.View(older, toV0, fromV0,
		&resource.ViewOptions{Fields: map[string]string{"number": "id", "label": "name"}})
	same(t, "name", "books", oldest.Name())
	same(t, "type", "bookV0", oldest.Type().Name)
	same(t, "id", "number", oldest.Describe().ID)
	same(t, "query of V1", query.Support{Filter: map[string][]query.Op{"name": {query.Eq, query.StartsWith},
		"stars": {query.Eq, query.Gte, query.Lt}}, Sort: []string{"name", "stars"}}, older.Describe().Query)
	same(t, "query of V0", query.Support{Filter: map[string][]query.Op{"label": {query.Eq, query.StartsWith}},
		Sort: []string{"label"}}, oldest.Describe().Query)
}
